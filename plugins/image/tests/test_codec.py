from __future__ import annotations

import hashlib
import struct
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, DTypeError, FormatError, ParamError, ShapeError

codec = od.image.codec


def digest(pixels: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(pixels).tobytes()).hexdigest()[:16]


def test_pixels_are_those_of_mxnet(photographs: dict[str, bytes]) -> None:
    # sha256 of what MXNet 1.9.1's imdecode gives, in colours and in gray.
    found = od.image.imdecode(photographs["china.jpg"])
    assert (found.shape, found.dtype, digest(found.asnumpy())) == (
        (427, 640, 3),
        np.uint8,
        "e701459344fd6979",
    )
    gray = od.image.imdecode(photographs["china.jpg"], flag=0)
    assert (gray.shape, digest(gray.asnumpy())) == ((427, 640, 1), "0293dfc3ea97a1e3")


def test_channels_come_in_either_order_and_into_an_array_that_is_given(photographs: dict[str, bytes]) -> None:
    content = photographs["flower.jpg"]
    rgb = od.image.imdecode(content).asnumpy()
    np.testing.assert_array_equal(od.image.imdecode(content, to_rgb=False).asnumpy(), rgb[:, :, ::-1])
    out = od.nd.zeros((427, 640, 3), dtype="uint8")
    assert od.image.imdecode(bytearray(content), out=out) is out
    np.testing.assert_array_equal(out.asnumpy(), rgb)


def test_a_file_is_read_and_an_array_of_bytes_decoded(photographs: dict[str, bytes], tmp_path: Any) -> None:
    content = photographs["flower.jpg"]
    (tmp_path / "a.jpg").write_bytes(content)
    expected = od.image.imdecode(content).asnumpy()
    np.testing.assert_array_equal(od.image.imread(tmp_path / "a.jpg").asnumpy(), expected)
    for given in (np.frombuffer(content, np.uint8), od.nd.array(list(content), dtype="uint8")):
        np.testing.assert_array_equal(od.image.imdecode(given).asnumpy(), expected)


@pytest.mark.parametrize("cut", [0, 1, 3, 20, 1000, 30_000])
def test_an_image_that_is_cut_is_an_error(photographs: dict[str, bytes], cut: int) -> None:
    with pytest.raises(FormatError, match="the image"):
        od.image.imdecode(photographs["china.jpg"][:cut])


def test_what_is_no_image_is_an_error() -> None:
    with pytest.raises(FormatError, match="begins with b'hell'"):
        od.image.imdecode(b"hello, world")
    with pytest.raises(ArgumentError, match="buf is str"):
        od.image.imdecode("tulip.jpg")
    with pytest.raises(ParamError, match="flag is 2"):
        od.image.imdecode(b"", flag=2)


def test_a_png_comes_back_as_it_was_with_and_without_transparency(part_of: Any) -> None:
    pixels = part_of(3)
    np.testing.assert_array_equal(codec.decode(codec.encode(pixels, ".png")), pixels)
    np.testing.assert_array_equal(
        codec.decode(codec.encode(pixels, ".png", is_bgr=True), is_bgr=True), pixels
    )
    clear = np.dstack([pixels, pixels[:, :, 0]])
    np.testing.assert_array_equal(codec.decode(codec.encode(clear, ".png"), None), clear)
    gray = pixels[:, :, :1]
    np.testing.assert_array_equal(codec.decode(codec.encode(gray[:, :, 0], ".png"), None), gray)


def test_a_jpeg_comes_back_nearly_as_it_was(part_of: Any) -> None:
    pixels = part_of(1, 200, 200)
    again = codec.decode(codec.encode(pixels, ".jpg", 100))
    assert np.abs(again.astype(int) - pixels).mean() < 2


@pytest.mark.parametrize(
    ("pixels", "options", "error"),
    [
        (np.zeros((2, 2, 3)), {}, DTypeError),
        (np.zeros((2, 2, 2), np.uint8), {}, ShapeError),
        (np.zeros((0, 2, 3), np.uint8), {}, ShapeError),
        (np.zeros((2, 2, 3), np.uint8), {"quality": 101}, ParamError),
        (np.zeros((2, 2, 4), np.uint8), {}, ParamError),
        (np.zeros((2, 2, 3), np.uint8), {"suffix": ".tulip"}, ParamError),
    ],
)
def test_what_cannot_be_encoded_is_refused(pixels: Any, options: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="encode"):
        codec.encode(pixels, **options)


def with_orientation(content: bytes, orientation: int, order: str = "<") -> bytes:
    mark = {"<": b"II*\0", ">": b"MM\0*"}[order]
    exif = mark + struct.pack(order + "IHHHIHH", 8, 1, 0x112, 3, 1, orientation, 0)
    segment = b"Exif\0\0" + exif
    return content[:2] + b"\xff\xe1" + struct.pack(">H", len(segment) + 2) + segment + content[2:]


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_photograph_stands_as_its_camera_was_held(part_of: Any, orientation: int) -> None:
    cv2 = pytest.importorskip("cv2", reason="resizing and turning need operad-image[opencv]")
    content = with_orientation(codec.encode(part_of(2)), orientation)
    expected = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
    np.testing.assert_array_equal(codec.decode(content, is_bgr=True), expected)
    if orientation != 1:
        with codec.decoded(content, is_upright=False) as pixels:
            assert not np.array_equal(pixels, codec.decode(content))


def test_junk_before_the_picture_is_passed_over_and_in_it_is_an_error(part_of: Any) -> None:
    pytest.importorskip("cv2", reason="resizing and turning need operad-image[opencv]")
    content = codec.encode(part_of(2))
    junk = content[:2] + b"\xff\xfe\0\5abcJUNK" + content[2:]
    np.testing.assert_array_equal(codec.decode(junk), codec.decode(content))
    middle = len(content) - 300
    in_the_picture = content[:middle] + bytes(30) + content[middle + 30 :]
    for damaged in (in_the_picture, content[:2] + b"JUNK" + content[2:-2]):
        with pytest.raises(FormatError, match="damaged JPEG"):
            codec.decode(damaged)


def test_an_image_that_claims_to_be_huge_is_refused(part_of: Any) -> None:
    content = bytearray(codec.encode(part_of(2)))
    at = content.index(b"\xff\xc0") + 5
    content[at : at + 4] = struct.pack(">HH", 60_000, 50_000)
    with pytest.raises(FormatError, match="50000x60000 pixels, expected 268435456 at most"):
        codec.decode(bytes(content))


def test_damaged_notes_of_a_camera_are_passed_over(part_of: Any) -> None:
    plain = codec.encode(part_of(2))
    noted = with_orientation(plain, 6, ">")
    for at in range(12, 34):
        changed = noted[:at] + b"\xff" + noted[at + 1 :]
        assert codec.decode(changed).size == codec.decode(plain).size


def test_without_opencv_jpegs_are_decoded_and_the_rest_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['cv2'] = None\n"
        "import numpy as np, operad as od\n"
        "jpeg = od.image.codec.encode(np.zeros((8, 8, 3), np.uint8))\n"
        "image = od.image.imdecode(jpeg)\n"
        "print(image.shape, od.image.fixed_crop(image, 1, 2, 3, 4).shape)\n"
        "try:\n    od.image.imresize(image, 4, 4)\n"
        "except od.errors.PluginError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "(8, 8, 3) (4, 3, 3)",
        "resizing an image needs OpenCV: pip install 'operad-image[opencv]'",
    ]


def test_packed_images_are_in_opencvs_order(part_of: Any) -> None:
    header = od.recordio.IRHeader(0, 3, 7, 0)
    pixels = part_of(1)
    record = od.recordio.pack_img(header, pixels, quality=9, img_fmt=".png")
    found, image = od.recordio.unpack_img(record)
    assert found == header
    np.testing.assert_array_equal(image, pixels)
    np.testing.assert_array_equal(codec.decode(od.recordio.unpack(record)[1]), pixels[:, :, ::-1])
    assert od.recordio.unpack_img(od.recordio.pack_img(header, pixels), iscolor=0)[1].shape[2:] in ((), (1,))


@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "float64", "uint16", "float32"])
def test_a_tiff_of_any_type_comes_back_with_its_channels_in_order(dtype: str, channels: int) -> None:
    cv2 = pytest.importorskip("cv2")
    pixels = (np.arange(4 * 5 * channels).reshape(4, 5, channels) % 100).astype(dtype)
    done, content = cv2.imencode(".tiff", pixels)
    assert done
    found = codec.decode(bytes(content), None)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, pixels[:, :, [2, 1, 0, 3][:channels]])

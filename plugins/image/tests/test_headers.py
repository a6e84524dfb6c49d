"""Sizes of images are read before a decoder runs, and bound what it may ask for."""

from __future__ import annotations

import contextlib
import struct
import subprocess
import sys
import threading
import zlib
from typing import Any

import numpy as np
import pytest
import simplejpeg

import operad
from operad import config
from operad.errors import FormatError, LimitError
from operad_image import codec
from operad_image.headers import header_of
from plugins.image.tests.handmade import cmyk

cv2 = pytest.importorskip("cv2")


def encoded(
    suffix: str, height: int = 30, width: int = 50, options: Any = (), dtype: Any = np.uint8
) -> bytes:
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 255, (height, width, 3)).astype(dtype)
    if suffix in (".pbm", ".pgm"):
        pixels = pixels[:, :, :1]
    done, content = cv2.imencode(suffix, pixels, list(options))
    assert done
    return bytes(content)


def png(height: int, width: int, rows: int = 1) -> bytes:
    """A PNG of gray pixels that announces a size and has some of its rows."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    # A full flush forgets all rows before: the bytes of the second row are those of each that follows.
    packer = zlib.compressobj(9)
    first, again = (packer.compress(bytes(1 + width)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    checksum = struct.pack(">I", rows * (1 + width) % 65521 << 16 | 1)  # Adler's, of zeros
    packed = first + again * (rows - 1) + zlib.compressobj(9).flush()[2:-4] + checksum
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def jpeg(height: int, width: int) -> bytes:
    content = bytearray(simplejpeg.encode_jpeg(np.zeros((16, 16, 3), np.uint8)))
    at = content.index(b"\xff\xc0")
    content[at + 5 : at + 9] = struct.pack(">HH", height, width)
    return bytes(content)


def progressive(height: int, width: int, scans: int) -> bytes:
    """A progressive JPEG that goes over its pixels again and again."""
    content = encoded(".jpg", height, width, (cv2.IMWRITE_JPEG_PROGRESSIVE, 1))
    at = content.rindex(b"\xff\xda")
    return content[:at] + content[at:-2] * scans + b"\xff\xd9"


SUFFIXES = (".jpg", ".png", ".webp", ".bmp", ".tiff", ".gif", ".ppm", ".pgm", ".pbm")


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("size", [(30, 50), (1, 1), (70, 3)])
def test_the_size_of_each_format_is_read_from_its_header(suffix: str, size: tuple[int, int]) -> None:
    content = encoded(suffix, *size)
    found = header_of(content)
    assert (found.height, found.width) == size
    assert found.least_bytes <= len(content)
    assert codec.decode(content).shape == (*size, 3)


@pytest.mark.parametrize(
    ("suffix", "options"),
    [
        (".jpg", (cv2.IMWRITE_JPEG_PROGRESSIVE, 1)),
        (".jpg", (cv2.IMWRITE_JPEG_QUALITY, 1)),
        (".png", (cv2.IMWRITE_PNG_COMPRESSION, 9)),
        (".webp", (cv2.IMWRITE_WEBP_QUALITY, 101)),
    ],
)
def test_variants_of_a_format_are_read(suffix: str, options: Any) -> None:
    assert header_of(encoded(suffix, options=options))[1:3] == (30, 50)


@pytest.mark.parametrize("suffix", [".png", ".tiff"])
def test_wide_samples_count_for_their_bytes(suffix: str) -> None:
    assert header_of(encoded(suffix, dtype=np.uint16)).sample_bytes == 2


@pytest.mark.parametrize("quality", [1, 50, 100])
@pytest.mark.parametrize("suffix", [".jpg", ".png", ".ppm", ".bmp"])
def test_no_real_image_is_shorter_than_the_least(suffix: str, quality: int) -> None:
    """A picture of one colour packs best."""
    pixels = np.zeros((999, 1001, 3), np.uint8)
    options = {".jpg": [cv2.IMWRITE_JPEG_QUALITY, quality], ".png": [cv2.IMWRITE_PNG_COMPRESSION, 9]}
    content = bytes(cv2.imencode(suffix, pixels, options.get(suffix, []))[1])
    assert header_of(content).least_bytes <= len(content)
    assert codec.decode(content).max() <= 1


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_header_that_is_cut_short_is_a_format_error(suffix: str) -> None:
    content = encoded(suffix)
    for length in range(30):
        with pytest.raises(FormatError, match="the image"):
            codec.decode(content[:length])


@pytest.mark.parametrize(
    "mark", [b"\x00\x00\x00\x0cjP  \r\n\x87\n", b"#?RADIANCE\n", b"\x59\xa6\x6a\x95", b"PF\n3 3\n-1\n"]
)
def test_a_format_whose_size_is_not_read_is_not_decoded(mark: bytes) -> None:
    with pytest.raises(FormatError, match="nothing that operad decodes, expected a JPEG, PNG"):
        codec.decode(mark + bytes(100))


BOMBS = {
    "cmyk": (cmyk(30000, 30000), "30000x30000 pixels, expected 268435456 at most; OPERAD_MAX_IMAGE_PIXELS"),
    "cmyk within the limit": (cmyk(16000, 16000), "16000x16000 pixels, expected 500000 bytes"),
    "jpeg": (jpeg(16384, 16384), "16384x16384 pixels, expected 524288 bytes or more, got"),
    "huge jpeg": (jpeg(65000, 65000), "OPERAD_MAX_IMAGE_PIXELS"),
    "png": (png(20000, 20000, rows=20000), "20000x20000 pixels, expected 268435456"),
    "long chunk": (png(9, 9)[:33] + b"\x28\x6f\x01\x58" + png(9, 9)[37:], "b'IDAT' of 678363480 bytes"),
    "no picture": (png(9, 9).replace(b"IDAT", b"IDAk") + b"IEND" * 9, "no IDAT"),
    "cut png": (png(16000, 16000), "expected 248062 bytes or more"),
    "bmp": (
        b"BM" + bytes(12) + struct.pack("<IiiHHI", 40, 16000, 16000, 1, 24, 0) + bytes(100),
        "768000000 bytes",
    ),
    "gif": (b"GIF89a" + struct.pack("<HH", 65535, 65535) + bytes(100), "65535x65535 pixels"),
    "ppm": (b"P6 16000 16000 255\n", "expected 32000000 bytes"),
    "webp": (
        b"RIFF\0\0\0\0WEBPVP8X\n\0\0\0" + bytes(4) + b"\xff" * 6 + bytes(50),
        "16777216x16777216 pixels",
    ),
    "tiff": (
        b"II*\0\x08\0\0\0\x02\0" + struct.pack("<HHIIHHII", 256, 4, 1, 1 << 30, 257, 4, 1, 1 << 30),
        "1073741824x1073741824 pixels",
    ),
    "scans": (progressive(32, 32, 200), "expected at most 100 scans"),
}  # fmt: skip

_MEASURED = """
import resource, sys
from operad_image import codec
from operad_image.opencv import opencv
from operad.errors import FormatError
opencv("this")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for path in sys.argv[1:]:
    try:
        codec.decode(open(path, "rb").read())
    except FormatError as error:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, error)
"""


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_by_its_header(name: str) -> None:
    content, message = BOMBS[name]
    with pytest.raises(FormatError, match=message):
        codec.decode(content)


def test_bombs_take_no_memory(tmp_path: Any) -> None:
    """In one process, whose largest size shows the first that takes some."""
    names = ["cmyk", "jpeg", "png", "long chunk", "no picture"]
    for name in names:
        (tmp_path / name).write_bytes(BOMBS[name][0])
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, *names], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    for name, line in zip(names, done.stdout.splitlines(), strict=True):
        kilobytes, _, message = line.partition(" ")
        assert int(kilobytes) < 20_000, name
        assert BOMBS[name][1] in message


def test_threads_share_what_decoders_may_need(monkeypatch: pytest.MonkeyPatch) -> None:
    """16 threads decode images of which the limit allows two at a time."""
    monkeypatch.setenv("OPERAD_MAX_EXPANDED_BYTES", str(2 * 1000 * 1000 * 3))
    config.reload()
    content = simplejpeg.encode_jpeg(np.zeros((1000, 1000, 3), np.uint8))
    active, most, lock = [0], [0], threading.Lock()

    def work() -> None:
        with codec.decoded(content) as image:
            with lock:
                active[0] += 1
                most[0] = max(most[0], active[0])
            assert image.shape == (1000, 1000, 3)
            with lock:
                active[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(16)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert most[0] <= 2
        with pytest.raises(LimitError, match="OPERAD_MAX_EXPANDED_BYTES"):
            codec.decode(simplejpeg.encode_jpeg(np.zeros((2000, 2000, 3), np.uint8)))
    finally:
        monkeypatch.undo()
        config.reload()


def test_a_thread_keeps_no_room_for_the_largest_images() -> None:
    from operad_image.batches import Workspace

    workspace = Workspace(0)
    workspace.hold(3 << 20)
    assert len(workspace.pixels) == 3 << 20
    workspace.hold(1 << 40)
    assert len(workspace.pixels) == 3 << 20


def test_the_image_iterator_names_the_file_of_a_bomb(tmp_path: Any) -> None:
    (tmp_path / "bomb.png").write_bytes(BOMBS["png"][0])
    images = operad.image.ImageIter(1, (3, 8, 8), imglist=[[0, "bomb.png"]], path_root=str(tmp_path))
    with pytest.raises(LimitError, match=r"bomb\.png.*20000x20000"):
        images.next()
    with pytest.raises(LimitError, match=r"bomb\.png.*20000x20000"):
        operad.image.imread(str(tmp_path / "bomb.png"))


@pytest.mark.parametrize("factors", [0x14, 0x41, 0x12, 0x24, 0x33])
def test_a_jpeg_whose_colours_are_sampled_in_another_way_is_read_or_refused(factors):
    content = bytearray(simplejpeg.encode_jpeg(np.zeros((64, 64, 3), np.uint8)))
    content[content.index(b"\xff\xc0") + 11] = factors  # of the first component: across, and down
    with contextlib.suppress(FormatError):
        assert codec.decode(bytes(content)).shape == (64, 64, 3)

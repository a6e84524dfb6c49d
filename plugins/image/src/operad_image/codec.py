"""Images to bytes and back.

JPEGs go through simplejpeg: of the libraries tried it gives most images per CPU-second (203 us for 341x256
pixels at quality 90, into memory that is given; OpenCV 229 us, Pillow 430 us; equal pixels), holds no
interpreter lock, and refuses truncated files, which OpenCV fills up with gray. Everything else goes through
OpenCV.

No decoder is asked before the size is known (`headers`) and found within `OPERAD_MAX_IMAGE_PIXELS`. What it
needs then counts against `OPERAD_MAX_EXPANDED_BYTES`, which all threads share.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import simplejpeg

from operad.errors import DTypeError, FormatError, LimitError, OutOfMemoryError, ParamError, ShapeError
from operad_files import expanding
from operad_image.headers import PIXELS_IN_A_BYTE, Header, header_of
from operad_image.opencv import opencv
from operad_image.settings import MAX_PIXELS

Image = np.ndarray[Any, Any]
"""uint8 or another type, (height, width, channels)."""

_ORIENTATION: Final = 0x112
_JPEG: Final = (".jpg", ".jpeg")
_BEGIN: Final = b"\xff\xd8"
_END: Final = b"\xff\xd9"
_SCAN: Final = re.compile(rb"\xff\xda")  # a fifth of what `bytes.count` takes
_MOST_SCANS: Final = 100
"""Most scans of a JPEG. Each goes over all pixels, and an empty one has ten bytes; encoders make 10 to 64."""
_PIXELS_OF_SCANS: Final = 16
"""Times the most pixels of an image: what all scans together may go over."""
# Between the segments before the picture, which some cameras leave there; before the end, 0xd9, it is damage.
_JUNK: Final = re.compile("extraneous bytes before marker 0x(?!d9)")
_MODES: Final = {1: "GRAY", 3: "RGB"}


def decode(content: Any, channels: int | None = 3, is_bgr: bool = False) -> Image:
    """The pixels of an encoded image.

    Args:
        content: Its bytes.
        channels: 3: colours; 1: gray; None: as the image has them, also 4 with transparency.
        is_bgr: Whether colours are in the order blue, green, red.
    Returns:
        uint8, (height, width, channels).
    Raises:
        LimitError: It has more pixels, or its decoder needs more bytes, than the settings allow.
        FormatError: It is no image, or a damaged one.
        PluginError: It is no JPEG, and OpenCV is not installed.
    """
    with decoded(content, channels, is_bgr) as pixels:
        return pixels


@contextmanager
def decoded(
    content: Any,
    channels: int | None = 3,
    is_bgr: bool = False,
    into: Image | None = None,
    is_upright: bool = True,
) -> Iterator[Image]:
    """The pixels of an encoded image inside `with`, which count until its end; otherwise as `decode`.

    Args:
        into: One axis of uint8 that the pixels may be written to where it is long enough; the result is then
            a view of it.
        is_upright: Whether to turn a photograph as its camera was held, where the file says so.
    """
    size = _size_of_plain_jpeg(content, channels)
    if size is not None:
        turned = _orientation(content) if is_upright else 1
        with expanding(_bytes_of_plain_jpeg(content, size, turned), "the image"):
            pixels = _decode_plain_jpeg(content, size, is_bgr, into)
            if pixels is not None:
                yield pixels if turned == 1 else _upright(pixels, turned)
                return
    content = bytes(content)
    header = header_of(content)
    _check_size(header, len(content))
    # OpenCV keeps the picture twice, and three or four numbers of a pixel, whatever it is asked for.
    needed = 2 * header.height * header.width * 4 * header.sample_bytes + header.extra_bytes
    with expanding(needed, f"the image, a {header.kind} of {header.width}x{header.height} pixels,"):
        yield _decode_others(content, channels, is_bgr, header)


def encode(pixels: Image, suffix: str = ".jpg", quality: int = 95, is_bgr: bool = False) -> bytes:
    """An image as the bytes of a file.

    Args:
        pixels: uint8, (height, width), or (height, width, channels) with 1 or 3 of them; 4 where the format
            has transparency.
        suffix: Says the format: `.jpg`, `.png`, and others where OpenCV is installed.
        quality: Of a JPEG, 1 to 100; the compression of a PNG, 0 to 9, and more is 9.
        is_bgr: Whether colours are in the order blue, green, red.
    Raises:
        DTypeError: The pixels are not uint8.
        ShapeError: They are no image.
        ParamError: The quality is out of range, or nothing writes that format.
    """
    if pixels.dtype != np.uint8:
        raise DTypeError(f"encode: the image is {pixels.dtype}, expected uint8")
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 3, 4) or 0 in pixels.shape:
        raise ShapeError(f"encode: the image has shape {pixels.shape}, expected (height, width, channels)")
    if suffix.lower() not in _JPEG:
        return _encode_others(pixels, suffix, quality, is_bgr)
    if not 1 <= quality <= 100 or pixels.shape[2] == 4:
        raise ParamError(
            f"encode: quality {quality!r} and {pixels.shape[2]} channels, "
            "expected 1 to 100 and 1 or 3 for a JPEG"
        )
    gray = pixels.shape[2] == 1
    return bytes(
        simplejpeg.encode_jpeg(
            np.ascontiguousarray(pixels),
            quality,
            "GRAY" if gray else "BGR" if is_bgr else "RGB",
            "Gray" if gray else "420",
        )
    )


def _size_of_plain_jpeg(content: Any, channels: int | None) -> tuple[int, int, int] | None:
    """Height, width and channels of the result; None for an image that simplejpeg cannot decode."""
    if bytes(content[:2]) != _BEGIN:
        return None
    try:
        height, width, space, _ = simplejpeg.decode_jpeg_header(content)
    except KeyError:  # colours are sampled in a way that it has no name for, such as 4:4:1
        return None
    except ValueError as error:
        if _is_only_junk(error, content):
            return None
        raise _damaged(content, error) from error
    if space in ("CMYK", "YCCK"):
        return None
    if height * width > MAX_PIXELS.read() or height * width > PIXELS_IN_A_BYTE * len(content):
        _check_size(header_of(bytes(content)), len(content))
    return height, width, channels or (1 if space == "Gray" else 3)


def _bytes_of_plain_jpeg(content: Any, size: tuple[int, int, int], turned: int) -> int:
    height, width, channels = size
    scans = len(_SCAN.findall(content))  # in thumbnails, too
    if scans > 1:
        pixels = MAX_PIXELS.read() * _PIXELS_OF_SCANS
        if scans > _MOST_SCANS or scans * height * width > pixels:
            raise LimitError(
                f"the image, a JPEG of {width}x{height} pixels in {scans} scans, takes too long to decode, "
                f"expected at most {_MOST_SCANS} scans, and {pixels:,} pixels in all of them"
            )
        channels += 6  # two bytes for each coefficient
    return height * width * channels * (1 if turned == 1 else 2)


def _decode_plain_jpeg(
    content: Any, size: tuple[int, int, int], is_bgr: bool, into: Image | None
) -> Image | None:
    height, width, channels = size
    buffer = into if into is not None and len(into) >= height * width * channels else None
    mode = "BGR" if is_bgr and channels == 3 else _MODES[channels]
    try:
        pixels: Image = simplejpeg.decode_jpeg(content, mode, buffer=buffer)
    except ValueError as error:
        if _is_only_junk(error, content):
            return None
        raise _damaged(content, error) from error
    return pixels


def _is_only_junk(error: ValueError, content: Any) -> bool:
    return bool(_JUNK.search(str(error))) and bytes(content[-2:]) == _END


def _damaged(content: Any, error: ValueError) -> FormatError:
    return FormatError(f"the image is a damaged JPEG of {len(content)} bytes: {error}")


def _check_size(header: Header, size_bytes: int) -> None:
    height, width, most = header.height, header.width, MAX_PIXELS.read()
    told = f"the image, a {header.kind}, says that it has {width}x{height} pixels"
    if height * width > most:
        raise LimitError(f"{told}, expected {most} at most; OPERAD_MAX_IMAGE_PIXELS allows more")
    if not height * width:
        raise FormatError(f"{told}, expected some")
    if header.least_bytes > size_bytes:
        raise FormatError(f"{told}, expected {header.least_bytes} bytes or more, got {size_bytes}")


def _decode_others(content: bytes, channels: int | None, is_bgr: bool, header: Header) -> Image:
    what = f"the image, a {header.kind}" + (" of no plain RGB," if header.kind == "JPEG" else ",")
    cv2 = opencv(what)
    flag = {1: cv2.IMREAD_GRAYSCALE, 3: cv2.IMREAD_COLOR}.get(channels or 0, cv2.IMREAD_UNCHANGED)
    try:
        pixels = cv2.imdecode(np.frombuffer(content, np.uint8), flag)
    except cv2.error as error:
        if error.code == cv2.Error.StsNoMem:
            raise OutOfMemoryError(f"{what} needs more memory than there is: {error}") from error
        raise FormatError(f"{what} cannot be decoded: {error}") from error
    if pixels is None:
        raise FormatError(f"{what} is damaged: OpenCV cannot decode its {len(content)} bytes")
    if pixels.shape[0] * pixels.shape[1] != header.height * header.width:
        raise FormatError(f"{what} has {pixels.shape[:2]} pixels, expected {header[1:3]} by its header")
    if pixels.ndim == 2:
        return np.asarray(pixels)[:, :, None]
    if is_bgr:
        return np.asarray(pixels)
    if pixels.shape[2] not in (3, 4):
        raise FormatError(f"{what} has {pixels.shape[2]} channels, expected 1, 3 or 4")
    if pixels.dtype not in _CONVERTED:  # as a TIFF of signed bytes has
        return np.ascontiguousarray(pixels[:, :, [2, 1, 0, 3][: pixels.shape[2]]])
    order = cv2.COLOR_BGR2RGB if pixels.shape[2] == 3 else cv2.COLOR_BGRA2RGBA
    return np.asarray(cv2.cvtColor(pixels, order))


_CONVERTED: Final = (np.uint8, np.uint16, np.float32)
"""Types whose channels OpenCV reorders."""


def _encode_others(pixels: Image, suffix: str, quality: int, is_bgr: bool) -> bytes:
    cv2 = opencv(f"writing {suffix!r}")
    if not is_bgr and pixels.shape[2] > 1:
        pixels = cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR if pixels.shape[2] == 3 else cv2.COLOR_RGBA2BGRA)
    options = [cv2.IMWRITE_PNG_COMPRESSION, quality] if suffix.lower() == ".png" else []
    try:
        is_written, content = cv2.imencode(suffix, pixels, options)
    except cv2.error as error:
        raise ParamError(f"encode: OpenCV writes no {suffix!r} of this image: {error}") from error
    if not is_written:
        raise ParamError(f"encode: OpenCV writes no {suffix!r} of this image")
    return bytes(content)


def _orientation(content: Any) -> int:
    """Orientation of the camera: EXIF's number 1 to 8, 1 where the JPEG does not say."""
    at = 2
    while at + 4 <= len(content) and content[at] == 0xFF:
        marker, size = content[at + 1], content[at + 2] << 8 | content[at + 3]
        if marker == 0xE1 and bytes(content[at + 4 : at + 10]) == b"Exif\0\0":
            return _exif_orientation(bytes(content[at + 10 : at + 2 + size]))
        if marker == 0xDA or size < 2:
            break
        at += 2 + size
    return 1


def _exif_orientation(exif: bytes) -> int:
    order = {b"II": "<", b"MM": ">"}.get(exif[:2])
    try:
        if order is None:
            return 1
        (at,) = struct.unpack_from(order + "I", exif, 4)
        (count,) = struct.unpack_from(order + "H", exif, at)
        for number in range(count):
            tag, _, _, value = struct.unpack_from(order + "HHIH", exif, at + 2 + 12 * number)
            if tag == _ORIENTATION:
                return value if 1 <= value <= 8 else 1
    except struct.error:
        return 1  # damaged notes of the camera do not spoil the picture
    return 1


def _upright(pixels: Image, orientation: int) -> Image:
    if orientation in (5, 6, 7, 8):
        pixels = pixels.transpose(1, 0, 2)
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    return np.ascontiguousarray(pixels)

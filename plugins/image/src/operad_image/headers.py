"""Size of an image from its first bytes, read before a decoder asks for memory.

A format that is not described here is not decoded. Numbers that the rest of the file contradicts are the
decoder's to refuse; where they lead to memory, the larger counts.

Sources: ITU T.81 B.1.1 (JPEG); RFC 2083 (PNG); TIFF 6.0, section 2, and BigTIFF; RFC 9649 (WebP); the
GIF 89a specification; netpbm's pages of PBM, PGM and PPM.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Final, NamedTuple, final

from operad.errors import FormatError
from operad.files import translated


@final
class Header(NamedTuple):
    """The size of an image.

    Attributes:
        kind: Its format.
        height: In pixels.
        width: Likewise.
        sample_bytes: Of one number of a pixel, once it is decoded.
        least_bytes: So long the file must be, if it has all of its pixels.
        extra_bytes: What the decoder needs besides, such as for one tile.
    """

    kind: str
    height: int
    width: int
    sample_bytes: int = 1
    least_bytes: int = 0
    extra_bytes: int = 0


PIXELS_IN_A_BYTE: Final = 512
"""Most pixels per byte of a JPEG: each block of 8x8 pixels has a code for its mean, of one bit or more."""
_DEFLATED_IN_A_BYTE: Final = 1032
"""Bytes that one byte of zlib's becomes at most."""

_STARTS: Final = frozenset((*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0)))
"""JPEG's markers that the size of the picture follows."""
_ARITHMETIC: Final = 0xC8
"""Markers of sizes from here on announce codes of less than a bit."""
_ALONE: Final = frozenset((0x01, *range(0xD0, 0xD9)))
"""Markers that no length follows."""
_PNG_SAMPLES: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_PNM: Final = re.compile(
    rb"P[1-6](?:\s|#[^\n\r]*[\n\r])+(\d{1,9})(?:\s|#[^\n\r]*[\n\r])+(\d{1,9})\s(?:\s*(\d{1,9})\s)?"
)
_TIFF_TYPES: Final = {1: "B", 3: "H", 4: "I", 16: "Q"}
_WIDTH, _LENGTH, _BITS, _SAMPLES, _ROWS, _TILE_WIDTH, _TILE_LENGTH = 256, 257, 258, 277, 278, 322, 323


def header_of(content: bytes) -> Header:
    """The size that an encoded image announces.

    Raises:
        FormatError: It is of no format that is decoded, or cut short before its size.
    """
    read = next((read for mark, read in _READERS if mark.match(content)), None)
    if read is None:
        raise FormatError(
            f"the image begins with {content[:4]!r} and is nothing that operad decodes, "
            "expected a JPEG, PNG, WebP, GIF, BMP, TIFF, or PBM, PGM or PPM"
        )
    with translated("the image", f"the size of a {read.__name__[1:].upper()} near its beginning"):
        return read(content)


def _jpeg(content: bytes) -> Header:
    at = 2
    while True:
        # Junk between segments is passed over, as libjpeg does.
        at = content.index(b"\xff", at)
        marker = content[at + 1]
        if marker in (0x00, 0xFF) or marker in _ALONE:
            at += 1 if marker == 0xFF else 2
            continue
        if marker in _STARTS:
            height, width = struct.unpack_from(">HH", content, at + 5)
            least = 0 if marker > _ARITHMETIC else height * width // PIXELS_IN_A_BYTE
            return Header("JPEG", height, width, least_bytes=least)
        if marker in (0xD9, 0xDA):
            raise ValueError("the picture begins before its size")
        at += 2 + int.from_bytes(content[at + 2 : at + 4], "big")


def _png(content: bytes) -> Header:
    word, width, height, depth, colour = struct.unpack_from(">4sIIBB", content, 12)
    if word != b"IHDR":
        raise ValueError(f"a chunk {word!r}")
    _check_chunks(content, width, height)
    row_bytes = (width * depth * _PNG_SAMPLES[colour] + 7) // 8
    return Header("PNG", height, width, 2 if depth == 16 else 1, height * row_bytes // _DEFLATED_IN_A_BYTE)


def _check_chunks(content: bytes, width: int, height: int) -> None:
    """Make sure that no chunk is longer than the file, since OpenCV asks for its length unread.

    It reads on behind an IEND where no picture has come.
    """
    at, kind, has_picture = 8, b"", False
    while kind != b"IEND":
        length, kind = struct.unpack_from(">I4s", content, at)
        if at + 12 + length > len(content):
            raise ValueError(f"a chunk {kind!r} of {length} bytes at byte {at} of {len(content)}")
        if kind == b"IHDR" and at > 8:
            raise ValueError(f"a second IHDR at byte {at}")
        if kind == b"fcTL" and max(struct.unpack_from(">II", content, at + 12)) > max(width, height):
            raise ValueError(f"a frame at byte {at} that is larger than {width}x{height} pixels")
        has_picture |= kind == b"IDAT"
        at += 12 + length
    if not has_picture:
        raise ValueError("no IDAT")


def _gif(content: bytes) -> Header:
    width, height = struct.unpack_from("<HH", content, 6)
    return Header("GIF", height, width, 2)  # its decoder keeps two pictures


def _bmp(content: bytes) -> Header:
    (size,) = struct.unpack_from("<I", content, 14)
    if size == 12:
        width, height, _, bits = struct.unpack_from("<HHHH", content, 18)
        packing = 0
    else:
        width, height, _, bits, packing = struct.unpack_from("<iiHHI", content, 18)
    width, height = abs(width), abs(height)
    return Header(
        "BMP", height, width, least_bytes=(width * bits + 31) // 32 * 4 * height if not packing else 0
    )


def _webp(content: bytes) -> Header:
    kind = content[12:16]
    if kind == b"VP8X":
        width, height = (int.from_bytes(content[at : at + 3], "little") + 1 for at in (24, 27))
        if len(content) < 30:
            raise ValueError("30 bytes are not there")
    elif kind == b"VP8L":
        (word,) = struct.unpack_from("<I", content, 21)
        width, height = (word & 0x3FFF) + 1, (word >> 14 & 0x3FFF) + 1
    else:
        width, height = (number & 0x3FFF for number in struct.unpack_from("<HH", content, 26))
    return Header("WebP", height, width)


def _tiff(content: bytes) -> Header:
    order = "<" if content[:2] == b"II" else ">"
    (version,) = struct.unpack_from(order + "H", content, 2)
    first, count_of, entry, word = ("IHHI", "H", 12, "I") if version == 42 else ("QHHQ", "Q", 20, "Q")
    (at,) = struct.unpack_from(order + first[0], content, 4 if version == 42 else 8)
    (count,) = struct.unpack_from(order + count_of, content, at)
    at += struct.calcsize(order + count_of)
    tags: dict[int, int] = {}
    for number in range(min(count, 4096)):
        offset = at + entry * number
        tag, kind = struct.unpack_from(order + "HH", content, offset)
        code = _TIFF_TYPES.get(kind)
        (values,) = struct.unpack_from(order + word, content, offset + 4)
        offset += 4 + struct.calcsize(order + word)
        if code is None or not values:
            continue
        if values * struct.calcsize(order + code) > struct.calcsize(order + word):
            (offset,) = struct.unpack_from(order + word, content, offset)
        # Of a tag that is there twice the larger counts.
        tags[tag] = max(tags.get(tag, 0), *struct.unpack_from(order + code, content, offset))
    width, height = tags[_WIDTH], tags[_LENGTH]
    sample_bytes = max(1, -(-tags.get(_BITS, 1) // 8))
    rows = min(tags.get(_ROWS, height), height)
    part = max(width * rows, tags.get(_TILE_WIDTH, 0) * tags.get(_TILE_LENGTH, 0))
    return Header(
        "TIFF", height, width, sample_bytes, extra_bytes=part * sample_bytes * tags.get(_SAMPLES, 1)
    )


def _pnm(content: bytes) -> Header:
    found = _PNM.match(content)
    if found is None:
        raise ValueError(f"{content[:20]!r}")
    width, height = int(found[1]), int(found[2])
    return Header("PNM", height, width, 2 if int(found[3] or 1) > 255 else 1, height * width // 8)


_READERS: Final[tuple[tuple[re.Pattern[bytes], Callable[[bytes], Header]], ...]] = (
    (re.compile(rb"\xff\xd8"), _jpeg),
    (re.compile(rb"\x89PNG\r\n\x1a\n"), _png),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), _webp),
    (re.compile(rb"GIF8[79]a"), _gif),
    (re.compile(rb"BM"), _bmp),
    (re.compile(rb"II[\x2a\x2b]\x00|MM\x00[\x2a\x2b]"), _tiff),
    (re.compile(rb"P[1-6][\s#]"), _pnm),
)

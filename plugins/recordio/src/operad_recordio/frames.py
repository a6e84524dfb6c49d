"""The format of a payload in a record file.

    record := magic u32 | cflag << 29 | length u32 | payload | 0 to 3 zero bytes, to a multiple of 4
    cflag  := 0 whole, 1 first part, 2 middle part, 3 last part

Everything is little-endian. A payload is divided where the magic word stands in it at a multiple of 4; the
word itself is left out and put back on reading. So the magic word at a multiple of 4 in a file always begins
a frame, and one with cflag 0 or 1, a *head*, begins a record: where reading begins in the middle of a file.

Source: dmlc-core, RecordIOWriter::WriteRecord, include/dmlc/recordio.h.
"""

from __future__ import annotations

import struct
from typing import Final

from operad.errors import ArgumentError, ParamError

MAGIC: Final = 0xCED7230A
MAGIC_BYTES: Final = MAGIC.to_bytes(4, "little")
HEAD_BYTES: Final = 8
LENGTH_BITS: Final = 29
MAX_LENGTH: Final = (1 << LENGTH_BITS) - 1
"""Bytes of the longest payload."""

WHOLE, FIRST, MIDDLE, LAST = range(4)

unpack_head = struct.Struct("<II").unpack_from
_pack_head: Final = struct.Struct("<II").pack
_PADDING: Final = (b"", b"\0\0\0", b"\0\0", b"\0")


def as_bytes(who: str, payload: object) -> bytes:
    """The bytes of anything that has some.

    Raises:
        ArgumentError: It is no buffer of bytes; a text is none.
        ParamError: It is longer than a record can be.
    """
    if isinstance(payload, bytes):
        found = payload
    else:
        try:
            found = memoryview(payload).tobytes()  # type: ignore[arg-type]  # that is what is tried
        except TypeError:
            raise ArgumentError(
                f"{who}: the record is {type(payload).__name__}, expected bytes; encode a text first"
            ) from None
    if len(found) > MAX_LENGTH:
        raise ParamError(f"{who}: the record has {len(found)} bytes, expected at most {MAX_LENGTH}")
    return found


def framed(payload: bytes) -> bytes:
    """The record of `payload` as it stands in a file."""
    if MAGIC_BYTES not in payload:
        return _frame(WHOLE, payload)
    parts = _parts(payload)
    if len(parts) == 1:
        return _frame(WHOLE, payload)
    flags = [FIRST, *[MIDDLE] * (len(parts) - 2), LAST]
    return b"".join(_frame(flag, part) for flag, part in zip(flags, parts, strict=True))


def is_head(block: bytes, at: int) -> bool:
    """Return whether a record may begin at `at` of `block`, which has 8 bytes there."""
    magic, word = unpack_head(block, at)
    return bool(magic == MAGIC and word >> LENGTH_BITS <= FIRST)


def find_head(block: bytes, at: int) -> int:
    """Position of the first head at a multiple of 4 in `block` from `at` on; -1 if there is none."""
    at = block.find(MAGIC_BYTES, at)
    while at >= 0 and at + HEAD_BYTES <= len(block):
        if at % 4 == 0 and is_head(block, at):
            return at
        at = block.find(MAGIC_BYTES, at + 1)
    return -1


def padded(length: int) -> int:
    """`length` bytes, up to a multiple of 4."""
    return length + 3 & -4


def _parts(payload: bytes) -> list[bytes]:
    parts, start = [], 0
    at = payload.find(MAGIC_BYTES)
    while at >= 0:
        if at % 4:
            at = payload.find(MAGIC_BYTES, at + 1)
            continue
        parts.append(payload[start:at])
        start = at + 4
        at = payload.find(MAGIC_BYTES, start)
    return [*parts, payload[start:]]


def _frame(flag: int, part: bytes) -> bytes:
    length = len(part)
    return b"".join((_pack_head(MAGIC, flag << LENGTH_BITS | length), part, _PADDING[length % 4]))

"""Images that no encoder here writes."""

from __future__ import annotations

import struct


def cmyk(height: int, width: int, data_bytes: int = 200) -> bytes:
    """A JPEG of four inks that announces a size, with so many bytes of its pixels."""
    table = b"\xff\xdb\x00\x43\x00" + bytes([1] * 64)
    parts = b"".join(bytes([c, 0x11, 0]) for c in (1, 2, 3, 4))
    start = b"\xff\xc0" + struct.pack(">HBHHB", 20, 8, height, width, 4) + parts
    codes = b"".join(
        b"\xff\xc4\x00\x14" + kind + bytes([1] + [0] * 15) + b"\x00" for kind in (b"\x00", b"\x10")
    )
    scan = (
        b"\xff\xda"
        + struct.pack(">HB", 14, 4)
        + b"".join(bytes([c, 0]) for c in (1, 2, 3, 4))
        + b"\x00\x3f\x00"
    )
    adobe = b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"
    return b"\xff\xd8" + adobe + table + start + codes + scan + bytes(data_bytes) + b"\xff\xd9"

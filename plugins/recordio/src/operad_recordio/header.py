"""Header before an image in a record: flag, labels and two numbers.

    image payload := flag u32, label f32, id u64, id2 u64 | flag labels f32, where flag > 0 | the image

Everything is little-endian.

Source: IRHeader, pack and unpack, python/mxnet/recordio.py.
"""

from __future__ import annotations

import struct
from collections import namedtuple
from numbers import Number
from typing import Any, Final

import numpy as np

from operad.errors import ArgumentError, FormatError, ParamError

IRHeader = namedtuple("HEADER", ["flag", "label", "id", "id2"])  # type: ignore[name-match]  # MXNet's name
"""Header of an image record: `flag` (the number of labels if there are several, or any), `label` (a number,
or an array of them), `id`, and `id2`, which is 0."""

_FORMAT: Final = struct.Struct("<IfQQ")


def pack(header: Any, s: Any) -> bytes:
    """A record of a header and the bytes of an image.

    Args:
        header: An `IRHeader`. Where its label is a number the record's flag is 0; an array of numbers is
            written behind the header, and the flag is their number.
        s: The bytes.
    Raises:
        ParamError: A field of the header is no such number.

    Example:
        >>> import operad as od
        >>> record = od.recordio.pack(od.recordio.IRHeader(0, [1, 2], 7, 0), b"image")
        >>> header, image = od.recordio.unpack(record)
        >>> header.label.tolist(), header.id, image
        ([1.0, 2.0], 7, b'image')
    """
    header = IRHeader(*header)
    labels = b""
    if isinstance(header.label, Number):
        header = header._replace(flag=0)
    else:
        try:
            several = np.asarray(getattr(header.label, "asnumpy", lambda: header.label)(), "<f4")
        except (TypeError, ValueError) as error:
            raise ParamError(f"pack: the label is {header.label!r}, expected a number or several") from error
        header = header._replace(flag=several.size, label=0)
        labels = several.tobytes()
    try:
        head = _FORMAT.pack(*header)
    except (struct.error, OverflowError, TypeError) as error:
        raise ParamError(f"pack: {header!r} does not fit the fields u32, f32, u64, u64: {error}") from error
    if isinstance(s, str):
        raise ArgumentError("pack: the image is str, expected bytes; read its file with open(..., 'rb')")
    return b"".join((head, labels, s))


def unpack(s: Any) -> tuple[Any, bytes]:
    """The header of a record, and the bytes of its image.

    Raises:
        FormatError: The record is shorter than its header says.
    """
    if len(s) < _FORMAT.size:
        raise FormatError(f"unpack: the record has {len(s)} bytes, expected {_FORMAT.size} of a header")
    header = IRHeader(*_FORMAT.unpack_from(s))
    start = _FORMAT.size
    if header.flag > 0:
        start += 4 * header.flag
        if len(s) < start:
            raise FormatError(
                f"unpack: the record has {len(s)} bytes, expected {header.flag} labels, {start} bytes"
            )
        header = header._replace(label=np.frombuffer(s, "<f4", header.flag, _FORMAT.size))
    return header, s[start:]

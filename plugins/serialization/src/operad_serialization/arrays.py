"""Files of arrays, byte-compatible with MXNet 1.x's `.params`.

All little-endian. A file is a list magic (u64 0x112), a reserved u64, a u64 count of arrays, the
arrays, a u64 count of names (0, or as many as arrays) and the names, each a u64 length and UTF-8.
An array is

    u32 magic 0xF993FAC9 | i32 storage type (0: dense) | u32 ndim | i64 length * ndim
    | i32 device type | i32 device id | i32 type number | elements in C order

and ends after `ndim` where ndim is 0. Arrays that use NumPy shape semantics have the magic
0xF993FACA and an i32 ndim that is -1 for "no array", so that ndim 0 is a scalar and lengths may be 0. That
form is written where a file holds such an array, then for all of its arrays, because MXNet reads a file
with those semantics or without; here both may be mixed. The two older forms (0xF993FAC8 without a
storage type, and a bare ndim with u32 lengths) are read.

Nothing is unpickled. Counts and lengths are checked against the bytes that are there before memory
is allocated for them.

Source: NDArray::Save and NDArray::Load, src/ndarray/ndarray.cc; `MXNDArraySave`, src/c_api/c_api.cc.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, final

import numpy as np

import operad
from operad.boundary import boundary
from operad.dtypes import from_type_flag, type_flag
from operad.errors import ArgumentError, DTypeError, FormatError
from operad.files import write_atomically
from operad.ndarray import NDArray, array
from operad_files import expanding, read_bytes

_LIST_MAGIC: Final = 0x112
_V1_MAGIC: Final = 0xF993FAC8
_V2_MAGIC: Final = 0xF993FAC9
_NUMPY_SHAPE_MAGIC: Final = 0xF993FACA
_MAX_NDIM: Final = 32
_BYTES_OF_AN_ARRAY: Final = 1280
"""Bytes that an array takes beside its elements, which a file can have none of."""


@boundary
def save(fname: str | Path, data: NDArray | Sequence[NDArray] | Mapping[str, NDArray]) -> None:
    """Write arrays to a file that MXNet 1.x reads; the file appears whole or not at all.

    Args:
        fname: Path of the file.
        data: One array, a list of them, or a mapping from names to arrays.
    """
    write_atomically(fname, dumps(data))
    names = list(data) if isinstance(data, Mapping) else []
    operad.registry.hooks().arrays_saved(path=str(fname), names=names)


@boundary
def dumps(data: NDArray | Sequence[NDArray] | Mapping[str, NDArray]) -> bytes:
    """The bytes that `save` writes."""
    if isinstance(data, NDArray):
        data = [data]
    names = list(data) if isinstance(data, Mapping) else []
    arrays = list(data.values()) if isinstance(data, Mapping) else list(data)
    for item in arrays:
        if not isinstance(item, NDArray):
            raise ArgumentError(f"save: expected NDArrays, got {type(item).__name__}")
    parts = [struct.pack("<QQQ", _LIST_MAGIC, 0, len(arrays))]
    # In the older form no axes, or an axis of 0, say that there is no array.
    magic = _V2_MAGIC if all(item.shape and item.size for item in arrays) else _NUMPY_SHAPE_MAGIC
    parts += [_packed(item, magic) for item in arrays]
    parts.append(struct.pack("<Q", len(names)))
    for name in names:
        if not isinstance(name, str):
            raise ArgumentError(f"save: the name {name!r} is not a string")
        try:
            text = name.encode()
        except UnicodeEncodeError as error:
            raise ArgumentError(f"save: the name {name!r} cannot be written as UTF-8") from error
        parts += [struct.pack("<Q", len(text)), text]
    return b"".join(parts)


def _packed(item: NDArray, magic: int) -> bytes:
    values = np.ascontiguousarray(item.asnumpy()).reshape(item.shape)
    header = struct.pack(f"<IiI{item.ndim}q", magic, 0, item.ndim, *item.shape)
    # The context is written as cpu(0), like MXNet does for arrays it brings to the host.
    return header + struct.pack("<iii", 1, 0, type_flag(item.dtype)) + values.tobytes()


@boundary
def load(fname: str | Path) -> list[NDArray] | dict[str, NDArray]:
    """The arrays of a file that `save` or MXNet 1.x wrote: a list, or a dict if they have names.

    Raises:
        FormatError: The file is not such a file, or is cut short; the message says where.
    """
    return loads(read_bytes(fname, f"file of arrays {str(fname)!r}"), str(fname))


@boundary
def loads(content: bytes, what: str = "bytes") -> list[NDArray] | dict[str, NDArray]:
    """The arrays in `content`; `what` names it in errors."""
    reader = _Reader(content, what)
    expected = struct.pack("<Q", _LIST_MAGIC)
    if not expected.startswith(found := bytes(content[: len(expected)])):
        raise reader.error(f"is not a file of arrays: it begins with {found!r}, expected {expected!r}")
    _, _, count = reader.unpack("<QQQ")
    reader.check_count(count, 4, "arrays")
    with expanding(count * _BYTES_OF_AN_ARRAY, f"{what} with {count:,} arrays"):
        arrays = [_read_array(reader, i) for i in range(count)]
    (num_names,) = reader.unpack("<Q")
    if num_names not in (0, count):
        raise reader.error(f"has {num_names} names for {count} arrays")
    names = [reader.text() for _ in range(num_names)]
    if reader.rest():
        raise reader.error(f"has {reader.rest()} bytes after its end")
    if len(set(names)) != len(names):
        raise reader.error("names an array twice")
    return dict(zip(names, arrays, strict=True)) if names else arrays


def _read_array(reader: _Reader, number: int) -> NDArray:
    (magic,) = reader.unpack("<I")
    if magic in (_V2_MAGIC, _NUMPY_SHAPE_MAGIC):
        (storage_type,) = reader.unpack("<i")
        if storage_type != 0:
            raise reader.error(
                f"array {number} has storage type {storage_type}; sparse arrays are not supported"
            )
    ndim, length_code = magic, "I"
    if magic in (_V1_MAGIC, _V2_MAGIC, _NUMPY_SHAPE_MAGIC):
        (ndim,) = reader.unpack("<i" if magic == _NUMPY_SHAPE_MAGIC else "<I")
        length_code = "q"
    if not -1 <= ndim <= _MAX_NDIM:
        raise reader.error(
            f"array {number} begins with {ndim:#x}, which is neither a magic nor a number of axes"
        )
    if ndim == -1 or (ndim == 0 and magic != _NUMPY_SHAPE_MAGIC):
        raise reader.error(f"array {number} is empty (MXNet's 'none'), which operad has no array for")
    shape = reader.unpack(f"<{ndim}{length_code}")
    _, _, flag = reader.unpack("<iii")
    try:
        dtype = from_type_flag(flag)
    except DTypeError as error:
        raise reader.error(f"array {number}: {error}") from None
    if any(axis < 0 for axis in shape):
        raise reader.error(f"array {number} has shape {shape}")
    content = reader.take(math.prod(shape) * dtype.itemsize)
    try:
        values = np.frombuffer(content, dtype).reshape(shape)
    except (ValueError, OverflowError) as error:  # an axis is beyond what an array can have
        raise reader.error(f"array {number} has shape {shape}") from error
    return array(values, dtype=dtype)


@final
class _Reader:
    """A position in the bytes of a file."""

    def __init__(self, content: bytes, what: str) -> None:
        self._content = memoryview(content)
        self._at = 0
        self._what = what

    def error(self, problem: str) -> FormatError:
        return FormatError(f"{self._what} {problem} (at byte {self._at})")

    def rest(self) -> int:
        return len(self._content) - self._at

    def check_count(self, count: int, least_bytes: int, what: str) -> None:
        if count * least_bytes > self.rest():
            raise self.error(f"claims {count} {what}, more than its {len(self._content)} bytes can hold")

    def take(self, size_bytes: int) -> memoryview:
        if size_bytes > self.rest():
            raise self.error(f"is cut short: {size_bytes} bytes expected, {self.rest()} left")
        self._at += size_bytes
        return self._content[self._at - size_bytes : self._at]

    def unpack(self, code: str) -> tuple[Any, ...]:
        return struct.unpack(code, self.take(struct.calcsize(code)))

    def text(self) -> str:
        (length,) = self.unpack("<Q")
        try:
            return bytes(self.take(length)).decode()
        except UnicodeDecodeError as error:
            raise self.error("has a name that is not UTF-8") from error

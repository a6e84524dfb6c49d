"""Files of models: the way in and out.

What a file asks for is compared with what it holds before anything is made of it. Weights that stand in a
file beside the model come out of its folder alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import prod
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Final

import numpy as np
import onnx
from onnx import external_data_helper, numpy_helper

from operad.errors import ArgumentError, FormatError, OperadError
from operad.files import check_bytes, open_descriptor, read_bytes, translated, write_atomically
from operad_onnx.element_types import dtype_of

_FIELDS: Final = {
    "float32": "float_data", "float64": "double_data", "int64": "int64_data", "uint32": "uint64_data",
    "uint64": "uint64_data",
}  # fmt: skip
"""Fields of values that are not raw; those of other types are `int32_data`."""

_LEAST_MOVED_BYTES: Final = 1024
"""Smaller weights stay in the model."""


def write_model(model: onnx.ModelProto, path: str | os.PathLike[str], external_above: int) -> None:
    """Write a model whole or not at all; large weights before it, into `path` with `.data`."""
    tensors = model.graph.initializer
    written = model
    if sum(len(tensor.raw_data) for tensor in tensors) > external_above:
        written = onnx.ModelProto()
        written.CopyFrom(model)
        beside = Path(f"{os.fspath(path)}.data")
        write_atomically(beside, _moved(written, beside.name))
    try:
        content = written.SerializeToString()
    except Exception as error:  # protobuf's limit of 2 GB, by a class of its own
        raise ArgumentError(
            f"export: the model is too large for one file: {error}; give external_above=0"
        ) from error
    write_atomically(os.fspath(path), content)


def _moved(model: onnx.ModelProto, location: str) -> bytes:
    content = bytearray()
    for tensor in model.graph.initializer:
        if len(tensor.raw_data) < _LEAST_MOVED_BYTES:
            continue
        content += b"\0" * (-len(content) % 4096)
        external_data_helper.set_external_data(tensor, location, len(content), len(tensor.raw_data))
        content += tensor.raw_data
        tensor.ClearField("raw_data")
    return bytes(content)


def read_model(path: str | os.PathLike[str]) -> onnx.ModelProto:
    """The model of a file, as it stands there.

    Raises:
        FormatError: It is none.
        LimitError: It is larger than `OPERAD_MAX_FILE_BYTES`.
        OperadError: It cannot be read; an `OSError` too.
    """
    what = f"the ONNX file {os.fspath(path)!r}"
    return parsed(read_bytes(path, what), what)


def parsed(content: bytes, what: str) -> onnx.ModelProto:
    """The model of bytes."""
    model = onnx.ModelProto()
    try:
        with translated(what, "an ONNX model"):
            model.ParseFromString(content)
    except OperadError:
        raise
    except Exception as error:  # of a class of protobuf's
        raise FormatError(f"{what}: expected an ONNX model, got {error}") from error
    if not model.HasField("graph"):
        raise FormatError(f"{what}: it has no graph, expected an ONNX model")
    return model


def array_of(tensor: onnx.TensorProto, what: str, folder: str | None) -> np.ndarray[Any, Any]:
    """The array of a tensor of a file.

    Args:
        folder: Of the model, for weights beside it; None: it has none.

    Raises:
        FormatError: It holds more or less than its shape says, or points out of the folder.
        DTypeError: Arrays have no such element type.
    """
    dtype = dtype_of(tensor.data_type, what)
    if any(length < 0 for length in tensor.dims):
        raise FormatError(f"{what} has the shape {tuple(tensor.dims)}")
    size = prod(tensor.dims)
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        content = _beside(tensor, size * dtype.itemsize, what, folder)
        return np.frombuffer(content, dtype.newbyteorder("<")).reshape(tuple(tensor.dims)).astype(dtype)
    values: Any = getattr(tensor, _FIELDS.get(dtype.name, "int32_data"))
    held = len(tensor.raw_data) // dtype.itemsize if tensor.HasField("raw_data") else len(values)
    if held != size:
        raise FormatError(f"{what} has the shape {tuple(tensor.dims)} and {held} elements, expected {size}")
    with translated(what, "an array"):
        return np.array(numpy_helper.to_array(tensor))


def _beside(tensor: onnx.TensorProto, size_bytes: int, what: str, folder: str | None) -> bytes:
    told = {pair.key: pair.value for pair in tensor.external_data}
    if folder is None:
        raise FormatError(
            f"{what} stands in the file {told.get('location')!r}, which bytes do not have beside them"
        )
    path = _inside(told.get("location", ""), folder, what)
    with translated(what, "numbers for offset and length"):
        offset = int(told.get("offset", 0))
        length = int(told.get("length", size_bytes))
    if offset < 0 or length != size_bytes:
        raise FormatError(f"{what} has {length} bytes from {offset} on, expected {size_bytes}")
    check_bytes(size_bytes, what)
    descriptor, total = open_descriptor(path, f"{what}, in {path!r}")
    with translated(what, "a whole file"), os.fdopen(descriptor, "rb") as file:
        if offset + length > total:
            raise FormatError(f"{what} ends at byte {offset + length} of {path!r}, which has {total}")
        file.seek(offset)
        return file.read(length)


def _inside(location: str, folder: str, what: str) -> str:
    """Path of a file beside the model: in its folder, and not through links."""
    parts = PurePosixPath(location).parts
    windows = PureWindowsPath(location)
    is_outside = location.startswith("/") or windows.drive or windows.root or ".." in (*parts, *windows.parts)
    if not parts or is_outside or "\0" in location:
        raise FormatError(f"{what} stands in {location!r}, expected a file in the folder of the model")
    for path in _each(folder, parts):
        if os.path.islink(path):
            raise FormatError(
                f"{what} stands in {location!r}, which is a link, expected a file in the folder"
            )
    return os.path.join(folder, *parts)


def _each(folder: str, parts: tuple[str, ...]) -> Iterator[str]:
    for count in range(1, len(parts) + 1):
        yield os.path.join(folder, *parts[:count])

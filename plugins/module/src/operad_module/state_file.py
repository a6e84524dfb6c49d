"""Files of a training's state: a tree of plain values, in one file that is whole or refused.

    file := "operad training state 1 " | SHA-256 of the rest in hexadecimal | newline | NumPy's .npz

The archive holds the tree as JSON, in bytes called `tree`, and the arrays of the tree under their numbers.
Leaves are None, bool, int, float, str, bytes and NumPy's arrays and scalars; tuples come back as lists.
Nothing is unpickled, and no array is read before the digest is found right.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import zipfile
from collections.abc import Mapping
from os import PathLike
from typing import Any, Final

import numpy as np

from operad.errors import ArgumentError, FormatError
from operad.files import parse_json, translated, write_atomically
from operad_files import opened, read_bytes

_MAGIC: Final = b"operad training state 1 "
_HEADER_BYTES: Final = len(_MAGIC) + 64 + 1
_ARRAY, _BYTES, _SCALAR = "$array", "$bytes", "$scalar"
_ENCRYPTED: Final = 1
"""Bit of a zip file's flags."""
_HEAD: Final = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([<|][biuf]\d{1,2})', 'fortran_order': (True|False), "
    rb"'shape': \(([\d, ]{0,200})\), \} *\n",
    re.DOTALL,
)
"""Head of an array of numbers in NumPy's format, version 1.0."""
_MARKS: Final = (_ARRAY, _BYTES, _SCALAR)
"""Marks of leaves that are no JSON: an object with one of these names and the number of an array."""


def write_state(path: str | PathLike[str], tree: Mapping[str, Any]) -> None:
    """Write a tree of plain values; the file appears whole or not at all.

    Raises:
        ArgumentError: A leaf is something else; the message says where it is.
    """
    arrays: list[Any] = []
    text = json.dumps(_described(tree, arrays, "state"))
    content = io.BytesIO()
    named = {str(number): array for number, array in enumerate(arrays)}
    np.savez(content, tree=np.frombuffer(text.encode(), np.uint8), **named)
    body = content.getbuffer()
    digest = hashlib.sha256(body).hexdigest().encode()
    write_atomically(str(path), b"".join((_MAGIC, digest, b"\n", body)))


def read_state(path: str | PathLike[str]) -> dict[str, Any]:
    """The tree that `write_state` wrote.

    Raises:
        FormatError: The file is none that it wrote, or is not whole.
    """
    what = f"training state {str(path)!r}"
    content = read_bytes(path, what)
    header, body = content[:_HEADER_BYTES], memoryview(content)[_HEADER_BYTES:]
    if not header.startswith(_MAGIC):
        raise FormatError(
            f"{str(path)!r} is not a file with a training's state; it begins with {header[:24]!r}"
        )
    if header != _MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n":
        raise FormatError(f"{str(path)!r} is damaged: its {len(body)} bytes are not those that were written")
    with translated(what, "what a checkpoint writes"):
        arrays = _arrays(body, what)
        tree = _rebuilt(parse_json(arrays["tree"].tobytes(), what, constants=True), arrays)
        if not isinstance(tree, dict):
            raise FormatError(f"{what} holds {type(tree).__name__}, expected an object")
        return tree


def digest_of(path: str | PathLike[str]) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with opened(path, f"{str(path)!r}, whose digest is taken,") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _arrays(body: memoryview, what: str) -> dict[str, Any]:
    """The arrays of an .npz as `np.savez` writes it: not compressed, so that none is larger than its file.

    A digest shows damage, and says nothing of who wrote the file; so sizes are not taken on trust.
    """
    found = {}
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > len(body):  # or they lie on top of each other
                raise FormatError(
                    f"{what}: its arrays have more bytes than the file, expected them as they are"
                )
            for member in members:
                name = member.filename
                if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & _ENCRYPTED:
                    raise FormatError(f"{what}: {name!r} is compressed or encrypted, expected plain bytes")
                found[name.removesuffix(".npy")] = _array(archive.read(member), f"{what}: {name!r}")
    except zipfile.BadZipFile as error:
        raise FormatError(f"{what}: expected a whole archive of arrays: {error}") from error
    return found


def _array(content: bytes, what: str) -> Any:
    head = _HEAD.match(content)
    if head is None:
        raise FormatError(f"{what} begins with {content[:80]!r}, expected numbers as np.savez writes them")
    dtype, lengths = np.dtype(head[1].decode()), [int(axis) for axis in head[3].split(b",") if axis.strip()]
    if math.prod(lengths) * dtype.itemsize != len(content) - head.end():
        raise FormatError(
            f"{what} has {len(content) - head.end()} bytes, expected {dtype} of shape {lengths}"
        )
    values = np.frombuffer(content, dtype, offset=head.end())
    return values.reshape(lengths, order="F" if head[2] == b"True" else "C").copy()


def _described(value: Any, arrays: list[Any], where: str) -> Any:
    if value is None or (isinstance(value, (bool, int, float, str)) and not isinstance(value, np.generic)):
        return value
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str) or key in _MARKS:
                raise ArgumentError(f"checkpoint: {where} has a key {key!r}, expected texts but {_MARKS}")
        return {key: _described(part, arrays, f"{where}[{key!r}]") for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_described(part, arrays, f"{where}[{number}]") for number, part in enumerate(value)]
    if isinstance(value, bytes):
        return _as_array(_BYTES, np.frombuffer(value, np.uint8), arrays)
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biuf":
        return _as_array(_SCALAR if isinstance(value, np.generic) else _ARRAY, np.asarray(value), arrays)
    raise ArgumentError(
        f"checkpoint: {where} is {type(value).__name__}, "
        "expected None, a number, a string, bytes, a NumPy array, or a dict or list of these"
    )


def _as_array(kind: str, array: Any, arrays: list[Any]) -> dict[str, int]:
    arrays.append(array)
    return {kind: len(arrays) - 1}


def _rebuilt(value: Any, arrays: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_rebuilt(part, arrays) for part in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((kind, number),) = value.items()
        if kind in _MARKS:
            array = arrays[str(number)]
            return {_ARRAY: lambda: array, _BYTES: array.tobytes, _SCALAR: lambda: array[()]}[kind]()
    return {key: _rebuilt(part, arrays) for key, part in value.items()}

r"""A server's picture of itself as bytes: a JSON text and the arrays that it names.

    picture := "operad server picture 1\n" | length of the text (u64) | text | arrays, one after another

Numbers are little-endian. The text is `{"tree": ..., "arrays": [[type, shape], ...]}`, with blanks at its
end, so that arrays begin at a multiple of 64 bytes. In the tree, dicts are `{"pairs": [[key, value], ...]}`,
so that keys may be numbers; tuples `{"tuple": [...]}`, bytes `{"bytes": n}` and arrays `{"array": n}` or
`{"ndarray": n}`, where n is a number in the list. Nothing is pickled: a writer of the file decides values,
and runs no code.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from operad import NDArray, nd
from operad.errors import ArgumentError, FormatError
from operad.files import parse_json, translated

_MAGIC: Final = b"operad server picture 1\n"
_LENGTH: Final = struct.Struct("<Q")
_START: Final = len(_MAGIC) + _LENGTH.size
_ALIGNED: Final = 64
_KINDS: Final = "biufV"
EXPECTED: Final = "what a server writes of itself"
"""Name of a picture's content, for messages."""


def to_bytes(tree: Any) -> bytes:
    """A tree of None, numbers, texts, bytes, arrays, and dicts, lists and tuples of these.

    Raises:
        ArgumentError: A leaf is something else.
    """
    return b"".join(to_parts(tree))


def to_parts(tree: Any) -> list[Any]:
    """`to_bytes`, as buffers one after another; those of arrays are their memory, if that is contiguous."""
    arrays: list[Any] = []
    described = _described(tree, arrays)
    shapes = [[array.dtype.name, array.shape] for array in arrays]
    text = json.dumps({"tree": described, "arrays": shapes}).encode()
    text = text.ljust(len(text) + -(_START + len(text)) % _ALIGNED)
    contents = (np.ascontiguousarray(array).reshape(-1).view(np.uint8).data for array in arrays)
    return [b"".join((_MAGIC, _LENGTH.pack(len(text)), text)), *contents]


def from_bytes(content: bytes | memoryview, what: str, *, in_place: bool = False) -> Any:
    """Tree that `to_bytes` was given.

    Args:
        content: The bytes.
        what: Their name, for messages.
        in_place: Arrays may be memory of `content`, which has no other owner.
    Raises:
        FormatError: They are something else, or not whole.
    """
    begins = bytes(content[: len(_MAGIC)])
    if begins != _MAGIC or len(content) < _START:
        raise FormatError(f"{what} is no picture of a server; it begins with {begins!r}")
    (length,) = _LENGTH.unpack_from(content, len(_MAGIC))
    with translated(what, EXPECTED):
        text = parse_json(bytes(content[_START : _START + length]), what, constants=True)
        arrays = _arrays(memoryview(content)[_START + length :], text["arrays"], in_place=in_place)
        return _rebuilt(text["tree"], arrays)


def _described(value: Any, arrays: list[Any]) -> Any:
    if value is None or type(value) in {bool, int, float, str}:
        return value
    if isinstance(value, Mapping):
        return {"pairs": [[_described(k, arrays), _described(v, arrays)] for k, v in value.items()]}
    if isinstance(value, list):
        return [_described(one, arrays) for one in value]
    if isinstance(value, tuple):
        return {"tuple": [_described(one, arrays) for one in value]}
    if isinstance(value, bytes):
        return _numbered("bytes", np.frombuffer(value, np.uint8), arrays)
    if isinstance(value, NDArray):
        return _numbered("ndarray", value.asnumpy(), arrays)
    if isinstance(value, np.ndarray) and value.dtype.kind in _KINDS:
        return _numbered("array", value, arrays)
    raise ArgumentError(f"a server's picture cannot hold {value!r}")


def _numbered(kind: str, array: Any, arrays: list[Any]) -> dict[str, int]:
    arrays.append(array)
    return {kind: len(arrays) - 1}


def _arrays(content: memoryview, shapes: Any, *, in_place: bool) -> list[Any]:
    arrays, start = [], 0
    for name, shape in shapes:
        dtype = np.dtype(name)
        size = math.prod(shape) * dtype.itemsize
        plain = dtype.name == name and dtype.kind in _KINDS
        if not plain or min(shape, default=0) < 0 or start + size > len(content):
            raise ValueError(f"an array of {name} {shape} at byte {start} of {len(content)}")
        found = np.frombuffer(content[start : start + size], dtype).reshape(shape)
        arrays.append(found if in_place and found.flags.aligned else found.copy())
        start += size
    if start != len(content):
        raise ValueError(f"{len(content) - start} bytes too many")
    return arrays


def _rebuilt(value: Any, arrays: list[Any]) -> Any:
    if isinstance(value, list):
        return [_rebuilt(one, arrays) for one in value]
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "pairs":
        return {_rebuilt(k, arrays): _rebuilt(v, arrays) for k, v in inner}
    if kind == "tuple":
        return tuple(_rebuilt(one, arrays) for one in inner)
    array = arrays[inner]
    if kind == "bytes":
        return array.tobytes()
    if kind == "ndarray":
        return nd.array(array, dtype=array.dtype)
    return {"array": array}[kind]

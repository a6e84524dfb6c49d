"""States: what an optimizer keeps of a weight, and how states become bytes and back.

Bytes are a line that names the format, the length of a JSON text (u64, little-endian), that text, and
the arrays as `operad.nd.save` writes them. The text has the counts of updates and, for each index,
the shape of its state: null, the number of an array, or a list of such. Nothing is unpickled.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from operad import NDArray, nd
from operad.errors import FormatError

_MAGIC: Final = b"operad updater states 1\n"
_LENGTH: Final = struct.Struct("<Q")


def zeros_like(weight: NDArray) -> NDArray:
    """A state of zeros for `weight`."""
    return nd.array(np.zeros(weight.shape, weight.dtype), ctx=weight.ctx, dtype=weight.dtype)


def dump_states(states: Mapping[Any, Any], counts: Mapping[str, Any]) -> bytes:
    """States by index, and whatever JSON can say of counts, as bytes."""
    arrays: list[NDArray] = []
    described = [[index, _described(state, arrays)] for index, state in states.items()]
    text = json.dumps({"states": described, "counts": counts}).encode()
    values: bytes = nd.dumps(arrays)
    return _MAGIC + _LENGTH.pack(len(text)) + text + values


def load_states(content: bytes) -> tuple[dict[Any, Any], dict[str, Any]]:
    """What `dump_states` was given.

    Raises:
        FormatError: `content` is not what it makes.
    """
    start = len(_MAGIC) + _LENGTH.size
    if not content.startswith(_MAGIC) or len(content) < start:
        raise FormatError("set_states: these are not an updater's states; expected what get_states returned")
    (length,) = _LENGTH.unpack_from(content, len(_MAGIC))
    if length > len(content) - start:
        raise FormatError(
            f"set_states: cut short: {length} bytes of text expected, {len(content) - start} left"
        )
    try:
        described = json.loads(content[start : start + length])
        arrays = nd.loads(content[start + length :], "set_states: the arrays")
        states = {index: _rebuilt(shape, arrays) for index, shape in described["states"]}
        return states, dict(described["counts"])
    except (ValueError, KeyError, TypeError, IndexError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"set_states: the text does not describe states: {error}") from error


def _described(state: Any, arrays: list[NDArray]) -> Any:
    if state is None:
        return None
    if isinstance(state, NDArray):
        arrays.append(state)
        return len(arrays) - 1
    return [_described(part, arrays) for part in state]


def _rebuilt(shape: Any, arrays: Any) -> Any:
    if shape is None:
        return None
    if isinstance(shape, list):
        return tuple(_rebuilt(part, arrays) for part in shape)
    return arrays[shape]

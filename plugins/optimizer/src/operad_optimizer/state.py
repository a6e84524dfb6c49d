"""States: what an optimizer keeps of a weight, and how states become bytes and back.

Bytes are a line that names the format, the length of a JSON text (u64, little-endian), that text, and
the arrays as `operad.nd.save` writes them. The text has the counts of updates and, for each index,
the shape of its state: null, the number of an array, or a list of such. Nothing is unpickled.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from operad import NDArray, nd
from operad.errors import FormatError
from operad.files import parse_json, translated

_MAGIC: Final = b"operad updater states 1\n"
_LENGTH: Final = struct.Struct("<Q")
_PICKLE: Final = b"\x80"
"""First byte of pickles of protocol 2 and above."""
_MOST_UPDATES: Final = 1 << 63


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
    """States that `dump_states` was given.

    Raises:
        FormatError: `content` is not what it makes.
    """
    start = len(_MAGIC) + _LENGTH.size
    if not content.startswith(_MAGIC) or len(content) < start:
        of_mxnet = "; a pickle, as MXNet writes, is not read: train on with the parameters alone"
        raise FormatError(
            "set_states: these are not an updater's states; expected what get_states returned"
            + of_mxnet * content.startswith(_PICKLE)
        )
    (length,) = _LENGTH.unpack_from(content, len(_MAGIC))
    if length > len(content) - start:
        raise FormatError(
            f"set_states: cut short: {length} bytes of text expected, {len(content) - start} left"
        )
    with translated("set_states", "a text that describes states"):
        described = parse_json(content[start : start + length], "set_states: the text", constants=True)
        arrays = iter(_numbered(nd.loads(content[start + length :], "set_states: the arrays")))
        states = {_checked_index(index): _rebuilt(shape, arrays) for index, shape in described["states"]}
        if next(arrays, None) is not None:
            raise FormatError("set_states: there are more arrays than states, expected each in one state")
        return states, dict(described["counts"])


def rename_states(states: bytes, name: Callable[[Any], Any]) -> bytes:
    """States in which a weight goes by another index.

    Args:
        states: What `Updater.get_states` gave.
        name: Gives the new index of an old one. A store has names, a local updater has numbers.
    Raises:
        FormatError: `states` is something else.
    """
    loaded, counts = load_states(states)
    _, of_indices = checked_counts(counts)
    counts["index_update_count"] = [[name(index), count] for index, count in of_indices.items()]
    return dump_states({name(index): state for index, state in loaded.items()}, counts)


def checked_counts(counts: Mapping[str, Any]) -> tuple[int, dict[Any, int]]:
    """The counts of updates in what `Updater.get_states` wrote: of all, and of each index.

    Raises:
        FormatError: They are none.
    """
    with translated("set_states", "counts of updates"):
        total, of_indices = counts["num_update"], dict(counts["index_update_count"])
        found = {_checked_index(index): count for index, count in of_indices.items()}
        for count in (total, *found.values()):
            if type(count) is not int or not 0 <= count < _MOST_UPDATES:
                raise FormatError(f"set_states: a count of updates is {count!r:.40}, expected 0 or more")
        return total, found


def checked_settings(found: Mapping[str, Any], given: object) -> dict[str, Any]:
    """The settings in `given` that are among `found`, as long as they are of the same kinds.

    Raises:
        FormatError: They are not, or none at all.
    """
    if not isinstance(given, dict):
        raise FormatError(f"set_states: the settings are {type(given).__name__}, expected an object")
    taken = {name: value for name, value in given.items() if name in found}
    for name, value in taken.items():
        if _kind(value) not in (_kind(found[name]), None) and found[name] is not None:
            raise FormatError(
                f"set_states: the setting {name} is {value!r:.40}, expected a {_kind(found[name])} "
                f"as {found[name]!r:.40}"
            )
    return taken


def _kind(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return "number"
    return {bool: "boolean", str: "text"}.get(type(value), "something else")


def _checked_index(index: object) -> Any:
    if type(index) not in (int, str):
        raise FormatError(f"set_states: an index is {index!r:.40}, expected an integer or a name")
    return index


def _numbered(arrays: Any) -> list[tuple[int, NDArray]]:
    if not isinstance(arrays, list):
        raise FormatError("set_states: the arrays have names, expected numbers alone")
    return list(enumerate(arrays))


def _described(state: Any, arrays: list[NDArray]) -> Any:
    if state is None:
        return None
    if isinstance(state, NDArray):
        arrays.append(state)
        return len(arrays) - 1
    return [_described(part, arrays) for part in state]


def _rebuilt(shape: Any, arrays: Iterator[tuple[int, NDArray]]) -> Any:
    """The state of that shape, of the arrays that come next: each belongs to one state."""
    if shape is None:
        return None
    if isinstance(shape, list):
        return tuple(_rebuilt(part, arrays) for part in shape)
    number, array = next(arrays, (None, None))
    if type(shape) is not int or shape != number:
        raise FormatError(f"set_states: a state has the array {shape!r:.40}, expected {number}")
    return array

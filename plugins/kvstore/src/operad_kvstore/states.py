"""States of an optimizer for arrays that are spread over servers: cut, and joined again.

What an elementwise optimizer keeps of a weight are arrays of its shape, or nothing; each server keeps them
for the elements that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from operad import NDArray, nd
from operad_kvstore.placement import Extent


def cut_state(state: Any, extent: Extent) -> Any:
    """Part of a whole array's state that a server keeps."""
    if extent.is_whole:
        return state
    return _mapped(lambda array: _flat(array)[extent.start : extent.stop], extent.stored_shape, state)


def joined_state(states: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """The whole array's state.

    Args:
        states: What the servers keep, in the order of their elements.
        shape: Of the whole array.
    """
    if len(states) == 1:
        return states[0]
    return _mapped(lambda *arrays: np.concatenate(list(map(_flat, arrays))), shape, *states)


def _mapped(function: Callable[..., Any], shape: tuple[int, ...], *states: Any) -> Any:
    """A state like each of several, with arrays that a function makes of theirs."""
    if states[0] is None:
        return None
    if isinstance(states[0], NDArray):
        values = function(*states).reshape(shape)
        return nd.array(values, dtype=values.dtype)
    return tuple(_mapped(function, shape, *several) for several in zip(*states, strict=True))


def _flat(array: NDArray) -> Any:
    return array.asnumpy().reshape(-1)

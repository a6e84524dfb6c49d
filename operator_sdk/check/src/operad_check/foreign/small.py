"""Cases small enough to be written down in a program.

A check makes a case smaller while it fails. Where it stays long, as with sums that overflow in half
precision, the element that the message names is tried alone, and with some of those before it. What needs
a long array has no program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from operad_check.trials.case import Array, Case

MOST_ELEMENTS: Final = 64
"""Elements of an array that a program lists."""
_LONG: Final = 8
"""Length of an axis from which on it is cut."""
_BEFORE: Final = (0, 3, 15)
"""Elements before the one that is named which are kept."""


def small_cases(case: Case, message: str) -> Iterator[Case]:
    """The case, if it is small; else parts of it about the element that the message names."""
    if not _is_large(case):
        yield case
        return
    found = re.search(r"\[([\d, ]+)\]", message)
    place = tuple(map(int, found[1].split(","))) if found else ()
    lengths = {size for array in case.inputs.values() for size in array.shape if size > _LONG}
    for before in _BEFORE:
        for index in dict.fromkeys([*place, 0]):
            inputs = case.inputs
            for length in lengths:
                inputs = {name: _part(array, length, index, before) for name, array in inputs.items()}
            part = replace(case, inputs=inputs, out_grads=())
            if not _is_large(part):
                yield part


def _is_large(case: Case) -> bool:
    return any(array.size > MOST_ELEMENTS for array in case.inputs.values())


def _part(array: Array, length: int, index: int, before: int) -> Array:
    """The array with each axis of a length cut to some elements that end with `index`."""
    last = min(index, length - 1)
    part = slice(max(0, last - before), last + 1)
    return np.ascontiguousarray(array[tuple(part if size == length else slice(None) for size in array.shape)])

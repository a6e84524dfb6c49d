"""Maxima of windows with the place of each.

The gradient reads a byte for each window, and neither data nor output; finding the places once more takes
twice the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, Final

from operad_pooling.fold import fold_max
from operad_pooling.windows import Axis, Index, taps
from operad_sdk import Array

NO_PLACE: Final = 255
"""Place of the maximum of a window with NaN, or outside the data."""


def pool_with_places(xp: Any, data: Array, axes: Sequence[Axis], output: Array, places: Array) -> None:
    """Write the largest element of each window, and the number, in reading order, of the first of them."""
    fold_max(xp, data, axes, output)
    places[...] = NO_PLACE
    for number, outputs, elements in reversed([*_elements(axes)]):  # the first overwrites the others
        places[outputs][data[elements] == output[outputs]] = number


def spread_places(xp: Any, values: Array, places: Array, axes: Sequence[Axis], out: Array) -> None:
    """Write the adjoint: each window's value goes to its element, and products with zero to the others."""
    out[...] = 0
    for number, outputs, elements in _elements(axes):
        out[elements] += xp.multiply(values[outputs], places[outputs] == number)


def _elements(axes: Sequence[Axis]) -> Iterator[tuple[int, Index, Index]]:
    """Number of each element of a window, the windows that have it, and these elements."""
    lead = (slice(None),) * axes[0].axis
    for found in product(*map(taps, axes)):
        number = 0
        for axis, tap in zip(axes, found, strict=True):
            number *= axis.kernel
            number += tap.elements.start - tap.outputs.start * axis.stride + axis.pad
        yield number, (*lead, *[tap.outputs for tap in found]), (*lead, *[tap.elements for tap in found])

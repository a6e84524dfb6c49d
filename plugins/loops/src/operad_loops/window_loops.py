"""Maxima of windows of 2 x 2 and where they are, in compiled loops; imported only where numba is installed.

Each loop goes along a row with distances known when it is compiled, and has no branches: so it becomes
vector code. (A choice between a value and zero would be compiled to a branch; a product with 0 or 1 is not.)
"""

from typing import Any

import numpy as np

from operad_sdk.loops import loop


@loop
def pool(data: Any, out: Any, places: Any) -> None:
    """Write the largest element of each window, and which of the four comes first, or 255 for NaN.

    Args:
        data: (planes, H, W).
        out: (planes, rows, columns), of which there are at most half as many; `places` likewise, in bytes.
    """
    for plane in range(out.shape[0]):
        for y in range(out.shape[1]):
            _row(data[plane, 2 * y], data[plane, 2 * y + 1], out[plane, y], places[plane, y])


@loop
def _row(above: Any, below: Any, out: Any, places: Any) -> None:
    for x in range(len(out)):
        best, place = above[2 * x], np.uint8(0)
        other = above[2 * x + 1]
        is_new = (other > best) | np.isnan(other)
        best, place = (other if is_new else best), (np.uint8(1) if is_new else place)
        other = below[2 * x]
        is_new = (other > best) | np.isnan(other)
        best, place = (other if is_new else best), (np.uint8(2) if is_new else place)
        other = below[2 * x + 1]
        is_new = (other > best) | np.isnan(other)
        best, place = (other if is_new else best), (np.uint8(3) if is_new else place)
        out[x] = best
        places[x] = np.uint8(255) if np.isnan(best) else place


@loop
def spread(heads: Any, places: Any, out: Any) -> None:
    """Write the adjoint: each window's value goes to its element, and zero to the others.

    Args:
        heads: (planes, rows, columns); `places` as `pool` writes them.
        out: (planes, H, W); what is in no window is left as it is.
    """
    for plane in range(heads.shape[0]):
        for y in range(heads.shape[1]):
            head, place = heads[plane, y], places[plane, y]
            _spread_row(head, place, np.uint8(0), out[plane, 2 * y])
            _spread_row(head, place, np.uint8(2), out[plane, 2 * y + 1])


@loop
def _spread_row(heads: Any, places: Any, first: Any, out: Any) -> None:
    second = first + np.uint8(1)
    for x in range(len(heads)):
        out[2 * x] = heads[x] * heads.dtype.type(places[x] == first)
        out[2 * x + 1] = heads[x] * heads.dtype.type(places[x] == second)

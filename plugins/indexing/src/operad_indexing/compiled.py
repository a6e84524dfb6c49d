"""Loops over indices, compiled by numba on their first use; imported only where that is installed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numba

from operad_sdk import Array, DType

Loop = Callable[[Array, Array, Array], None]


def add_in_order(table: Array, places: Array, rows: Array) -> None:
    """`table[places[i]] += rows[i]`, one after another, so that sums do not depend on threads."""
    for i in range(len(places)):
        place = places[i]
        for column in range(table.shape[1]):
            table[place, column] += rows[i, column]


@cache
def adder(dtype: DType) -> Loop:
    """`add_in_order` for tables of `dtype`, contiguous; it runs without the interpreter's lock."""
    kind = f"Array({dtype.name}, 2, 'C', readonly=True)"
    loop: Loop = _compiled(
        add_in_order, f"void({dtype.name}[:,::1], Array(int64, 1, 'A', readonly=True), {kind})"
    )
    return loop


def _compiled(function: Loop, signature: str) -> Any:
    """Machine code is kept beside this file, or in the user's cache; where neither can be, in memory."""
    try:
        return numba.njit(signature, nogil=True, cache=True)(function)
    except RuntimeError:  # numba finds no folder to write to
        return numba.njit(signature, nogil=True)(function)

"""Loops over indices, compiled by numba on their first use; imported only where that is installed."""

from __future__ import annotations

from operad_sdk import Array, loop


@loop
def add_in_order(table: Array, places: Array, rows: Array) -> None:
    """`table[places[i]] += rows[i]`, one after another, so that sums do not depend on threads."""
    for i in range(len(places)):
        place = places[i]
        for column in range(table.shape[1]):
            table[place, column] += rows[i, column]

"""Loops over indices, compiled by numba on their first use; imported only where that is installed."""

from __future__ import annotations

from operad_sdk import Array, loop


@loop
def add_in_order(table: Array, positions: Array, rows: Array) -> None:
    """`table[positions[i]] += rows[i]`, one after another, so that sums do not depend on threads."""
    for i in range(len(positions)):
        position = positions[i]
        for column in range(table.shape[1]):
            table[position, column] += rows[i, column]


@loop
def most_named(positions: Array, counts: Array) -> int:
    """Count the last digits that occur most; `counts` are a power of two of zeros."""
    most = 0
    for i in range(len(positions)):
        digits = positions[i] & (len(counts) - 1)
        counts[digits] += 1
        most = max(most, counts[digits])
    return most

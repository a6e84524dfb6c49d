"""Adding rows to rows of a table, where one row may be named many times: the gradient of a look-up.

The order of additions is fixed, so that the same call gives the same bits with every engine and any
number of threads. On the host it is the order of the rows that are added: what a compiled loop
does for large calls, which is a kernel of its own, and `np.add.at` for others; both give the same bits. Half
precision is added in single precision, and what may have more rows than a block of `operad_sdk.sums` in
double, in a copy of those rows of the table that are named.

On a GPU additions at random positions are atomic, in an order that changes from run to run. So rows are
sorted by their position there, and neighbours with one position are added in pairs until none are left:
log2(n) rounds for n rows of one position.

No memory is taken that grows with the table; scratch memory is of the size of the added rows at most.
Refused: `np.add.at` with index arrays of several axes, which takes four times as long as one flat one, and
`np.add.reduceat` of sorted rows, which calls a loop for each position and column.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_sdk import Array, CompiledLoops, DType
from operad_sdk.sums import ADDED_IN_A_ROW

LOOPS: Final = CompiledLoops("operad_indexing.compiled", from_size=1 << 15)
"""Loops that pay from so many added elements: a call saves 0.1 ms there."""

_FLAT_SIZE: Final = 1 << 16
"""Elements that are added at a time by `np.add.at`, whose flat indices take eight bytes for each."""


def add_rows(xp: Any, table: Array, positions: Array, rows: Array, *, by_loop: bool = False) -> None:
    """`table[positions[i]] += rows[i]` for each i in order.

    Args:
        xp: The arrays' module.
        table: Changed in place; of any shape, whose elements in order are rows of K.
        positions: (n,) of int64, the numbers of rows.
        rows: (n, K), of the table's element type.
        by_loop: Whether a compiled loop adds them; to floating tables of the host alone.
    """
    if not rows.size:
        return
    add_in_order = _add_by_loop if by_loop else _add_in_order
    # mutant: 1 becomes 2: equivalent, because rows have two axes
    table_rows = xp.ascontiguousarray(table).reshape(-1, rows.shape[1])
    # mutant: equivalent, because it decides between ways to the same
    if not isinstance(table, np.ndarray):
        _add_in_pairs(xp, table_rows, positions, rows)
    elif (wide := _wide(table.dtype, positions, by_loop)) != table.dtype:
        named: Any = slice(None)
        if len(table_rows) > len(positions):
            named, positions = np.unique(positions, return_inverse=True)
        sums = table_rows[named].astype(wide)
        add_in_order(sums, positions.reshape(-1), rows.astype(np.float32, copy=False))
        with np.errstate(over="ignore"):
            table_rows[named] = sums
    else:
        add_in_order(table_rows, positions, rows)
    if not table.flags.c_contiguous:
        table[...] = table_rows.reshape(table.shape)


def _wide(dtype: DType, positions: Array, by_loop: bool) -> DType:
    """The type in which rows are added to a table of a floating type; of others their own."""
    if dtype not in (np.float16, np.float32):
        return dtype
    is_crowded = len(positions) > ADDED_IN_A_ROW and _most_named(positions, by_loop) > ADDED_IN_A_ROW
    return np.dtype(np.float64 if is_crowded else np.float32)


def _most_named(positions: Array, by_loop: bool) -> int:
    """A bound of how often one position occurs.

    Positions that share their last digits count as one, so that no table makes the memory larger.
    """
    size = 1 << len(positions).bit_length()
    if by_loop:
        most: int = LOOPS.most_named(np.ascontiguousarray(positions), np.zeros(size, np.int32))
        return most
    return int(np.bincount(positions & (size - 1)).max())


def _add_in_order(table: Array, positions: Array, rows: Array) -> None:
    """One row after another, in the arrays' own type; the table is contiguous."""
    # mutant: equivalent, because only the size of chunks changes, or rows have two axes
    flat, width = table.reshape(-1), table.shape[1]
    columns, step = np.arange(width), max(1, _FLAT_SIZE // width)
    for first in range(0, len(positions), step):
        part = slice(first, first + step)
        elements = positions[part, None] * width + columns
        np.add.at(flat, elements.reshape(-1), rows[part].reshape(-1).astype(table.dtype, copy=False))


def _add_by_loop(table: Array, positions: Array, rows: Array) -> None:
    """Likewise, by a compiled loop; of contiguous arrays, so that there is one for each element type."""
    LOOPS.add_in_order(table, np.ascontiguousarray(positions), np.ascontiguousarray(rows))


# mutant: equivalent, because arrays of the host do not come here
def _add_in_pairs(xp: Any, table: Array, positions: Array, rows: Array) -> None:
    """Neighbours of the same position, until each position has one row."""
    order = xp.argsort(positions, kind="stable")
    positions, rows = positions[order], rows[order]
    if rows.dtype == np.float16:
        rows = rows.astype(np.float32)
    while True:
        numbers = xp.arange(len(positions))
        is_first = xp.ones(len(positions), bool)
        is_first[1:] = positions[1:] != positions[:-1]
        if bool(is_first.all()):
            break
        firsts = xp.flatnonzero(is_first)
        rank = numbers - firsts[xp.cumsum(is_first) - 1]
        is_kept = rank % 2 == 0
        second = xp.flatnonzero(~is_kept)
        rows[second - 1] += rows[second]
        kept = xp.flatnonzero(is_kept)
        positions, rows = positions[kept], rows[kept]
    table[positions] = (table[positions] + rows).astype(table.dtype)

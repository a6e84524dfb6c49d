"""The numbers of elements in order, all of them or the first few; NaN is larger than any number."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_sdk import Array, Shape

_GROUPS: Final = 64
"""Into how many groups a row is dealt, at least, to find a few elements without sorting it."""


def first_numbers(data: Array, axis: int | None, k: int, is_ascend: bool) -> Array:
    """The numbers of the first `k` elements along an axis, in order."""
    if axis is None:
        data, axis = data.reshape(-1), 0
    rows = np.moveaxis(data, axis, -1)
    length = rows.shape[-1]
    # mutant: equivalent, because it decides between ways to the same
    if 1 <= k <= length // 8 and length >= 2 * _GROUPS and rows.size and isinstance(data, np.ndarray):
        order = _selected(rows.reshape(-1, length), k, is_ascend).reshape(*rows.shape[:-1], k)
    else:
        order = _sorted(rows, is_ascend)[..., : k if k >= 1 else length]
    return np.moveaxis(order, -1, axis)


def _sorted(rows: Array, is_ascend: bool) -> Array:
    """Numbers along the last axis; descending, read from the end, where equal ones must be turned first."""
    if is_ascend:
        return np.argsort(rows, axis=-1, kind="stable")
    turned = np.argsort(rows[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    return rows.shape[-1] - 1 - turned


def _selected(rows: Array, k: int, is_ascend: bool) -> Array:
    """`_sorted(rows)[:, :k]` of long rows, most of whose elements are never sorted.

    Elements are dealt out to groups. The k-th best of the groups' best elements is a limit that at least k
    elements reach, and seldom many more; only those are sorted. Equal elements can only make them more.
    """
    best: Any = np.minimum if is_ascend else np.maximum
    groups = max(_GROUPS, 4 * k)
    dealt = len(rows[0]) // groups * groups
    bests = best.reduce(rows[:, :dealt].reshape(len(rows), -1, groups), axis=1)
    rest = rows[:, dealt:]
    best(bests[:, : rest.shape[1]], rest, out=bests[:, : rest.shape[1]])
    # mutant: equivalent, because a limit that more elements reach gives the same
    last = k - 1 if is_ascend else groups - k
    # mutant: becomes np.partition: equivalent, because there are two axes
    limit = np.partition(bests, last, axis=1)[:, last, None]
    if np.isnan(bests).any():  # no comparison finds NaN
        return _sorted(rows, is_ascend)[:, :k]
    reaching = np.flatnonzero(rows <= limit if is_ascend else rows >= limit)
    row, number = np.divmod(reaching, rows.shape[1])
    order = _sorted(rows.reshape(-1)[reaching], is_ascend)
    order = order[np.argsort(row[order], kind="stable")]
    firsts = np.searchsorted(row, np.arange(len(rows)))
    return number[order[firsts[:, None] + np.arange(k)]]


def elements_at(xp: Any, order: Array, shape: Shape, axis: int | None) -> Any:
    """An index of the elements of an array of `shape` that have the numbers `order`."""
    if axis is None:
        return xp.unravel_index(order, shape)
    index = list(xp.ogrid[tuple(slice(length) for length in order.shape)])
    index[axis] = order
    return tuple(index)

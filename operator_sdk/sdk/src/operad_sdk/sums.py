"""The rule of sums: at most 128 additions in a row in the operands' type, blocks added in double, rounded once.

The error of a sum that is added up one by one grows with its length: of a million equal rows in single
precision the sum is 1 % off. NumPy adds the elements of a *run*, which lie one behind the other in memory, in
pairs of blocks, and everything else one by one. So runs are left to NumPy. Along any other axis rows are added
in `GROUP`s, the groups of a block by themselves, and blocks in double precision, again by blocks. A block is
what NumPy adds of a run at a time. `operad_sdk.vector` adds in the same way, in registers.

Rows of a few elements are put side by side first, several to a row: NumPy calls a loop for each row.

On a device CuPy's own reductions are taken, whose threads add few elements each; the tolerance there is 1e-5.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np

from operad.operator import Array

ADDED_IN_A_ROW: Final = 128
"""Additions in the operands' type that one result may have behind it: a block's."""
GROUP: Final = 32
"""Rows that are added one after another. A block is 4 of these: equal rows, whose roundings all go in one
direction, are then added to within 6e-7."""
_FEW: Final = 64
"""Rows that NumPy adds one by one, in one call."""
_WIDE_ROW: Final = 2048
"""Elements from which a row is worth a call of a loop."""
_CHUNK: Final = 1 << 18
"""Elements whose groups are added before their blocks, so that they stay in the processor's cache."""
_DOUBLE: Final = np.dtype(np.float64)
_BY_BLOCKS: Final = (np.dtype(np.float32), _DOUBLE)


def blocked_sum(
    x: Array,
    axis: int | Sequence[int] | None = None,
    *,
    keepdims: bool = False,
    dtype: Any = None,
    out: Array | None = None,
) -> Any:
    """`numpy.sum` by the rule of sums.

    Args:
        x: Of any type and layout; of integers, and on devices, this is their own sum.
        axis: As for `numpy.sum`, as are the others.

    Example:
        >>> import numpy as np
        >>> from operad_sdk import blocked_sum
        >>> blocked_sum(np.full((1_000_000, 2), 0.1, "float32"), 0)
        array([100000., 100000.], dtype=float32)
    """
    if type(x) is not np.ndarray:
        return np.sum(x, axis=axis, dtype=dtype, keepdims=keepdims, out=out)
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    kind = x.dtype if dtype is None else np.dtype(dtype)
    if prod([x.shape[one] for one in axes]) <= _FEW or kind not in _BY_BLOCKS or not x.size or _is_run(x, axes):
        return np.add.reduce(x, axes, dtype, out, keepdims)
    axes = tuple(one % x.ndim for one in axes)
    found = _in_double(x if x.dtype == kind else x.astype(kind), axes)
    found = found if keepdims else found.reshape([n for i, n in enumerate(x.shape) if i not in axes])
    with np.errstate(over="ignore"):
        if out is None:
            return found.astype(kind)[()]
        out[...] = found
        return out


def blocked_cumsum(
    x: Array, axis: int | None = None, *, dtype: Any = None, out: Array | None = None
) -> Any:
    """`numpy.cumsum` with all sums of single precision added in double, and each rounded once.

    Args:
        x: Of any type and layout; of others, and on devices, these are their own sums.
        axis: As for `numpy.cumsum`, as are the others.

    Example:
        >>> import numpy as np
        >>> from operad_sdk import blocked_cumsum
        >>> blocked_cumsum(np.full(1_000_000, 0.1, "float32"))[-1]
        np.float32(100000.0)
    """
    if type(x) is not np.ndarray or (x.dtype if dtype is None else np.dtype(dtype)) != np.float32 or not x.size:
        return np.cumsum(x, axis=axis, dtype=dtype, out=out)
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis % x.ndim)
    found = np.empty(x.shape, np.float32) if out is None else out
    count, before = x.shape[axis], None
    step = max(1, _CHUNK // 16 * count // x.size)
    with np.errstate(over="ignore"):
        for first in range(0, count, step):
            sums = _part(x, axis, first, first + step).astype(_DOUBLE)
            if before is not None:
                _part(sums, axis, 0, 1)[...] += before
            np.add.accumulate(sums, axis, out=sums)
            _part(found, axis, first, first + step)[...] = sums
            before = _part(sums, axis, sums.shape[axis] - 1, sums.shape[axis])
    return found


def _is_run(x: Array, axes: tuple[int, ...]) -> bool:
    """Return whether an array's elements that become one lie one behind the other."""
    return x.flags.c_contiguous and all(one % x.ndim >= x.ndim - len(axes) for one in axes)


def _in_double(x: Array, axes: tuple[int, ...]) -> Array:
    """The sum with axes kept, in double precision."""
    order = sorted(range(x.ndim), key=lambda i: -abs(x.strides[i]))  # as they lie in memory
    y, gone = x.transpose(order), sorted(order.index(one) for one in axes)
    while gone and gone[-1] == y.ndim - 1:  # runs, which NumPy adds; what is not contiguous has shorter ones
        first = last = gone.pop()
        while gone and gone[-1] == first - 1 and y.flags.c_contiguous:
            first = gone.pop()
        y = np.add.reduce(y, tuple(range(first, last + 1)), keepdims=True)
    while gone:
        first = last = gone.pop()
        while gone and gone[-1] == first - 1 and y.flags.c_contiguous:
            first = gone.pop()
        before, shape, behind = y.shape[:first], y.shape[first : last + 1], y.shape[last + 1 :]
        y = _rows(y.reshape(*before, prod(shape), *behind), first).reshape(*before, *[1] * len(shape), *behind)
    return y.transpose(np.argsort(order))


def _rows(x: Array, axis: int) -> Array:
    """The sum along one axis, in double precision, by blocks."""
    count, before, behind = x.shape[axis], x.shape[:axis], x.shape[axis + 1 :]
    if count <= _FEW:
        return np.add.reduce(x, axis).astype(_DOUBLE, copy=False)
    width = prod(behind)
    beside = min(_WIDE_ROW // width, count // GROUP)
    if beside < 2 or not x.flags.c_contiguous:
        return _blocks(x, axis)
    whole = count // beside * beside
    lines = _part(x, axis, 0, whole).reshape(*before, whole // beside, beside * width)
    found = np.add.reduce(_rows(lines, axis).reshape(*before, beside, *behind), axis)
    return found if whole == count else found + _rows(_part(x, axis, whole, count), axis)


def _blocks(x: Array, axis: int) -> Array:
    count, before, behind = x.shape[axis], x.shape[:axis], x.shape[axis + 1 :]
    whole = count // ADDED_IN_A_ROW * ADDED_IN_A_ROW
    step = max(1, _CHUNK * count // x.size // ADDED_IN_A_ROW) * ADDED_IN_A_ROW
    parts = []
    for first in range(0, whole, step):
        part = _part(x, axis, first, min(first + step, whole))
        groups = np.add.reduce(part.reshape(*before, -1, GROUP, *behind), axis + 1)
        parts.append(np.add.reduce(groups.reshape(*before, -1, ADDED_IN_A_ROW // GROUP, *behind), axis + 1))
    if whole < count:
        parts.append(np.add.reduce(_part(x, axis, whole, count), axis, keepdims=True))
    return _rows(np.concatenate(parts, axis).astype(_DOUBLE), axis)


def _part(x: Array, axis: int, first: int, last: int) -> Array:
    return x[(slice(None),) * axis + (slice(first, last),)]

"""The rule of sums: at most 128 additions in a row in the operands' type, blocks in double, rounded once.

The error of a sum that is added up one by one grows with its length: of a million equal rows in single
precision the sum is 1 % off. NumPy adds the elements of a *run*, which lie one behind the other in memory, in
pairs of blocks, and everything else one by one. So runs are left to NumPy. Along any other axis rows are
added in groups, a few groups in a block, and blocks in double precision, in the same way. `operad_sdk.vector`
adds by the same rule, in registers.

Rows of a few elements are put side by side first, several to a row: NumPy calls a loop for each row.

On a device CuPy's own reductions are taken, whose threads add few elements each; the tolerance there is 1e-5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from operad.operator import Array

ADDED_IN_A_ROW: Final = 128
"""Additions in the operands' type that one result may have behind it: a block's."""
_GROUP: Final = 42
"""Rows that are added one after another. Equal rows, whose roundings may all go in one direction, are then
added to within 8e-7; groups of a power of two are worse, as a power of two is what their sums reach last."""
_BLOCK: Final = ADDED_IN_A_ROW // _GROUP * _GROUP
_FEW: Final = 64
"""Rows that NumPy adds one by one, in one call: to within 1e-6, if they are equal."""
_WIDE_ROW: Final = 4096
"""Elements from which a row is worth a call of a loop."""
_CHUNK: Final = 1 << 18
"""Elements whose groups are added before their blocks, so that groups stay in the processor's cache."""
_DOUBLE: Final = np.dtype(np.float64)
_BY_BLOCKS: Final = (np.dtype(np.float32), _DOUBLE)
_reduce: Final[Callable[..., Any]] = np.add.reduce


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
        >>> total = blocked_sum(np.full((1_000_000, 2), 0.1, "float32"), 0)
        >>> bool(np.all(abs(total / 1e5 - 1) < 1e-6))
        True
    """
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    if type(x) is not np.ndarray:
        return np.sum(x, axis=axes, keepdims=keepdims, **_given(dtype=dtype, out=out))
    kind, count = x.dtype if dtype is None else np.dtype(dtype), prod([x.shape[one] for one in axes])
    if kind not in _BY_BLOCKS or count <= _FEW or not x.size or _is_run(x, axes):
        return _reduce(x, axes, dtype, out, keepdims)
    axes = tuple(one % x.ndim for one in axes)
    found = _in_double(x if x.dtype == kind else x.astype(kind), axes)
    found = found if keepdims else found.reshape([n for i, n in enumerate(x.shape) if i not in axes])
    with np.errstate(over="ignore"):
        if out is None:
            return found.astype(kind)[()]
        out[...] = found
        return out


def blocked_cumsum(x: Array, axis: int | None = None, *, dtype: Any = None, out: Array | None = None) -> Any:
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
    is_own = type(x) is not np.ndarray or (x.dtype if dtype is None else np.dtype(dtype)) != np.float32
    if is_own or not x.size:
        return np.cumsum(x, axis=axis, **_given(dtype=dtype, out=out))
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


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


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
        y = _reduce(y, tuple(range(first, last + 1)), keepdims=True)
    while gone:
        first = last = gone.pop()
        while gone and gone[-1] == first - 1 and y.flags.c_contiguous:
            first = gone.pop()
        before, shape, behind = y.shape[:first], y.shape[first : last + 1], y.shape[last + 1 :]
        rows = y.reshape(*before, prod(shape), *behind)
        y = _rows(rows, first).reshape(*before, *[1] * len(shape), *behind)
    return y.transpose(np.argsort(order))


def _rows(x: Array, axis: int) -> Array:
    """The sum along one axis, in double precision, by blocks."""
    count, before, behind = x.shape[axis], x.shape[:axis], x.shape[axis + 1 :]
    if count <= _FEW:
        return _reduce(x, axis).astype(_DOUBLE, copy=False)
    width = prod(behind)
    beside = min(_WIDE_ROW // width, count // _GROUP)
    if beside < 2 or not x.flags.c_contiguous:
        return _blocks(x, axis)
    whole = count // beside * beside
    lines = _part(x, axis, 0, whole).reshape(*before, whole // beside, beside * width)
    found = _rows(_rows(lines, axis).reshape(*before, beside, *behind), axis)
    return found if whole == count else found + _rows(_part(x, axis, whole, count), axis)


def _blocks(x: Array, axis: int) -> Array:
    count, before, behind = x.shape[axis], x.shape[:axis], x.shape[axis + 1 :]
    whole = count // _BLOCK
    step = max(1, _CHUNK * count // x.size // _BLOCK)
    rest = range(whole * _BLOCK, count, _GROUP)
    blocks = np.empty((*before, whole + len(rest), *behind), x.dtype)
    groups = np.empty((*before, min(step, whole), _BLOCK // _GROUP, *behind), x.dtype)
    for first in range(0, whole, step):
        last = min(first + step, whole)
        rows = _part(x, axis, first * _BLOCK, last * _BLOCK).reshape(*before, -1, _GROUP, *behind)
        some = _part(groups, axis, 0, last - first)
        _reduce(rows, axis + 1, None, some.reshape(*before, -1, *behind))
        _reduce(some, axis + 1, None, _part(blocks, axis, first, last))
    for number, first in enumerate(rest, whole):
        rows = _part(x, axis, first, first + _GROUP)
        _reduce(rows, axis, None, _part(blocks, axis, number, number + 1), keepdims=True)
    return _rows(blocks.astype(_DOUBLE), axis)


def _part(x: Array, axis: int, first: int, last: int) -> Array:
    return x[(slice(None),) * axis + (slice(first, last),)]

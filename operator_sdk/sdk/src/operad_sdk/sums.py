"""The rule of sums: at most 128 additions in a row in the operands' type, blocks in double, rounded once.

The error of a sum that is added up one by one grows with its length: of a million equal rows in single
precision the sum is 1 % off. NumPy adds the elements of a *run*, which lie one behind the other in memory, in
pairs of blocks, and everything else one by one. So runs are left to NumPy. Along any other axis blocks of
rows are multiplied with ones, by BLAS, and their sums are added in double precision, in the same way.
`operad_sdk.vector` adds by the same rule, in registers.

A product with ones reads several rows at a time: of (4096, 1024) it takes 0.7 of the time of NumPy's sum,
while the same blocks added by NumPy take 1.2. BLAS has one thread meanwhile, so that bits do not depend on
the number of threads.

Rows of a few elements are put side by side first, several to a row: BLAS is called for each block.

On a device CuPy's own reductions are taken, whose threads add few elements each; the tolerance there is 1e-5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from operad.engine import run_single
from operad.first_use import import_module
from operad.operator import Array, OpContext
from operad_sdk.form_kernels import reason_against

ADDED_IN_A_ROW: Final = 128
"""Additions in the operands' type that one result may have behind it, at most."""
_BLOCK: Final = 56
"""Rows of a product. Equal rows, whose roundings may all go in one direction, are added to within 9e-7 if a
BLAS adds them one after another."""
_FEW: Final = 64
"""Rows that NumPy adds one by one, in one call: to within 1e-6, if they are equal."""
_WIDE_ROW: Final = 2048
"""Elements from which a row is worth a call of a loop."""
PREFIXES_IN_VECTORS: Final = 1 << 11
"""Prefixes from which vector code computes them."""
_PREFIXES: Final = 1 << 14
"""Prefixes that are computed at a time, in double precision."""
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
    x = x if x.dtype == kind else x.astype(kind)
    found = _rows(x, 0)[None] if axes == (0,) and x.flags.c_contiguous else _in_double(x, axes)
    found = found if keepdims else found.reshape([n for i, n in enumerate(x.shape) if i not in axes])
    with np.errstate(over="ignore"):
        if out is None:
            return found.astype(kind)[()]
        out[...] = found
        return out


def blocked_cumsum(
    x: Array,
    axis: int | None = None,
    *,
    dtype: Any = None,
    out: Array | None = None,
    is_backwards: bool = False,
    op_ctx: OpContext | None = None,
) -> Any:
    """`numpy.cumsum` with all sums of single precision added in double, and each rounded once.

    Args:
        x: Of any type and layout; of others, and on devices, these are their own sums.
        axis: As for `numpy.cumsum`, as are the others.
        is_backwards: Whether sums begin at the last element.
        op_ctx: Whose threads compute parts of large arrays; None: the calling thread alone.

    Example:
        >>> import numpy as np
        >>> from operad_sdk import blocked_cumsum
        >>> blocked_cumsum(np.full(1_000_000, 0.1, "float32"))[-1]
        np.float32(100000.0)
    """
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis % x.ndim)
    if hasattr(x, "prefix_sums"):  # of a trace
        found = x.prefix_sums(axis, dtype, is_backwards)
        if out is not None:
            out[...] = found
        return found if out is None else out
    is_plain = type(x) is np.ndarray
    is_single = is_plain and bool(x.size) and (x.dtype if dtype is None else np.dtype(dtype)) == np.float32
    if is_single and out is None and x.strides[axis] < 0:  # read as it lies
        own, turned = np.flip(x, axis), not is_backwards
        found = blocked_cumsum(own, axis, dtype=dtype, is_backwards=turned, op_ctx=op_ctx)
        return np.flip(found, axis)
    if is_single and x.size >= PREFIXES_IN_VECTORS and reason_against() is None:
        is_target = out is not None and out.dtype == np.float32 and out.flags.c_contiguous
        found = out if is_target else np.empty(x.shape, np.float32)
        fill = import_module("operad_sdk.vector.prefixes").fill_prefixes
        given = np.ascontiguousarray(x, np.float32)
        fill(given, axis, found, is_backwards=is_backwards, op_ctx=op_ctx)
    else:
        x = np.flip(x, axis) if is_backwards else x
        target = out if is_plain and not is_backwards else None
        if is_single:
            found = np.empty(x.shape, np.float32) if target is None else target
            with np.errstate(over="ignore"):
                _fill_prefixes(x, axis, found)
        else:
            found = np.cumsum(x, axis=axis, **_given(dtype=dtype, out=target))
        found = np.flip(found, axis) if is_backwards else found
    if out is None or found is out:
        return found
    out[...] = found
    return out


def _fill_prefixes(x: Array, axis: int, out: Array) -> None:
    """Write the prefixes along an axis, in parts that fit into the processor's cache."""
    before, step = None, max(1, _PREFIXES * len(x) // x.size)
    for first in range(0, len(x), step):
        part, into = x[first : first + step], out[first : first + step]
        if axis and part.size > _PREFIXES:  # of one element along the first axis
            _fill_prefixes(part[0], axis - 1, into[0])
            continue
        sums = part.astype(_DOUBLE)
        if before is not None and not axis:
            sums[0] += before
        np.add.accumulate(sums, axis, out=sums)
        into[...] = sums
        before = sums[-1]


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
    beside = min(_WIDE_ROW // width, count // _BLOCK)
    if beside < 2 or not x.flags.c_contiguous:
        return _blocks(x, axis)
    whole = count // beside * beside
    lines = _part(x, axis, 0, whole).reshape(*before, whole // beside, beside * width)
    found = _rows(_rows(lines, axis).reshape(*before, beside, *behind), axis)
    return found if whole == count else found + _rows(_part(x, axis, whole, count), axis)


def _blocks(x: Array, axis: int) -> Array:
    count, before, behind = x.shape[axis], x.shape[:axis], x.shape[axis + 1 :]
    number = count // _BLOCK
    rows = _part(x, axis, 0, number * _BLOCK).reshape(*before, number, _BLOCK, prod(behind))
    blocks = run_single(np.matmul, np.ones((1, _BLOCK), x.dtype), rows).reshape(*before, number, *behind)
    if number <= ADDED_IN_A_ROW:
        found = _reduce(blocks, axis, _DOUBLE)
    else:
        found = _rows(blocks.astype(_DOUBLE, copy=False), axis)
    return found + _reduce(_part(x, axis, number * _BLOCK, count), axis)


def _part(x: Array, axis: int, first: int, last: int) -> Array:
    return x[(slice(None),) * axis + (slice(first, last),)]

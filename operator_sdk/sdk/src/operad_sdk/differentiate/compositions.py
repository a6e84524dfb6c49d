"""Functions of NumPy that are composed of others: so they have forms, steps of programs and derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import pi
from typing import Any

import numpy as np

from operad_sdk.differentiate.dispatch import FUNCTIONS, UFUNCS
from operad_sdk.differentiate.tracing import plain


def array_of(x: Any) -> Any:
    """Array of the trace, or plain array of what is none."""
    return x if hasattr(x, "ndim") else np.asarray(x)


def _reshaped(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives an array another shape."""
    return lambda *xs: (
        xs[0].reshape(function(plain(xs[0])).shape) if len(xs) == 1 else tuple(map(function, xs))
    )


def _joined(widen: Callable[..., Any], axis: int) -> Callable[..., Any]:
    """A function that joins arrays after each was given more axes."""

    def join(tup: Sequence[Any]) -> Any:
        parts = [widen(array_of(x)) for x in tup]
        return np.concatenate(parts, axis=min(axis, parts[0].ndim - 1))

    return join


def _appended(arr: Any, values: Any, axis: int | None = None) -> Any:
    return np.concatenate([array_of(arr), array_of(values)], axis=axis)


def _diff(a: Any, n: int = 1, axis: int = -1, **ends: Any) -> Any:
    before = (slice(None),) * (axis % a.ndim)
    edge = a[(*before, slice(1))].shape
    wide = {name: array_of(x) if np.ndim(x) else np.broadcast_to(x, edge) for name, x in ends.items()}
    arrays = [wide.get("prepend"), a, wide.get("append")]
    a = np.concatenate([x for x in arrays if x is not None], axis=axis) if ends else a
    for _ in range(n):
        function = np.not_equal if a.dtype == bool else np.subtract
        a = function(a[(*before, slice(1, None))], a[(*before, slice(None, -1))])
    return a


def _selected(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    if len(condlist) != len(choicelist) or any(array_of(one).dtype != bool for one in condlist):
        raise NotImplementedError
    pairs = list(zip(condlist, choicelist, strict=True))[::-1]
    return reduce(lambda rest, pair: np.where(pair[0], pair[1], rest), pairs, default)


def _average(a: Any, axis: Any = None, weights: Any = None, *, keepdims: bool = False) -> Any:
    if weights is None:
        return np.mean(a, axis=axis, keepdims=keepdims)
    if np.ndim(plain(weights)) == 1 and isinstance(axis, int):
        weights = array_of(weights).reshape([-1 if i == axis % a.ndim else 1 for i in range(a.ndim)])
    elif np.shape(plain(weights)) != plain(a).shape:
        raise NotImplementedError
    total = np.sum(weights * np.ones_like(a), axis=axis, keepdims=keepdims)
    return np.sum(a * weights, axis=axis, keepdims=keepdims) / total


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    axes = tuple(range(x.ndim)) if axis is None else tuple(np.atleast_1d(axis).tolist())
    if ord is None or ord == ("fro" if len(axes) == 2 else 2):
        return np.sqrt(np.sum(x * x, axis=axes, keepdims=keepdims))
    if len(axes) != 1 or ord not in (1, np.inf, -np.inf):
        raise NotImplementedError
    over: Any = {1: np.sum, np.inf: np.max, -np.inf: np.min}[ord]
    return over(np.abs(x), axis=axes, keepdims=keepdims)


def _without_nan(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, axis=None, **options: function(a, axis, where=np.logical_not(np.isnan(a)), **options)


def _extremum_without_nan(function: Callable[..., Any], least: float) -> Callable[..., Any]:
    def compute(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if a.dtype.kind != "f":
            return function(a, axis=axis, keepdims=keepdims)
        is_nan = np.isnan(a)
        found = function(np.where(is_nan, least, a), axis=axis, keepdims=keepdims)
        return np.where(np.all(is_nan, axis=axis, keepdims=keepdims), np.nan, found)

    return compute


def _sinc(x: Any) -> Any:
    y = np.where(x == 0, 1, x) * pi
    return np.where(x == 0, 1, np.sin(y) / y)


def _vector_products(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    products = x1 * x2
    return np.sum(products, axis=axis, dtype=products.dtype)


def _inner(a: Any, b: Any) -> Any:
    return np.multiply(a, b) if 0 in (np.ndim(a), np.ndim(b)) else np.tensordot(a, b, (-1, -1))


def _alike(*arrays: Any) -> tuple[Any, ...]:
    shape = np.broadcast_shapes(*[np.shape(plain(x)) for x in arrays])
    return tuple([np.broadcast_to(x, shape) for x in arrays])


def _meshed(*xi: Any, sparse: bool = False, indexing: str = "xy") -> list[Any]:
    order = [1, 0, *range(2, len(xi))] if indexing == "xy" and len(xi) > 1 else range(len(xi))
    shapes = [[-1 if i == own else 1 for i in range(len(xi))] for own in order]
    apart = [array_of(x).reshape(shape) for x, shape in zip(xi, shapes, strict=True)]
    return apart if sparse else [x.copy() for x in _alike(*apart)]


def _turned(m: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Any:
    m = np.flip(m, tuple(axes)) if k % 4 > 1 else m
    return np.swapaxes(np.flip(m, axes[1]), *axes) if k % 2 else m


def _put_where(a: Any, mask: Any, values: Any) -> None:
    if np.ndim(values):
        raise NotImplementedError
    np.copyto(a, values, where=mask)


UFUNCS.update({
    np.divmod: lambda a, b: (np.floor_divide(a, b), np.remainder(a, b)),
    np.vecdot: _vector_products,
})  # fmt: skip
FUNCTIONS.update({
    np.ravel: lambda a, order="C": a.ravel(order), np.copy: lambda a, order="K": a.copy(),
    np.around: np.round, np.real: lambda val: val, np.atleast_1d: _reshaped(np.atleast_1d),
    np.atleast_2d: _reshaped(np.atleast_2d), np.atleast_3d: _reshaped(np.atleast_3d),
    np.matrix_transpose: lambda x, /: np.swapaxes(x, -1, -2), np.astype: lambda x, dtype, /: x.astype(dtype),
    np.hstack: _joined(np.atleast_1d, 1), np.vstack: _joined(np.atleast_2d, 0),
    np.dstack: _joined(np.atleast_3d, 2),
    np.column_stack: _joined(lambda x: x[:, None] if x.ndim == 1 else x, 1), np.append: _appended,
    np.hsplit: lambda ary, parts: np.split(ary, parts, axis=min(1, ary.ndim - 1)),
    np.vsplit: lambda ary, parts: np.split(ary, parts),
    np.diff: _diff, np.ptp: lambda a, axis=None, keepdims=False: np.subtract(
        np.max(a, axis=axis, keepdims=keepdims), np.min(a, axis=axis, keepdims=keepdims)),
    np.count_nonzero: lambda a, axis=None, *, keepdims=False: np.sum(a != 0, axis=axis, keepdims=keepdims),
    np.select: _selected, np.average: _average, np.linalg.norm: _norm,
    np.nansum: _without_nan(np.sum), np.nanmean: _without_nan(np.mean), np.nanvar: _without_nan(np.var),
    np.nanstd: _without_nan(np.std), np.nanprod: _without_nan(np.prod),
    np.nanmax: _extremum_without_nan(np.max, -np.inf), np.nanmin: _extremum_without_nan(np.min, np.inf),
    np.sinc: _sinc, np.inner: _inner, np.outer: lambda a, b: np.multiply.outer(a.ravel(), b.ravel()),
    np.vdot: lambda a, b: _inner(a.ravel(), b.ravel()),
    np.broadcast_arrays: _alike, np.meshgrid: _meshed, np.rot90: _turned,
    np.fliplr: lambda m: np.flip(m, 1), np.flipud: lambda m: np.flip(m, 0), np.putmask: _put_where,
    np.linalg.vecdot: _vector_products,
    np.polyval: lambda p, x: reduce(lambda y, factor: y * x + factor, array_of(p), np.zeros_like(x)),
    np.result_type: lambda *given: np.result_type(*map(plain, given)),
    np.linalg.multi_dot: lambda arrays: reduce(np.matmul, arrays),
})  # fmt: skip

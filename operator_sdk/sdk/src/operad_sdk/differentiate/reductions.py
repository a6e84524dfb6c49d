"""Derivatives of sums, means, products and extrema along axes."""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from operad_sdk.differentiate.dispatch import FUNCTIONS, METHODS
from operad_sdk.differentiate.errors import refusal
from operad_sdk.differentiate.tracing import FORM, Primitive, Traced, plain, value_alone
from operad_sdk.sums import blocked_cumsum, blocked_sum

Axis = Any
_LEAST_LENGTH: Final = 2
"""Of an axis for which a form holds, unless its length is 1."""


def kept(reduced: Any, shape: tuple[int, ...], axis: Axis) -> Any:
    """Result of a reduction of `shape`, with the removed axes as axes of length 1."""
    axes = range(len(shape)) if axis is None else [one % len(shape) for one in np.atleast_1d(axis)]
    return reduced.reshape([1 if i in axes else n for i, n in enumerate(shape)])


def _repeated(g: Any, x: Any, axis: Axis) -> Any:
    shape = plain(x).shape
    return np.broadcast_to(kept(g, shape, axis), shape)


_sum = Primitive(
    lambda x, axis, keepdims: blocked_sum(x, axis, keepdims=keepdims),
    lambda g, y, x, axis, keepdims: _repeated(g, x, axis),
    form="sum",
)


def _extremum(function: Any, name: str) -> Primitive:
    """Rule of an extremum along axes: all elements that equal it have its gradient."""
    return Primitive(
        lambda x, axis, keepdims: function(x, axis=axis, keepdims=keepdims),
        lambda g, y, x, axis, keepdims: _repeated(g, x, axis) * (x == kept(y, plain(x).shape, axis)),
        form=name,
    )


_max, _min = _extremum(np.max, "max"), _extremum(np.min, "min")
_prod = Primitive(
    lambda x, axis, keepdims: np.prod(x, axis=axis, keepdims=keepdims),
    lambda g, y, x, axis, keepdims: _repeated(g * y, x, axis) / x,
    form="prod",
)
_any, _all = (
    Primitive(lambda x, axis, keepdims, own=own: own(x, axis=axis, keepdims=keepdims), form=own.__name__)
    for own in (np.any, np.all)
)
NUMPYS_PREFIXES: Primitive = Primitive(
    blocked_cumsum,
    lambda g, y, x, axis, is_backwards=False: NUMPYS_PREFIXES(g, axis, is_backwards=not is_backwards),
    form="cumsum",
)
"""Prefix sums for which the author wrote NumPy's, which are slower."""
_own_prefixes: Primitive = Primitive(blocked_cumsum, *NUMPYS_PREFIXES.pullbacks, form="cumsum")


def _counts(weights: Any, positions: Any, length: int) -> Any:
    """Sums of the weights of each position."""
    return np.bincount(positions, weights, length)


_counted = Primitive(_counts, lambda g, y, weights, positions, length: g[positions], fits=True)


def _bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    return _counted(weights, value_alone(x), minlength)


def _reduction(primitive: Primitive, joined: np.ufunc, neutral: int | None = None) -> Any:
    """A reduction as NumPy calls it; `joined` is the function of two that it repeats."""

    def reduce(
        a: Any,
        axis: Axis = None,
        dtype: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        a = a if dtype is None else a.astype(dtype)
        if where is not True:
            left_out = neutral if initial is None or neutral is not None else a.dtype.type(initial)
            if left_out is None:
                raise ValueError(f"a {joined.__name__} with `where` needs `initial`")
            a = np.where(where, a, left_out)
        reduced = primitive(a, axis, keepdims)  # of short integers by NumPy in longer ones
        reduced = reduced if dtype is None else reduced.astype(dtype, copy=False)
        return reduced if initial is None else joined(reduced, reduced.dtype.type(initial))

    return reduce


def _count(a: Any, axis: Axis, keepdims: bool, where: Any) -> Any:
    """Number of the elements that a reduction reads."""
    if where is not True:
        return np.sum(np.ones_like(a), axis=axis, keepdims=keepdims, where=where)
    return prod(plain(a).shape[one] for one in (range(a.ndim) if axis is None else np.atleast_1d(axis)))


def _in_wide(moment: Any) -> Any:
    """A mean or variance in the type in which NumPy computes it; of half precision in single."""

    def compute(a: Any, axis: Axis = None, dtype: Any = None, **options: Any) -> Any:
        is_half = dtype is None and a.dtype == np.float16
        wide = dtype or (np.float32 if is_half else np.float64 if a.dtype.kind in "iub" else a.dtype)
        found = moment(a.astype(wide, copy=False), axis, **options)
        return found.astype(a.dtype) if is_half else found

    return compute


def _mean(a: Any, axis: Axis = None, keepdims: bool = False, where: Any = True) -> Any:
    count = _count(a, axis, keepdims, where)
    return np.sum(a, axis=axis, keepdims=keepdims, where=where) / count


def _var(
    a: Any,
    axis: Axis = None,
    ddof: float = 0,
    keepdims: bool = False,
    where: Any = True,
    mean: Any = None,
    correction: float | None = None,
) -> Any:
    """The mean square of what is left where the mean, found before, is subtracted."""
    ddof = ddof if correction is None else correction
    apart = a - (np.mean(a, axis=axis, keepdims=True, where=where) if mean is None else mean)
    left = _count(a, axis, keepdims, where) - ddof
    if where is not True:
        apart, left = np.where(where, apart, 0), np.maximum(left, 0)
    elif isinstance(a, Traced) and a.level == FORM and ddof > _LEAST_LENGTH:
        raise refusal("the function decides by the lengths of axes, which may be less than `ddof`")
    else:
        left = max(left, 0)
    return np.sum(apart * apart, axis=axis, keepdims=keepdims) / left


def _truth(primitive: Primitive, neutral: bool) -> Any:
    """Find whether some or all elements are true, which has no derivative."""

    def reduce(a: Any, axis: Axis = None, keepdims: bool = False, where: Any = True) -> Any:
        a = value_alone(a)
        a = a if where is True else np.where(where, a != 0, neutral)
        return primitive(a, axis, keepdims)

    return reduce


def _cumulated(a: Any, axis: Axis = None, dtype: Any = None) -> Any:
    a = a if dtype is None else a.astype(dtype)
    return NUMPYS_PREFIXES(a.reshape(-1), 0) if axis is None else NUMPYS_PREFIXES(a, axis)


def _prefixes(a: Any, axis: int, dtype: Any, is_backwards: bool) -> Any:
    return _own_prefixes(a if dtype is None else a.astype(dtype), axis, is_backwards=is_backwards)


METHODS["prefix_sums"] = _prefixes
FUNCTIONS.update({
    np.sum: _reduction(_sum, np.add, 0), np.prod: _reduction(_prod, np.multiply, 1),
    np.max: _reduction(_max, np.maximum), np.amax: _reduction(_max, np.maximum),
    np.min: _reduction(_min, np.minimum), np.amin: _reduction(_min, np.minimum),
    np.any: _truth(_any, False), np.all: _truth(_all, True), np.mean: _in_wide(_mean), np.var: _in_wide(_var),
    np.std: _in_wide(lambda *args, **options: np.sqrt(_var(*args, **options))), np.cumsum: _cumulated,
    np.bincount: _bincount,
})  # fmt: skip

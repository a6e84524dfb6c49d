"""Derivatives of sums, means, products and extrema along axes."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from operad_sdk.differentiate.dispatch import FUNCTIONS, METHODS
from operad_sdk.differentiate.tracing import Primitive, plain, value_alone
from operad_sdk.sums import blocked_cumsum, blocked_sum

Axis = Any


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


# Each weight goes to the sum of its position.
_counted = Primitive(
    lambda weights, positions, length: np.bincount(positions, weights, length),
    lambda g, y, weights, positions, length: g[positions],
    fits=True,
)


def _bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    return _counted(weights, value_alone(x), minlength)


def _reduction(primitive: Primitive, joined: np.ufunc) -> Any:
    """A reduction as NumPy calls it; `joined` is the function of two that it repeats."""

    def reduce(
        a: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False, initial: Any = None
    ) -> Any:
        a = a if dtype is None else a.astype(dtype)
        reduced = primitive(a, axis, keepdims)
        return reduced if initial is None else joined(reduced, reduced.dtype.type(initial))

    return reduce


def _mean(a: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Any:
    if dtype is None and a.dtype == np.float16:  # whose sum may be beyond it
        return _mean(a, axis, np.float32, keepdims).astype(a.dtype)
    if dtype is None and a.dtype.kind in "iub":
        dtype = np.float64
    axes = range(a.ndim) if axis is None else np.atleast_1d(axis)
    count = prod(plain(a).shape[one] for one in axes)
    return np.sum(a, axis=axis, dtype=dtype, keepdims=keepdims) / max(count, 1)


def _truth(primitive: Primitive) -> Any:
    """Find whether some or all elements are true, which has no derivative."""
    return lambda a, axis=None, keepdims=False: primitive(value_alone(a), axis, keepdims)


def _cumulated(a: Any, axis: Axis = None, dtype: Any = None) -> Any:
    a = a if dtype is None else a.astype(dtype)
    return NUMPYS_PREFIXES(a.reshape(-1), 0) if axis is None else NUMPYS_PREFIXES(a, axis)


def _prefixes(a: Any, axis: int, dtype: Any, is_backwards: bool) -> Any:
    return _own_prefixes(a if dtype is None else a.astype(dtype), axis, is_backwards=is_backwards)


METHODS["prefix_sums"] = _prefixes
FUNCTIONS.update({
    np.sum: _reduction(_sum, np.add), np.prod: _reduction(_prod, np.multiply),
    np.max: _reduction(_max, np.maximum), np.amax: _reduction(_max, np.maximum),
    np.min: _reduction(_min, np.minimum), np.amin: _reduction(_min, np.minimum),
    np.any: _truth(_any), np.all: _truth(_all), np.mean: _mean, np.cumsum: _cumulated, np.bincount: _bincount,
})  # fmt: skip

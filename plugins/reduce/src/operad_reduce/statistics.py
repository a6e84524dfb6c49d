"""Reductions that NumPy and SciPy have: `var`, `std`, `logsumexp`, `median`, `quantile`, and counts.

As the other reductions they give an array of shape (1,) where no axis is left. Statistics of integers and
bool are float64, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor
from typing import Any, Final

import numpy as np

from operad_reduce.reduction import AXIS, KEEPDIMS, axes_of, count, unreduced
from operad_sdk import Array, Contract, OperatorProperty, blocked_sum, define, param
from operad_sdk.contract import REAL_RESULTS
from operad_sdk.element_types import real_of

_PARAMS: Final = {"axis": AXIS, "keepdims": KEEPDIMS}
DDOF: Final = {"ddof": param(int, 0, ge=0, doc="Subtracted from the number of elements to get the divisor.")}
_SPEC: Final = "data:(*S) -> output:(*reduced(S, axis, keepdims))"


def _by_numpy(function: Callable[..., Any], data: Array, axis: Any, keepdims: bool, **more: Any) -> Array:
    """The definition, for the contract checks."""
    found = np.asarray(function(data, axis=axis or None, keepdims=keepdims, **more))
    return found if keepdims else np.atleast_1d(found)


def _statistic(
    name: str, function: Any, gradient: Any, summary: str, example: tuple[str, ...], reference: Any,
    params: Any = (), element_cost: float | None = None, **contract: Any,
) -> type[OperatorProperty]:  # fmt: skip
    """A reduction of real numbers."""
    more: dict[str, Any] = {} if element_cost is None else {"element_cost": element_cost}
    return define(
        name, _SPEC, function, gradient, summary=summary, example=example, params=_PARAMS | dict(params),
        promote=real_of, compute_dtype="float32", **more,
        contract=Contract(reference=reference, result_types=REAL_RESULTS, **contract),
    )  # fmt: skip


def _freedom(data: Array, axis: Any, ddof: int) -> Any:
    """Divisor of sums of squares, a number of the data's type, which may be 0."""
    return data.dtype.type(max(count(data.shape, axis) - ddof, 0))


def _centred(data: Array, axis: Any) -> Array:
    mean = blocked_sum(data, axes_of(data.ndim, axis), keepdims=True) / (count(data.shape, axis) or np.nan)
    return data - mean


def variance(data: Array, axis: Any, ddof: int, output: Array) -> None:
    """Write the variances along axes."""
    squares = np.square(_centred(data, axis))
    # mutant: True becomes False: equivalent, because the quotients are given the output's shape
    total = blocked_sum(squares, axes_of(data.ndim, axis), keepdims=True)
    output[...] = (total / _freedom(data, axis, ddof)).reshape(output.shape)


def variance_gradient(output_grad: Array, data: Array, axis: Any, ddof: int) -> Array:
    """The gradient of `variance`."""
    share = output_grad * 2 / _freedom(data, axis, ddof)
    return _centred(data, axis) * unreduced(share, data.shape, axis)


def deviation(data: Array, axis: Any, ddof: int, output: Array) -> None:
    """Write roots of variances, in units of the largest distance from the mean: no square leaves the type."""
    axes, centred = axes_of(data.ndim, axis), _centred(data, axis)
    if not data.size:
        output[...] = np.nan
        return
    largest = np.max(np.abs(centred), axis=axes, keepdims=True)
    unit = np.where((largest > 0) & (largest < np.inf), largest, 1)
    total = blocked_sum(np.square(centred / unit), axes, keepdims=True)
    output[...] = (np.sqrt(total / _freedom(data, axis, ddof)) * unit).reshape(output.shape)


def deviation_gradient(output_grad: Array, data: Array, output: Array, axis: Any, ddof: int) -> Array:
    """Slope 0 where all elements are equal, as a length has at 0."""
    length = np.where(output == 0, output.dtype.type(np.inf), output)
    share = output_grad / _freedom(data, axis, ddof) / length
    return _centred(data, axis) * unreduced(share, data.shape, axis)


var = _statistic(
    "var", variance, variance_gradient,
    "The mean squared distance from the mean, of n - ddof elements; `dy/dx = 2 (x - mean) / (n - ddof)`. "
    "`sym.var` makes a variable: symbols have it as `variance`.",
    ("[[1, 3], [2, 2]]", "axis=1", "[1., 0.]"),
    lambda data, axis, keepdims, ddof: _by_numpy(np.var, data, axis, keepdims, ddof=ddof),
    DDOF, undefined="too few elements have no variance",
)  # fmt: skip
std = _statistic(
    "std", deviation, deviation_gradient,
    "The square root of the variance; `dy/dx = (x - mean) / ((n - ddof) y)`, and 0 where `y` is.",
    ("[[1, 3], [2, 2]]", "axis=1", "[1., 0.]"),
    lambda data, axis, keepdims, ddof: _by_numpy(np.std, data, axis, keepdims, ddof=ddof),
    DDOF, element_cost=8, undefined="too few elements have no variance",
)  # fmt: skip


def _shifted(data: Array, axis: Any) -> tuple[Array, Array]:
    """The largest element along axes, or 0 where that is infinite, and `e^(x - largest)`."""
    largest = np.max(data, axis=axes_of(data.ndim, axis), keepdims=True)
    largest = np.where(np.abs(largest) == np.inf, 0, largest)
    return largest, np.exp(data - largest)


def _logsumexp(data: Array, axis: Any, output: Array) -> None:
    if not data.size:
        output[...] = -np.inf
        return
    largest, powers = _shifted(data, axis)
    total = blocked_sum(powers, axes_of(data.ndim, axis), keepdims=True)
    output[...] = (np.log(total) + largest).reshape(output.shape)


def _logsumexp_gradient(output_grad: Array, data: Array, axis: Any) -> Array:
    """Not `e^(x - y)`, from whose rounded `y` digits are lost."""
    if not data.size:
        return output_grad.reshape(-1)[:0].reshape(data.shape)
    _, powers = _shifted(data, axis)
    total = blocked_sum(powers, axes_of(data.ndim, axis), keepdims=True)
    return powers / total * unreduced(output_grad, data.shape, axis)


logsumexp = _statistic(
    "logsumexp", _logsumexp, _logsumexp_gradient,
    "`y = ln(sum e^x)` along axes, without overflow; `dy/dx = e^x / sum e^x`. Of nothing, minus infinity.",
    ("[[0, 0], [1, -1000]]", "axis=1", "[0.6931, 1.    ]"),
    lambda data, axis, keepdims: _by_numpy(
        np.logaddexp.reduce, data, axis or tuple(range(data.ndim)), keepdims
    ),
    element_cost=5,
)  # fmt: skip


def rows_along(data: Array, axis: Any) -> Array:
    """The elements that become one along the last axis."""
    gone = axes_of(data.ndim, axis)
    kept = [one for one in range(data.ndim) if one not in gone]
    moved = np.transpose(data, (*kept, *gone))
    return moved.reshape((*moved.shape[: len(kept)], count(data.shape, axis)))


METHODS: Final[dict[str, Callable[[float], tuple[int, int, float]]]] = {
    "linear": lambda at: (floor(at), ceil(at), at - floor(at)),
    "lower": lambda at: (floor(at), floor(at), 0.0),
    "higher": lambda at: (ceil(at), ceil(at), 0.0),
    "nearest": lambda at: (round(at), round(at), 0.0),
    "midpoint": lambda at: (floor(at), ceil(at), 0.5 * (at != floor(at))),
}
"""Elements below and above a quantile, and how far it is from the first to the second."""


def quantile_of_rows(rows: Array, q: float, method: Callable[[float], tuple[int, int, float]]) -> Array:
    """The quantile of each row of elements in ascending order, of which there is one at least."""
    below, above, part = method(q * (rows.shape[-1] - 1))
    found = rows[..., below]
    if above != below and part:
        found = found * (1 - part) + rows[..., above] * part
    return np.where(np.isnan(rows[..., -1]), np.nan, found)  # NaN comes last


def _quantile(data: Array, axis: Any, q: float, interpolation: str, output: Array) -> None:
    rows = rows_along(data, axis)
    if not rows.size:
        output[...] = np.nan
        return
    found = quantile_of_rows(np.sort(rows, axis=-1), q, METHODS[interpolation])
    output[...] = found.reshape(output.shape)


def _quantile_gradient(output_grad: Array, data: Array, axis: Any, q: float, interpolation: str) -> Array:
    rows = rows_along(data, axis)
    if not rows.size:
        return output_grad.reshape(-1)[:0].reshape(data.shape)
    below, above, part = METHODS[interpolation](q * (rows.shape[-1] - 1))
    order, places = np.argsort(rows, axis=-1, kind="stable"), np.arange(rows.shape[-1], like=rows)
    head = output_grad.reshape((*rows.shape[:-1], 1))
    found = np.where(places == order[..., below, None], head * (1 - part), 0)
    if part:
        found = found + np.where(places == order[..., above, None], head * part, 0)
    gone = axes_of(data.ndim, axis)
    kept = [one for one in range(data.ndim) if one not in gone]
    moved = found.reshape([data.shape[one] for one in (*kept, *gone)])
    return np.transpose(moved, sorted(range(data.ndim), key=[*kept, *gone].__getitem__))


_TIES: Final = "of equal elements the first has the gradient"
median = _statistic(
    "median",
    lambda data, axis, output: _quantile(data, axis, 0.5, "linear", output),
    lambda output_grad, data, axis: _quantile_gradient(output_grad, data, axis, 0.5, "linear"),
    "The middle element in order along axes, or the mean of the middle two; these have the gradient.",
    ("[[3, 1, 2], [8, 5, 4]]", "axis=1", "[2., 5.]"),
    lambda data, axis, keepdims: _by_numpy(np.median, data, axis, keepdims),
    ties=_TIES, undefined="nothing has no median",
)  # fmt: skip
quantile = _statistic(
    "quantile", _quantile, _quantile_gradient,
    "The element in order along axes below which the part `q` lies, or one between two; "
    "these have the gradient.",
    ("[[3, 1, 2], [8, 5, 4]]", "q=0.25", "axis=1", "[1.5, 4.5]"),
    lambda data, axis, keepdims, q, interpolation: _by_numpy(
        np.quantile, data, axis, keepdims, q=q, method=interpolation
    ) if data.size else _by_numpy(np.sum, data, axis, keepdims) * np.nan,
    {
        "q": param(float, 0.5, ge=0, le=1, doc="Which part."),
        "interpolation": param(str, "linear", choices=(*METHODS,), doc="Padding between elements."),
    },
    ties=_TIES, undefined="nothing has no quantile",
)  # fmt: skip


def _count(name: str, dtype: str, function: Any, summary: str, result: str, reference: Any) -> Any:
    """A reduction to whether, or how often, elements are not 0."""

    def forward(data: Array, axis: Any, keepdims: bool, output: Array) -> None:
        output[...] = function(data, axis=axes_of(data.ndim, axis), keepdims=keepdims)

    return define(
        name, _SPEC.replace("output:", f"output:{dtype}"), forward, summary=summary,
        example=("[[1, 2], [0, 4]]", "axis=1", result), params=_PARAMS,
        contract=Contract(reference=reference, nan_policy="NaN is not 0"),
    )  # fmt: skip


all_ = _count(
    "all", "bool", np.all, "True where no element is 0 along axes; of nothing, too.", "array([ True, False])",
    lambda data, axis, keepdims: _by_numpy(np.prod, data != 0, axis, keepdims),
)  # fmt: skip
any_ = _count(
    "any", "bool", np.any, "True where an element is not 0 along axes; of nothing, False.",
    "array([ True,  True])", lambda data, axis, keepdims: _by_numpy(np.sum, data != 0, axis, keepdims) > 0,
)  # fmt: skip
count_nonzero = _count(
    "count_nonzero", "int64", lambda data, **over: np.sum(data != 0, dtype=np.int64, **over),
    "How many elements are not 0 along axes.", "array([2, 1])",
    lambda data, axis, keepdims: _by_numpy(np.sum, data != 0, axis, keepdims),
)  # fmt: skip

"""MXNet's `_npi_var`, `_npi_std` and `_npi_percentile`, whose types and shapes are other than those of `var`.

Without an axis they give an array without axes; `()` reduces none. Integers have integer variances.
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor, isfinite
from typing import Any, Final

import numpy as np

from operad.errors import ArgumentError
from operad_reduce.reduction import KEEPDIMS, axes_of
from operad_reduce.statistics import (
    DDOF,
    METHODS,
    deviation,
    deviation_gradient,
    quantile_of_rows,
    rows_along,
    variance,
    variance_gradient,
)
from operad_sdk import Array, Contract, OperatorProperty, Real, Shape, ShapeError, define, param

_AXIS: Final = param("shape", None, doc="The axes to reduce; left out: all.")
_TYPES: Final = (None, "float16", "float32", "float64", "int32", "int64", "int8")


def _axes(rank: int, axis: Any) -> tuple[int, ...]:
    """The axes to reduce, and one of length 1 behind the last, so that there always is one."""
    return (*(() if axis == () else axes_of(rank, axis)), rank)


def _kept(shape: Shape, axis: Any, keepdims: bool) -> Shape:
    gone = _axes(len(shape), axis)
    return tuple(1 if at in gone else length for at, length in enumerate(shape) if keepdims or at not in gone)


def _working(a: Array, output: Array) -> Array:
    """Data with one more axis, in the type of a real output."""
    return a[..., None].astype(output.dtype if output.dtype.kind == "f" else np.float64)


def _of_reals(dtype: Any, slope: Array) -> Array:
    """The slope, 0 where results are cut off to integers."""
    return slope if dtype is None or np.dtype(dtype).kind == "f" else slope * 0


def _statistic(
    name: str, function: Any, gradient: Any, summary: str, result: str, reference: Callable[..., Any],
    **options: Any,
) -> type[OperatorProperty]:  # fmt: skip
    """One of the two; `function` and `gradient` are those of `operad_reduce.statistics`."""

    def forward(a: Array, axis: Any, ddof: int, dtype: Any, keepdims: bool) -> Array:
        data = (
            a[..., None] if dtype is None else a[..., None].astype(np.result_type(a.dtype, np.dtype(dtype)))
        )
        found = np.empty_like(data, shape=_kept(a.shape, axis, keepdims))
        function(data, _axes(a.ndim, axis), ddof, found)
        return found

    return define(
        name, f"a:(*S) -> {name[5:]}:dtype(*kept(S, axis, keepdims))", forward, gradient,
        summary=f"{summary} Of integers the whole part.", example=("[[1, 3], [2, 2]]", "axis=1", result),
        params={
            "axis": _AXIS,
            "dtype": param("dtype", None, choices=_TYPES, doc="Type of the output; left out: the data's."),
            **DDOF,
            "keepdims": KEEPDIMS,
        },
        functions={"kept": _kept}, compute_dtype="float32",
        integers_as="float64",
        contract=Contract(
            reference=lambda a, axis, dtype, ddof, keepdims: reference(
                a, axis=axis, ddof=ddof, keepdims=keepdims
            ),
            undefined="too few elements have no variance",
        ),
        source="NumpyMomentsParam, src/operator/numpy/np_moments_op.h.", **options,
    )  # fmt: skip


var = _statistic(
    "_npi_var", variance,
    lambda var_grad, a, axis, ddof, dtype: _of_reals(
        dtype, variance_gradient(var_grad, a[..., None], _axes(a.ndim, axis), ddof).reshape(a.shape)
    ),
    "The mean squared distance from the mean, of n - ddof elements; `dy/dx = 2 (x - mean) / (n - ddof)`.",
    "[1., 0.]", np.var,
)  # fmt: skip
std = _statistic(
    "_npi_std", deviation,
    lambda std_grad, a, std, axis, ddof, dtype: _of_reals(
        dtype, deviation_gradient(std_grad, a[..., None], std, _axes(a.ndim, axis), ddof).reshape(a.shape)
    ),
    "The square root of the variance; `dy/dx = (x - mean) / ((n - ddof) y)`, and 0 where `y` is.",
    "[1., 0.]", np.std, element_cost=8,
)  # fmt: skip

_METHODS: Final = METHODS | {"nearest": lambda at: (floor(at + 0.5), floor(at + 0.5), 0.0)}
"""MXNet takes the upper of two that are equally near."""


def _several(shape: Shape) -> Shape:
    if len(shape) > 1:
        raise ShapeError(f"q has shape {shape}, expected one axis at most")
    return shape


def _percentile(
    a: Array, q: Array | None, axis: Any, interpolation: str, q_scalar: float | None, output: Array
) -> None:
    asked: Any = [q_scalar] if q is None else q.reshape(-1)
    parts = [float(one) for one in asked]
    if wrong := [one for one in parts if isfinite(one) and not 0 <= one <= 100]:
        raise ArgumentError(f"_npi_percentile: q is {wrong[0]:g}, expected 0 to 100")
    rows = np.sort(rows_along(_working(a, output), _axes(a.ndim, axis)), axis=-1)
    if not rows.size or not parts:
        output[...] = np.nan
        return
    method = _METHODS[interpolation]
    found = [
        quantile_of_rows(rows, one / 100, method) if isfinite(one) else rows[..., 0] * np.nan for one in parts
    ]
    output[...] = np.stack(found).reshape(output.shape)


def _reference(a: Any, *q: Any, axis: Any, interpolation: Any, keepdims: bool, q_scalar: float | None) -> Any:
    """NumPy's, but for what lies between two that are equally near."""
    parts: Any = np.asarray(q[0] if q else q_scalar)
    named: Any = {"axis": axis, "keepdims": keepdims}
    if interpolation != "nearest":
        return np.percentile(a, parts, method=interpolation, **named)
    lower, higher = (np.percentile(a, parts, method=way, **named) for way in ("lower", "higher"))
    at = parts / 100 * (a.size // np.sum(a, **named).size - 1)
    return np.where((at % 1 < 0.5).reshape(at.shape + (1,) * (lower.ndim - at.ndim)), lower, higher)


percentile = define(
    "_npi_percentile",
    "a:(*S), q:any(*Q) if q_scalar is None"
    " -> output:(*several(Q), *kept(S, axis, keepdims)) if q_scalar is None,"
    " output:(*kept(S, axis, keepdims)) if q_scalar is not None",
    _percentile,
    summary="The elements in order along axes below which `q` percent lie, or a mean of two; no gradient.",
    example=("[[3, 1, 2], [8, 5, 4]]", "q_scalar=25", "axis=1", "[1.5, 4.5]"),
    params={
        "axis": _AXIS,
        "interpolation": param(str, "linear", choices=(*METHODS,), doc="Padding between elements."),
        "keepdims": KEEPDIMS,
        "q_scalar": param(float, None, ge=0, le=100, doc="One percentage in place of the argument `q`."),
    },
    functions={"kept": _kept, "several": _several},
    accepts="number",
    promote=lambda prop, dtype: dtype if dtype == np.float64 else np.dtype(np.float32),
    contract=Contract(
        inputs={"q": Real(0, 100)}, reference=_reference, undefined="nothing has no percentile",
        no_numeric_gradient="MXNet's gradient is 0",
    ),
    source="NumpyPercentileParam, src/operator/numpy/np_percentile_op-inl.h.",
)  # fmt: skip

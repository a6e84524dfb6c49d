"""`sum`, `mean` and `nansum`; of integers in their own type, where sums may wrap around.

Of bool too: whether any is true.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_reduce.reduction import axes_of, by_rows, count, reduction, unreduced
from operad_sdk import Array, Contract, blocked_sum, lock_cost_limit


@lock_cost_limit(5)
def _add(data: Array, axis: Any, exclude: bool, output: Array) -> None:
    target = unreduced(output, data.shape, axis, exclude)
    axes = axes_of(data.ndim, axis, exclude)
    blocked_sum(data, axes, keepdims=True, dtype=output.dtype, out=target)


def _add_gradient(output_grad: Array, axis: Any, exclude: bool, data_grad: Array) -> None:
    data_grad[...] = unreduced(output_grad, data_grad.shape, axis, exclude)


Sum = reduction(
    "sum",
    _add,
    _add_gradient,
    "The sum along axes; `dy/dx = 1`. Half precision is summed in single precision.",
    ("[[1, 2], [3, 4]]", "axis=1", "[3., 7.]"),
    compute_dtype="float32",
    contract=Contract(reference=by_rows(lambda rows: rows @ np.ones(rows.shape[1]))),
)


def _average(data: Array, axis: Any, exclude: bool, output: Array) -> None:
    _add(data, axis, exclude, output)
    output /= count(data.shape, axis, exclude) or np.nan


def _average_gradient(output_grad: Array, axis: Any, exclude: bool, data_grad: Array) -> None:
    share = output_grad / max(1, count(data_grad.shape, axis, exclude))
    data_grad[...] = unreduced(share, data_grad.shape, axis, exclude)


Mean = reduction(
    "mean",
    _average,
    _average_gradient,
    "The mean of n elements along axes; `dy/dx = 1 / n`. Of integers, rounded to zero; of nothing, NaN.",
    ("[[1, 2], [3, 4]]", "axis=1", "[1.5, 3.5]"),
    differs=" Differs: sums of integers do not wrap around on the way.",
    compute_dtype="float32",
    integers_as="float64",
    contract=Contract(
        reference=by_rows(lambda rows: rows @ np.ones(rows.shape[1]) / rows.shape[1]),
        undefined="nothing has no mean",
    ),
)


def _add_numbers(data: Array, axis: Any, exclude: bool, output: Array) -> None:
    _add(np.where(np.isnan(data), 0, data), axis, exclude, output)


def _add_numbers_gradient(output_grad: Array, data: Array, axis: Any, exclude: bool) -> Array:
    return ~np.isnan(data) * unreduced(output_grad, data.shape, axis, exclude)


NanSum = reduction(
    "nansum",
    _add_numbers,
    _add_numbers_gradient,
    "The sum along axes, where NaN counts as 0; `dy/dx = 1`, and 0 where x is NaN.",
    ("[[1, float('nan')], [3, 4]]", "axis=1", "[1., 7.]"),
    compute_dtype="float32",
    contract=Contract(
        nan_policy="NaN counts as 0: that is what the operator is for",
        reference=by_rows(lambda rows: np.nan_to_num(rows) @ np.ones(rows.shape[1])),
    ),
)

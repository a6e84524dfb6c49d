"""`prod` and `nanprod`; of integers in their own type, where products may wrap around; of bool, if all are.

The gradient is the product of the other elements. No division finds it, so that it is right, and can be
differentiated, where elements are 0, and where the product of all is beyond the range of the type: pairs are
multiplied, for each the product of all other pairs is found in the same way, and multiplied with the
element's partner.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_reduce.reduction import axes_of, by_rows, reduction, unreduced
from operad_sdk import Array, Contract


def _multiply(data: Array, axis: Any, exclude: bool, output: Array) -> None:
    target = unreduced(output, data.shape, axis, exclude)
    np.prod(data, axis=axes_of(data.ndim, axis, exclude), keepdims=True, dtype=output.dtype, out=target)


def _multiply_gradient(output_grad: Array, data: Array, axis: Any, exclude: bool) -> Array:
    """`dy/dx_i`, the product of all `x_j` with j other than i, times the gradient."""
    axes = axes_of(data.ndim, axis, exclude)
    kept = [one for one in range(data.ndim) if one not in axes]
    order = [*kept, *axes]
    moved = np.transpose(data, order)
    rows = moved.reshape((*moved.shape[: len(kept)], -1)) if data.size else moved
    others = _others(rows).reshape(moved.shape) if data.size else moved
    back = sorted(range(data.ndim), key=order.__getitem__)
    return np.transpose(others, back) * unreduced(output_grad, data.shape, axis, exclude)


def _others(rows: Array) -> Array:
    """For each element of a row the product of the others."""
    length = rows.shape[-1]
    if length == 1:
        return np.ones_like(rows)
    if length % 2:
        rows = np.concatenate([rows, np.ones_like(rows[..., :1])], axis=-1)
    first, second = rows[..., ::2], rows[..., 1::2]
    others = _others(first * second)
    return np.stack([others * second, others * first], axis=-1).reshape(rows.shape)[..., :length]


Prod = reduction(
    "prod",
    _multiply,
    _multiply_gradient,
    "The product along axes; `dy/dx` is the product of the others. Half precision is multiplied in single.",
    ("[[1, 2], [3, 4]]", "axis=1", "[ 2., 12.]"),
    differs=" Differs: the gradient is right where an element is 0.",
    compute_dtype="float32",
    contract=Contract(reference=by_rows(lambda rows: np.multiply.reduce(rows, 1))),
)


def _multiply_numbers(data: Array, axis: Any, exclude: bool, output: Array) -> None:
    _multiply(np.where(np.isnan(data), 1, data), axis, exclude, output)


def _multiply_numbers_gradient(output_grad: Array, data: Array, axis: Any, exclude: bool) -> Array:
    is_nan = np.isnan(data)
    return ~is_nan * _multiply_gradient(output_grad, np.where(is_nan, 1, data), axis, exclude)


NanProd = reduction(
    "nanprod",
    _multiply_numbers,
    _multiply_numbers_gradient,
    "The product along axes, where NaN counts as 1; `dy/dx` is the product of the others, and 0 for NaN.",
    ("[[2, float('nan')], [3, 4]]", "axis=1", "[ 2., 12.]"),
    differs=" Differs: the gradient is right where an element is 0.",
    compute_dtype="float32",
    contract=Contract(
        nan_policy="NaN counts as 1: that is what the operator is for",
        reference=by_rows(lambda rows: np.multiply.reduce(np.where(np.isnan(rows), 1, rows), 1)),
    ),
)

"""`norm`: the length of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_reduce.reduction import AXIS, KEEPDIMS, axes_of, by_rows, unreduced
from operad_sdk import Array, Contract, OperatorProperty, blocked_sum, gradient, operator, param


def _norm(data: Array, axis: Any, keepdims: bool, ord: int) -> Array:
    """Norm by a product with ones, for the contract checks."""
    return by_rows(lambda rows: (np.abs(rows) ** ord @ np.ones(rows.shape[1])) ** (1 / ord))(
        data, axis, keepdims
    )


@operator("norm")
class Norm(OperatorProperty):
    """The root of the sum of squares along axes; with `ord=1`, the sum of absolute values.

    Half precision is computed in single precision, integers in double. Squares that the element type
    cannot hold do no harm.

    Shapes:
        data: (...)
        output: The axes that are kept; (1,) where there are none.

    Example:
        >>> import operad as od
        >>> od.nd.norm(od.nd.array([[3, 4], [0, 2]]), axis=1).asnumpy()
        array([5., 2.], dtype=float32)

    Source: NormParam, src/operator/tensor/broadcast_reduce_op.h. Differs: the gradient of a norm that
    is 0 is 0, not NaN.
    """

    ord = param(int, 2, ge=1, le=2, doc="Order of the norm.")
    axis = AXIS
    out_dtype = param("dtype", None, doc="Element type of the output; left out: the data's.")
    keepdims = KEEPDIMS
    spec = "data:(*S) -> output:out_dtype(*reduced(S, axis, keepdims))"
    compute_dtype = "float32"
    integers_as = "float64"
    contract = Contract(reference=_norm)

    def forward(data: Array, ord: int, axis: Any, output: Array) -> None:
        """Sum, and take the root."""
        axes = axes_of(data.ndim, axis)
        with np.errstate(over="ignore"):
            total = blocked_sum(np.abs(data) if ord == 1 else data * data, axes, keepdims=True)
        if ord == 2:
            total = np.sqrt(total) if not data.size or _is_exact(total) else _scaled_norm(data, axes)
        output[...] = total.reshape(output.shape)

    @gradient(when=lambda prop: prop.ord == 1)
    def sign_gradient(output_grad: Array, data: Array, axis: Any) -> Array:
        """`d/dx = sign(x)`, 0 for NaN."""
        return np.nan_to_num(np.sign(data)) * unreduced(output_grad, data.shape, axis)

    @gradient(when=lambda prop: prop.ord == 2)
    def unit_gradient(output_grad: Array, data: Array, output: Array, axis: Any) -> Array:
        """`d/dx = x / norm`."""
        length, head = (unreduced(array, data.shape, axis) for array in (output, output_grad))
        unit = data / np.where(length == 0, length.dtype.type(np.inf), length)
        is_known = type(length) is np.ndarray
        if data.size and not (is_known and not np.isinf(length).any()):  # of numbers that the type holds
            scaled = data / _scale(data, axes_of(data.ndim, axis))
            own = np.sqrt(blocked_sum(np.square(scaled), axes_of(data.ndim, axis), keepdims=True))
            unit = np.where(np.isinf(length), scaled / own, unit)
        return unit * head


def _is_exact(total: Array) -> bool:
    """Return whether all sums of squares are in the range in which no square was lost."""
    limits = np.finfo(total.dtype)
    return bool(((total > limits.tiny / limits.eps) & (total < limits.max)).all())


def _scaled_norm(data: Array, axes: Any) -> Array:
    """The norm of the data divided by their largest, times that."""
    scale = _scale(data, axes)
    return np.sqrt(blocked_sum(np.square(data / scale), axes, keepdims=True)) * scale


def _scale(data: Array, axes: Any) -> Array:
    """The largest magnitude along axes; 1 where that is 0 or infinite."""
    largest = np.max(np.abs(data), axis=axes, keepdims=True)
    return np.where((largest > 0) & (largest < np.inf), largest, 1)

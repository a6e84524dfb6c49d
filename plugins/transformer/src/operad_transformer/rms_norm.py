"""Rows over their root mean square, times a weight: `RMSNorm`."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, blocked_sum, operator, param


def _deviation(data: Array, eps: float) -> Array:
    return np.sqrt((data * data).mean(axis=-1, keepdims=True) + eps)


def _reference(data: Array, weight: Array, eps: float) -> Array:
    squares = np.einsum("...d,...d->...", data, data) / data.shape[-1]
    return np.einsum("...d,d,...->...d", data, weight, 1 / np.sqrt(squares + eps))


@operator("RMSNorm")
class RMSNorm(OperatorProperty):
    """`data / sqrt(mean(data^2) + eps) * weight`, over the last axis.

    Shapes:
        data: (..., D).
        weight: (D,).
        output: As data.

    Example:
        >>> import operad as od
        >>> od.nd.RMSNorm(od.nd.array([[3, 4]]), od.nd.array([1, 5])).asnumpy().round(4)
        array([[0.8485, 5.6569]], dtype=float32)

    Source: Zhang and Sennrich, Root Mean Square Layer Normalization, equation 4.
    """

    spec = "data:(*B, D), weight:(D) -> output:(*B, D); D >= 1"
    accepts = "floating"
    compute_dtype = "float32"
    initializers = {"weight": '["One", {}]'}
    element_cost = 4.0
    eps = param(float, 1e-6, gt=0, doc="Added to the mean square.")
    contract = Contract(reference=_reference)

    def forward(data: Array, weight: Array, eps: float) -> Array:
        """The definition."""
        return data / _deviation(data, eps) * weight

    def data_grad(output_grad: Array, data: Array, weight: Array, eps: float) -> Array:
        """With `n = data / deviation`, `(g w - n mean(g w n)) / deviation`."""
        deviation = _deviation(data, eps)
        scaled, normal = output_grad * weight, data / deviation
        return (scaled - normal * (scaled * normal).mean(axis=-1, keepdims=True)) / deviation

    def weight_grad(output_grad: Array, data: Array, eps: float) -> Array:
        """`g n`, summed over the rows."""
        return blocked_sum(output_grad * data / _deviation(data, eps), tuple(range(data.ndim - 1)))

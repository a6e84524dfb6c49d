"""Normalization by the statistics of a batch, and what is above 0 of it."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, Real, operator, param

_ALL_BUT_CHANNELS = (0, 2, 3)


def _normal(data: Array, eps: float) -> tuple[Array, Array]:
    centred = data - data.mean(axis=_ALL_BUT_CHANNELS, keepdims=True)
    deviation = np.sqrt((centred * centred).mean(axis=_ALL_BUT_CHANNELS, keepdims=True) + eps)
    return centred / deviation, deviation


def _of_channels(vector: Array) -> Array:
    return vector.reshape(1, -1, 1, 1)


def _reference(data: Array, gamma: Array, beta: Array, eps: float) -> Array:
    mean, variance = (find(_ALL_BUT_CHANNELS, keepdims=True) for find in (data.mean, data.var))
    return np.maximum((data - mean) / np.sqrt(variance + eps) * _of_channels(gamma) + _of_channels(beta), 0)


@operator("author_batch_norm_relu")
class BatchNormRelu(OperatorProperty):
    """`max(0, normal(data) * gamma + beta)`, with the mean and deviation of each channel.

    Source: Ioffe and Szegedy, Batch Normalization, algorithm 1.
    """

    spec = "data:(N, C, H, W), gamma:(C), beta:(C) -> output:(N, C, H, W)"
    accepts = "floating"
    compute_dtype = "float32"
    eps = param(float, 1e-5, gt=0, doc="Added to the variance.")
    contract = Contract(
        reference=_reference,
        inputs={"data": Real(above=-16, below=16)},  # squares have to be in range
    )

    def forward(data: Array, gamma: Array, beta: Array, eps: float) -> Array:
        """The definition."""
        normal, _ = _normal(data, eps)
        return np.maximum(normal * _of_channels(gamma) + _of_channels(beta), 0)

    def backward(
        output_grad: Array, data: Array, gamma: Array, beta: Array, eps: float
    ) -> tuple[Array, Array, Array]:
        """Of all three, from the gradient where the output is above 0."""
        normal, deviation = _normal(data, eps)
        above = normal * _of_channels(gamma) + _of_channels(beta) > 0
        grad = np.where(above, output_grad, 0)
        scaled = grad * _of_channels(gamma)
        mean = scaled.mean(axis=_ALL_BUT_CHANNELS, keepdims=True)
        slope = (scaled * normal).mean(axis=_ALL_BUT_CHANNELS, keepdims=True)
        return (
            (scaled - mean - normal * slope) / deviation,
            (grad * normal).sum(axis=_ALL_BUT_CHANNELS),
            grad.sum(axis=_ALL_BUT_CHANNELS),
        )

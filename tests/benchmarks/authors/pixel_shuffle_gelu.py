"""Channels become places, are scaled, and go through a gate."""

from __future__ import annotations

import math

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, operator, param

_FACTOR = math.sqrt(2 / math.pi)


def _shuffled(data: Array, block: int) -> Array:
    """Depth to space."""
    n, c, h, w = data.shape
    parts = data.reshape(n, c // block**2, block, block, h, w).transpose(0, 1, 4, 2, 5, 3)
    return parts.reshape(n, c // block**2, h * block, w * block)


def _unshuffled(data: Array, block: int) -> Array:
    """Space to depth."""
    n, c, h, w = data.shape
    parts = data.reshape(n, c, h // block, block, w // block, block).transpose(0, 1, 3, 5, 2, 4)
    return parts.reshape(n, c * block**2, h // block, w // block)


def _gate(x: Array) -> Array:
    return np.tanh(_FACTOR * (x + 0.044715 * x**3))


def _gelu_slope(x: Array) -> Array:
    """`(1 + t) / 2 + x (1 - t^2) u' / 2` with `t = tanh(u)`."""
    t = _gate(x)
    return 0.5 * (1 + t) + 0.5 * x * (1 - t**2) * _FACTOR * (1 + 3 * 0.044715 * x**2)


def _reference(data: Array, gamma: Array, block: int) -> Array:
    n, c, h, w = data.shape
    output = np.zeros((n, c // block**2, h * block, w * block), data.dtype)
    for channel in range(c):
        target, place = divmod(channel, block**2)
        x = data[:, channel] * gamma[target]
        u = np.sqrt(2 / np.pi) * (x + 0.044715 * x * x * x)
        output[:, target, place // block :: block, place % block :: block] = x / (1 + np.exp(-2 * u))
    return output


@operator("author_pixel_shuffle_gelu")
class PixelShuffleGelu(OperatorProperty):
    """`gelu(gamma shuffle(data))`: each block of channels becomes a block of places of one channel.

    Source: Shi et al., Real-Time Single Image and Video Super-Resolution, equation 4; Hendrycks and Gimpel,
    Gaussian Error Linear Units, section 2, in the form with tanh.
    """

    spec = "data:(N, block*block*C, H, W), gamma:(C) -> output:(N, C, block*H, block*W)"
    accepts = "floating"
    compute_dtype = "float32"
    block = param(int, 2, ge=1, doc="The height and width of a block.")
    contract = Contract(reference=_reference)

    def forward(data: Array, gamma: Array, block: int) -> Array:
        """The definition."""
        x = _shuffled(data, block) * gamma[:, None, None]
        return 0.5 * x * (1 + _gate(x))

    def data_grad(output_grad: Array, data: Array, gamma: Array, block: int) -> Array:
        """The slope of the gate by gamma, in the places of the data."""
        scale = gamma[:, None, None]
        return _unshuffled(output_grad * _gelu_slope(_shuffled(data, block) * scale) * scale, block)

    def gamma_grad(output_grad: Array, data: Array, gamma: Array, block: int) -> Array:
        """The sum over samples and places."""
        shuffled = _shuffled(data, block)
        slope = _gelu_slope(shuffled * gamma[:, None, None])
        return (output_grad * slope * shuffled).sum(axis=(0, 2, 3))

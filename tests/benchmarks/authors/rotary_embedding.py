"""Positions of a sequence as angles."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, operator, param


def _turned(data: Array, base: float, sign: int) -> Array:
    length, width = data.shape[-2:]
    frequencies = base ** (-np.arange(0, width, 2) / width)
    angles = np.arange(length)[:, None] * frequencies
    cos, sin = np.cos(angles).astype(data.dtype), sign * np.sin(angles).astype(data.dtype)
    first, second = np.split(data, 2, axis=-1)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


def _reference(data: Array, base: float) -> Array:
    half = data.shape[-1] // 2
    output = np.zeros_like(data)
    for position in range(data.shape[-2]):
        for i in range(half):
            turn = np.exp(1j * position * base ** (-i / half))
            pair = (data[..., position, i] + 1j * data[..., position, half + i]) * turn
            output[..., position, i], output[..., position, half + i] = pair.real, pair.imag
    return output


@operator("author_rotary_embedding")
class RotaryEmbedding(OperatorProperty):
    """Each pair of a first and a second half of the last axis, turned by `position * base^(-2 i / d)`.

    Source: Su et al., RoFormer, equation 15, with the pairs of Llama.
    """

    spec = "data:(*B, T, 2*h) -> output:(*B, T, 2*h)"
    accepts = "floating"
    compute_dtype = "float32"
    base = param(float, 10000.0, gt=0, doc="The longest wave is so many turns of 1.")
    contract = Contract(reference=_reference)

    def forward(data: Array, base: float) -> Array:
        """The definition."""
        return _turned(data, base, 1)

    def data_grad(output_grad: Array, base: float) -> Array:
        """Turned back."""
        return _turned(output_grad, base, -1)

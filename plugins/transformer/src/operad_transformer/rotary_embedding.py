"""Positions of a sequence as angles: `rotary_embedding`."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from operad_sdk import Array, Contract, Integers, OperatorProperty, operator, param


@lru_cache(maxsize=64)
def _rates(width: int, base: float) -> Array:
    """By how much the angle of each pair grows from a position to the next."""
    # mutant: 1 becomes 2: equivalent, because widths are even
    return base ** (-np.arange(0, width, 2) / max(width, 1))


def _turned(data: Array, offset: Array | None, base: float, layout: str, sign: int) -> Array:
    length, width = data.shape[-2:]
    if offset is not None and length == 1:
        positions = offset
    else:
        positions = np.arange(length, like=data) + (0 if offset is None else offset)
    angles = positions[:, None] * np.asarray(_rates(width, base), like=data)
    cos, sin = np.cos(angles).astype(data.dtype), np.sin(angles).astype(data.dtype)
    sin = sin if sign > 0 else -sin
    if layout == "halves":
        first, second = data[..., : width // 2], data[..., width // 2 :]
        return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)
    first, second = data[..., ::2], data[..., 1::2]
    turned = np.stack([first * cos - second * sin, second * cos + first * sin], axis=-1)
    return turned.reshape(data.shape)


def _reference(data: Array, *offset: Array, base: float, layout: str) -> Array:
    half, output = data.shape[-1] // 2, np.zeros_like(data)
    for step in range(data.shape[-2]):
        for i in range(half):
            a, b = (i, half + i) if layout == "halves" else (2 * i, 2 * i + 1)
            position = step + (float(offset[0][0]) if offset else 0)
            turn = np.exp(1j * position * base ** (-i / half))
            pair = (data[..., step, a] + 1j * data[..., step, b]) * turn
            output[..., step, a], output[..., step, b] = pair.real, pair.imag
    return output


@operator("rotary_embedding")
class RotaryEmbedding(OperatorProperty):
    """Pair `i` of the last axis, of length `d`, turned by the angle `position * base^(-2 i / d)`.

    Shapes:
        data: (..., length, d), d even.
        offset: (1,), where use_offset is set.
        output: As data.

    Example:
        >>> import operad as od
        >>> od.nd.rotary_embedding(od.nd.array([[1, 0], [1, 0]])).asnumpy().round(4)
        array([[1.    , 0.    ],
               [0.5403, 0.8415]], dtype=float32)

    Source: Su et al., RoFormer, equation 15; the pairs of halves are those of Llama.
    """

    spec = "data:(*B, T, 2*h), offset:any(1) if use_offset -> output:(*B, T, 2*h)"
    accepts = {"data": "floating"}
    compute_dtype = "float32"
    base = param(float, 10000.0, gt=0, doc="The slowest pair turns once in some 2 pi base positions.")
    layout = param(
        str, "halves", choices=("halves", "pairs"),
        doc="Pair i is elements i and d / 2 + i (halves), or 2 i and 2 i + 1 (pairs).",
    )  # fmt: skip
    use_offset = param(bool, False, doc="Use the argument offset, the position of the first row.")
    contract = Contract(reference=_reference, inputs={"offset": Integers(0, 9)})

    def forward(data: Array, offset: Array | None, base: float, layout: str) -> Array:
        """The definition."""
        return _turned(data, offset, base, layout, 1)

    def data_grad(output_grad: Array, offset: Array | None, base: float, layout: str) -> Array:
        """Turned back."""
        return _turned(output_grad, offset, base, layout, -1)

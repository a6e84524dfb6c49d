"""Shares of each row among the places that a mask leaves."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, operator


def _shares(data: Array, mask: Array) -> Array:
    kept = np.where(mask, data, -np.inf)
    top = kept.max(axis=-1, keepdims=True, initial=-np.inf)
    powers = np.exp(kept - np.where(top > -np.inf, top, 0))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total > 0, total, 1)


def _reference(data: Array, mask: Array) -> Array:
    rows = np.zeros_like(data)
    for row, values, kept in zip(
        *(array.reshape(-1, data.shape[-1]) for array in (rows, data, mask)), strict=True
    ):
        powers = np.exp(values[kept] - values[kept].max(initial=-np.inf))
        row[kept] = powers / powers.sum()
    return rows


@operator("author_masked_softmax")
class MaskedSoftmax(OperatorProperty):
    """`softmax(data)` over the last axis, where `mask` is true; zeros elsewhere."""

    spec = "data:(*B, D), mask:bool(*B, D) -> output:(*B, D)"
    accepts = "floating"
    compute_dtype = "float32"
    contract = Contract(reference=_reference)

    def forward(data: Array, mask: Array) -> Array:
        """The definition."""
        return _shares(data, mask)

    def data_grad(output_grad: Array, output: Array) -> Array:
        """`p (g - sum(g p))`."""
        return output * (output_grad - (output_grad * output).sum(axis=-1, keepdims=True))

"""Shares of a few experts: `top_k_gating`."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, Distinct, OperatorProperty, operator, param


def _reference(data: Array, k: int) -> Array:
    rows = np.zeros_like(data)
    for row, logits in zip(*(array.reshape(-1, data.shape[-1]) for array in (rows, data)), strict=True):
        chosen = sorted(range(len(logits)), key=lambda i: logits[i])[-k:]
        row[chosen] = np.exp(logits[chosen] - np.logaddexp.reduce(logits[chosen]))
    return rows


@operator("top_k_gating")
class TopKGating(OperatorProperty):
    """`softmax` of the `k` largest of each row; zeros elsewhere.

    Shapes:
        data: (..., E), E at least k.
        output: As data.

    Example:
        >>> import operad as od
        >>> od.nd.top_k_gating(od.nd.array([[0, 2, 1, 2]])).asnumpy()
        array([[0. , 0.5, 0. , 0.5]], dtype=float32)

    Source: Shazeer et al., Outrageously Large Neural Networks, equations 3 and 5, without noise.
    """

    spec = "data:(*B, E) -> output:(*B, E); E >= k"
    accepts = "floating"
    compute_dtype = "float32"
    k = param(int, 2, ge=1, doc="Number of elements per row.")
    contract = Contract(reference=_reference, inputs={"data": Distinct()})

    def forward(data: Array, k: int) -> Array:
        """The definition."""
        rows = data.reshape(-1, data.shape[-1])
        chosen = np.argpartition(rows, -k, axis=-1)[:, -k:]
        logits = np.take_along_axis(rows, chosen, axis=-1)
        powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
        output = np.zeros_like(rows)
        output[np.arange(len(rows), like=chosen)[:, None], chosen] = powers / powers.sum(
            axis=-1, keepdims=True
        )
        return output.reshape(data.shape)

    def data_grad(output_grad: Array, output: Array) -> Array:
        """`p (g - sum(g p))`."""
        return output * (output_grad - (output_grad * output).sum(axis=-1, keepdims=True))

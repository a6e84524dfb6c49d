"""The loss of pairs of embeddings among all the others."""

from __future__ import annotations

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    Cost,
    OperatorProperty,
    Real,
    Shape,
    Tolerance,
    operator,
    param,
    product_cost,
)

_BOUNDED = Real(above=-16, below=16)  # squares have to be in range


def _lengths(data: Array, eps: float) -> Array:
    return np.sqrt((data * data).sum(axis=1, keepdims=True) + eps)


def _log_shares(logits: Array) -> Array:
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def _along(grad: Array, unit: Array, lengths: Array) -> Array:
    """The gradient of `x`, from that of `unit = x / length(x)`."""
    return (grad - unit * (grad * unit).sum(axis=1, keepdims=True)) / lengths


def _reference(query: Array, key: Array, temperature: float, eps: float) -> Array:
    losses = []
    for place, row in enumerate(query):
        lengths = np.sqrt((row @ row + eps) * (np.einsum("nd,nd->n", key, key) + eps))
        logits = key @ row / lengths / temperature
        losses.append(np.logaddexp.reduce(logits) - logits[place])
    return np.array([np.mean(losses)])


@operator("author_info_nce")
class InfoNce(OperatorProperty):
    """The mean of `-log softmax(cos(query, keys) / temperature)` at the key of the same row.

    Source: van den Oord et al., Representation Learning with Contrastive Predictive Coding, equation 4,
    with the logits of CLIP, figure 3.
    """

    spec = "query:(N, D), key:(N, D) -> output:(1); N >= 1"
    accepts = "floating"
    compute_dtype = "float32"
    temperature = param(float, 0.07, ge=0.01, doc="What cosines are divided by.")
    eps = param(float, 1e-6, gt=0, doc="Added to squares of lengths.")
    contract = Contract(
        reference=_reference,
        inputs={"query": _BOUNDED, "key": _BOUNDED},
        tolerances={
            "float32": Tolerance(1e-5, 1e-4, "a loss near 0 is the difference of two logits of up to 100"),
        },
    )

    def cost(self, in_shapes: list[Shape], out_shapes: list[Shape]) -> Cost:
        """The product of all pairs."""
        count, width = in_shapes[0]
        return product_cost(2.0 * count * count * width, *in_shapes, (count, count))

    def forward(query: Array, key: Array, temperature: float, eps: float) -> Array:
        """The definition."""
        queries, keys = query / _lengths(query, eps), key / _lengths(key, eps)
        logs = _log_shares(queries @ keys.T / temperature)
        return -np.diagonal(logs).mean().reshape(1)

    def backward(
        output_grad: Array, query: Array, key: Array, temperature: float, eps: float
    ) -> tuple[Array, Array]:
        """Of both, through `(softmax(logits) - identity) / N`."""
        query_lengths, key_lengths = _lengths(query, eps), _lengths(key, eps)
        queries, keys = query / query_lengths, key / key_lengths
        count = len(query)
        shares = np.exp(_log_shares(queries @ keys.T / temperature))
        slope = (shares - np.eye(count, dtype=query.dtype)) * (output_grad / (count * temperature))
        return (
            _along(slope @ keys, queries, query_lengths),
            _along(slope.T @ queries, keys, key_lengths),
        )

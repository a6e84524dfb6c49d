"""Attention that prefers what is near, with limited logits."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, Real, operator, param

_BOUNDED = Real(above=-16, below=16)  # products have to be in range


def _biases(heads: int, length: int) -> Array:
    """`-m distance` of each head, with `m` from `2^(-8 / heads)` to `2^-8`."""
    slopes = 2.0 ** (-8 * np.arange(1, heads + 1) / heads)
    places = np.arange(length)
    return slopes[:, None, None] * (places - places[:, None])


def _shares(query: Array, key: Array, cap: float) -> tuple[Array, Array]:
    """Shares of the places, and the logits over `cap`."""
    heads, length, width = query.shape[1:]
    bounded = np.tanh(query @ key.swapaxes(-1, -2) / (width**0.5 * cap))
    logits = cap * bounded + _biases(heads, length).astype(query.dtype)
    logits = np.where(np.tri(length, dtype=bool), logits, -np.inf)
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True), bounded


def _reference(query: Array, key: Array, value: Array, cap: float) -> Array:
    output = np.empty_like(query)
    heads, width = query.shape[1], query.shape[-1]
    for batch, head, place in np.ndindex(query.shape[:3]):
        keys, values = (array[batch, head, : place + 1] for array in (key, value))
        logits = cap * np.tanh(keys @ query[batch, head, place] / np.sqrt(width) / cap)
        logits -= 2 ** (-8 * (head + 1) / heads) * np.arange(place, -1, -1)
        powers = np.exp(logits - logits.max())
        output[batch, head, place] = powers @ values / powers.sum()
    return output


@operator("author_alibi_attention")
class AlibiAttention(OperatorProperty):
    """`softmax(cap tanh(q k^T / (sqrt(d) cap)) - m distance) v`, over the places up to that of the query.

    Source: Press et al., Train Short, Test Long, section 3; the cap is that of Gemma 2, section 2.
    """

    spec = "query:(B, H, T, D), key:(B, H, T, D), value:(B, H, T, D) -> output:(B, H, T, D); T >= 1, D >= 1"
    accepts = "floating"
    compute_dtype = "float32"
    cap = param(float, 50.0, gt=0, doc="The largest absolute logit before the biases.")
    contract = Contract(
        reference=_reference,
        inputs={"query": _BOUNDED, "key": _BOUNDED},
    )

    def forward(query: Array, key: Array, value: Array, cap: float) -> Array:
        """The definition."""
        shares, _ = _shares(query, key, cap)
        return shares @ value

    def backward(
        output_grad: Array, query: Array, key: Array, value: Array, cap: float
    ) -> tuple[Array, Array, Array]:
        """Of all three, with `dS = P (dP - sum(dP P)) (1 - tanh^2)`."""
        shares, bounded = _shares(query, key, cap)
        slope = output_grad @ value.swapaxes(-1, -2)
        slope = shares * (slope - (slope * shares).sum(axis=-1, keepdims=True))
        slope = slope * (1 - bounded * bounded) / query.shape[-1] ** 0.5
        return (
            slope @ key,
            slope.swapaxes(-1, -2) @ query,
            shares.swapaxes(-1, -2) @ output_grad,
        )

"""Attention in which several heads of queries share a head of keys and values."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, operator, param


def _grouped(heads: Array, shared_by: int) -> Array:
    batch, count, length, width = heads.shape
    return heads.reshape(batch, count // shared_by, shared_by, length, width)


def _shares(queries: Array, key: Array) -> Array:
    length, width = key.shape[-2:]
    scores = queries @ key[:, :, None].swapaxes(-1, -2) / width**0.5
    scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _reference(query: Array, key: Array, value: Array, shared_by: int) -> Array:
    output = np.empty_like(query)
    for batch, head, place in np.ndindex(query.shape[:3]):
        keys, values = (array[batch, head // shared_by, : place + 1] for array in (key, value))
        scores = keys @ query[batch, head, place] / np.sqrt(query.shape[-1])
        powers = np.exp(scores - scores.max())
        output[batch, head, place] = powers @ values / powers.sum()
    return output


@operator("author_grouped_query_attention")
class GroupedQueryAttention(OperatorProperty):
    """`softmax(q k^T / sqrt(d)) v` of each head, over the places up to that of the query.

    Source: Ainslie et al., GQA, section 2.2.
    """

    spec = (
        "query:(B, G*shared_by, T, D), key:(B, G, T, D), value:(B, G, T, D) -> output:(B, G*shared_by, T, D);"
        "T >= 1, D >= 1"
    )
    accepts = "floating"
    compute_dtype = "float32"
    shared_by = param(int, 4, ge=1, doc="How many heads of queries share one of keys and values.")
    contract = Contract(reference=_reference)

    def forward(query: Array, key: Array, value: Array, shared_by: int) -> Array:
        """The definition."""
        return (_shares(_grouped(query, shared_by), key) @ value[:, :, None]).reshape(query.shape)

    def backward(
        output_grad: Array, query: Array, key: Array, value: Array, shared_by: int
    ) -> tuple[Array, Array, Array]:
        """Of all three, with `dS = P (dP - sum(dP P))`; of keys and values the sum over those that share."""
        queries, grads = _grouped(query, shared_by), _grouped(output_grad, shared_by)
        shares = _shares(queries, key)
        slope = grads @ value[:, :, None].swapaxes(-1, -2)
        slope = shares * (slope - (slope * shares).sum(axis=-1, keepdims=True)) / key.shape[-1] ** 0.5
        return (
            (slope @ key[:, :, None]).reshape(query.shape),
            (slope.swapaxes(-1, -2) @ queries).sum(axis=2),
            (shares.swapaxes(-1, -2) @ grads).sum(axis=2),
        )

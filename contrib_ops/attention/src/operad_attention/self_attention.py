"""Attention of a sequence to itself: `_contrib_interleaved_matmul_selfatt_qk` and `_selfatt_valatt`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from operad_attention.heads import (
    Attention,
    by_head,
    parts_of,
    write_attention_grad,
    write_keys_grad,
    write_queries_grad,
    write_scores,
    write_values_grad,
)
from operad_sdk import Array, Contract, Cost, Shape, operator


def _scores(queries_keys_values: Array, heads: int) -> Array:
    length, batch, width = queries_keys_values.shape
    queries, keys, _ = np.moveaxis(
        queries_keys_values.reshape(length, batch, heads, 3, width // heads // 3), 3, 0
    )
    products = np.einsum("qbhd,kbhd->bhqk", queries, keys).reshape(batch * heads, length, length)
    return products / np.sqrt(max(queries.shape[-1], 1))


def _values(queries_keys_values: Array, attention: Array, heads: int) -> Array:
    length, batch, width = queries_keys_values.shape
    *_, values = np.moveaxis(queries_keys_values.reshape(length, batch, heads, 3, width // heads // 3), 3, 0)
    weights = attention.reshape(batch, heads, length, length)
    return np.einsum("bhqk,kbhd->qbhd", weights, values).reshape(length, batch, width // 3)


@operator("_contrib_interleaved_matmul_selfatt_qk")
class SelfAttentionScores(Attention):
    """`queries @ keys.T / sqrt(size)` of each head, where `queries_keys_values` holds heads of three parts.

    Shapes:
        queries_keys_values: (length, batch, heads * 3 * size).
        output: (batch * heads, length, length).

    Example:
        >>> import operad as od
        >>> data = od.nd.array([[[1, 2, 0]], [[3, 4, 0]]])  # two steps; query, key and value
        >>> od.nd._contrib_interleaved_matmul_selfatt_qk(data, heads=1).asnumpy()
        array([[[ 2.,  4.],
                [ 6., 12.]]], dtype=float32)

    Source: InterleavedMatMulSelfAttQK, src/operator/contrib/transformer.cc.
    """

    spec = "queries_keys_values:(L, B, 3*heads*size) -> output:(B*heads, L, L)"
    multiplies = ("queries_keys_values", "queries_keys_values")
    contract = Contract(reference=_scores, params={"heads": (1, 2, 3)})

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Multiplications and additions: each query with all keys."""
        return Cost(flops=2.0 * prod(in_shapes[0]) / 3 * in_shapes[0][0])

    def forward(queries_keys_values: Array, heads: int, output: Array) -> None:
        """The products of each head, divided by the root of its size."""
        queries, keys, _ = parts_of(queries_keys_values, heads, 3)
        write_scores(queries, keys, by_head(output, heads))

    def queries_keys_values_grad(
        output_grad: Array, queries_keys_values: Array, heads: int, queries_keys_values_grad: Array
    ) -> None:
        """`dq = d output @ k / sqrt(size)`, `dk = d output.T @ q / sqrt(size)`, and 0 for the values."""
        queries, keys, _ = parts_of(queries_keys_values, heads, 3)
        queries_grad, keys_grad, values_grad = parts_of(queries_keys_values_grad, heads, 3)
        write_queries_grad(by_head(output_grad, heads), keys, queries_grad)
        write_keys_grad(by_head(output_grad, heads), queries, keys_grad)
        values_grad[...] = 0


@operator("_contrib_interleaved_matmul_selfatt_valatt")
class SelfAttentionValues(Attention):
    """`attention @ values` of each head, where `queries_keys_values` holds heads of three parts.

    Shapes:
        queries_keys_values: (length, batch, heads * 3 * size).
        attention: (batch * heads, length, length).
        output: (length, batch, heads * size).

    Example:
        >>> import operad as od
        >>> data = od.nd.array([[[0, 0, 5]], [[0, 0, 7]]])  # two steps; query, key and value
        >>> weights = od.nd.array([[[1, 0], [0.5, 0.5]]])
        >>> od.nd._contrib_interleaved_matmul_selfatt_valatt(data, weights, heads=1).asnumpy()
        array([[[5.]],
        <BLANKLINE>
               [[6.]]], dtype=float32)

    Source: InterleavedMatMulSelfAttValAtt, src/operator/contrib/transformer.cc.
    """

    spec = "queries_keys_values:(L, B, 3*heads*size), attention:(B*heads, L, L) -> output:(L, B, heads*size)"
    multiplies = ("queries_keys_values", "attention")
    contract = Contract(reference=_values, params={"heads": (1, 2, 3)})

    def forward(queries_keys_values: Array, attention: Array, heads: int, output: Array) -> None:
        """The products of each head."""
        *_, values = parts_of(queries_keys_values, heads, 3)
        np.matmul(by_head(attention, heads), values, out=parts_of(output, heads, 1)[0])

    def queries_keys_values_grad(
        output_grad: Array, attention: Array, heads: int, queries_keys_values_grad: Array
    ) -> None:
        """`dv = attention.T @ d output`, and nothing for queries and keys."""
        *others, values_grad = parts_of(queries_keys_values_grad, heads, 3)
        write_values_grad(by_head(attention, heads), parts_of(output_grad, heads, 1)[0], values_grad)
        for other in others:
            other[...] = 0

    def attention_grad(
        output_grad: Array, queries_keys_values: Array, heads: int, attention_grad: Array
    ) -> None:
        """`d attention = d output @ v.T`."""
        *_, values = parts_of(queries_keys_values, heads, 3)
        write_attention_grad(parts_of(output_grad, heads, 1)[0], values, by_head(attention_grad, heads))

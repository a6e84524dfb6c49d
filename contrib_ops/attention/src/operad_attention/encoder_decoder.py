"""Attention of one sequence to another: `_contrib_interleaved_matmul_encdec_qk` and `_encdec_valatt`."""

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


def _scores(queries: Array, keys_values: Array, heads: int) -> Array:
    length, batch, width = queries.shape
    keys = keys_values.reshape(len(keys_values), batch, heads, 2, width // heads)[:, :, :, 0]
    products = np.einsum("qbhd,kbhd->bhqk", queries.reshape(length, batch, heads, width // heads), keys)
    return products.reshape(batch * heads, length, len(keys)) / np.sqrt(max(keys.shape[-1], 1))


def _values(keys_values: Array, attention: Array, heads: int) -> Array:
    length, batch, width = keys_values.shape
    values = keys_values.reshape(length, batch, heads, 2, width // heads // 2)[:, :, :, 1]
    weights = attention.reshape(batch, heads, attention.shape[1], length)
    return np.einsum("bhqk,kbhd->qbhd", weights, values).reshape(attention.shape[1], batch, width // 2)


@operator("_contrib_interleaved_matmul_encdec_qk")
class EncoderDecoderScores(Attention):
    """`queries @ keys.T / sqrt(size)` of each head, where `keys_values` holds heads of two parts.

    Shapes:
        queries: (length, batch, heads * size).
        keys_values: (memory, batch, heads * 2 * size).
        output: (batch * heads, length, memory).

    Example:
        >>> import operad as od
        >>> queries, keys_values = od.nd.array([[[2]]]), od.nd.array([[[1, 0]], [[3, 0]]])
        >>> od.nd._contrib_interleaved_matmul_encdec_qk(queries, keys_values, heads=1).asnumpy()
        array([[[2., 6.]]], dtype=float32)

    Source: InterleavedMatMulEncDecQK, src/operator/contrib/transformer.cc.
    """

    spec = "queries:(L, B, heads*size), keys_values:(M, B, 2*heads*size) -> output:(B*heads, L, M)"
    multiplies = ("queries", "keys_values")
    contract = Contract(reference=_scores, params={"heads": (1, 2, 3)})

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Multiplications and additions: each query with all keys."""
        return Cost(flops=2.0 * prod(in_shapes[0]) * in_shapes[1][0])

    def forward(queries: Array, keys_values: Array, heads: int, output: Array) -> None:
        """The products of each head, divided by the root of its size."""
        keys, _ = parts_of(keys_values, heads, 2)
        write_scores(parts_of(queries, heads, 1)[0], keys, by_head(output, heads))

    def queries_grad(output_grad: Array, keys_values: Array, heads: int, queries_grad: Array) -> None:
        """`dq = d output @ k / sqrt(size)`."""
        keys, _ = parts_of(keys_values, heads, 2)
        write_queries_grad(by_head(output_grad, heads), keys, parts_of(queries_grad, heads, 1)[0])

    def keys_values_grad(output_grad: Array, queries: Array, heads: int, keys_values_grad: Array) -> None:
        """`dk = d output.T @ q / sqrt(size)`, and nothing for the values."""
        keys_grad, values_grad = parts_of(keys_values_grad, heads, 2)
        write_keys_grad(by_head(output_grad, heads), parts_of(queries, heads, 1)[0], keys_grad)
        values_grad[...] = 0


@operator("_contrib_interleaved_matmul_encdec_valatt")
class EncoderDecoderValues(Attention):
    """`attention @ values` of each head, where `keys_values` holds heads of two parts.

    Shapes:
        keys_values: (memory, batch, heads * 2 * size).
        attention: (batch * heads, length, memory).
        output: (length, batch, heads * size).

    Example:
        >>> import operad as od
        >>> keys_values, weights = od.nd.array([[[0, 5]], [[0, 7]]]), od.nd.array([[[0.5, 0.5]]])
        >>> od.nd._contrib_interleaved_matmul_encdec_valatt(keys_values, weights, heads=1).asnumpy()
        array([[[6.]]], dtype=float32)

    Source: InterleavedMatMulEncDecValAtt, src/operator/contrib/transformer.cc.
    """

    spec = "keys_values:(M, B, 2*heads*size), attention:(B*heads, L, M) -> output:(L, B, heads*size)"
    multiplies = ("keys_values", "attention")
    contract = Contract(reference=_values, params={"heads": (1, 2, 3)})

    def forward(keys_values: Array, attention: Array, heads: int, output: Array) -> None:
        """The products of each head."""
        _, values = parts_of(keys_values, heads, 2)
        np.matmul(by_head(attention, heads), values, out=parts_of(output, heads, 1)[0])

    def keys_values_grad(output_grad: Array, attention: Array, heads: int, keys_values_grad: Array) -> None:
        """`dv = attention.T @ d output`, and nothing for the keys."""
        keys_grad, values_grad = parts_of(keys_values_grad, heads, 2)
        write_values_grad(by_head(attention, heads), parts_of(output_grad, heads, 1)[0], values_grad)
        keys_grad[...] = 0

    def attention_grad(output_grad: Array, keys_values: Array, heads: int, attention_grad: Array) -> None:
        """`d attention = d output @ v.T`."""
        _, values = parts_of(keys_values, heads, 2)
        write_attention_grad(parts_of(output_grad, heads, 1)[0], values, by_head(attention_grad, heads))

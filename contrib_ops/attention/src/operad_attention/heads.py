"""Views of interleaved arrays, and the two products of attention with their gradients.

An array of (length, batch, heads * parts * size) holds the parts of each head side by side: queries, keys and
values, or keys and values. One part of all heads is a view of (batch, heads, length, size), whose rows lie at
a distance that BLAS takes as a leading dimension; so neither the products nor their gradients copy anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt

import numpy as np

from operad_sdk import Array, Cost, OperatorProperty, Shape, param


class Attention(OperatorProperty):
    """Base class of the four attention products."""

    heads = param(int, ge=1, doc="Number of heads.")
    accepts = "floating"
    compute_dtype = "float32"

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Multiplications and additions: all values, which the first argument has, for each query."""
        return Cost(flops=2.0 * prod(out_shapes[0]) * in_shapes[0][0])


def parts_of(array: Array, heads: int, parts: int) -> list[Array]:
    """Each part of all heads: views of (batch, heads, length, size)."""
    length, batch, width = array.shape
    split = array.reshape(length, batch, heads, parts, width // (heads * parts))
    return [split[:, :, :, part].transpose(1, 2, 0, 3) for part in range(parts)]


def by_head(scores: Array, heads: int) -> Array:
    """A view of (batch * heads, rows, columns) as (batch, heads, rows, columns)."""
    return scores.reshape(len(scores) // heads, heads, *scores.shape[1:])


def scale_of(queries: Array) -> float:
    """One over the root of a head's size."""
    return 1 / sqrt(max(queries.shape[-1], 1))


def write_scores(queries: Array, keys: Array, scores: Array) -> None:
    """`scores = queries @ keys.T / sqrt(size)`."""
    np.matmul(queries, keys.swapaxes(-1, -2), out=scores)
    np.multiply(scores, scale_of(queries), out=scores)


def write_queries_grad(scores_grad: Array, keys: Array, queries_grad: Array) -> None:
    """`d scores / d queries = keys / sqrt(size)`."""
    np.matmul(scores_grad, keys, out=queries_grad)
    np.multiply(queries_grad, scale_of(keys), out=queries_grad)


def write_keys_grad(scores_grad: Array, queries: Array, keys_grad: Array) -> None:
    """`d scores / d keys = queries / sqrt(size)`."""
    write_queries_grad(scores_grad.swapaxes(-1, -2), queries, keys_grad)


def write_values_grad(attention: Array, output_grad: Array, values_grad: Array) -> None:
    """`d output / d values = attention`."""
    np.matmul(attention.swapaxes(-1, -2), output_grad, out=values_grad)


def write_attention_grad(output_grad: Array, values: Array, attention_grad: Array) -> None:
    """`d output / d attention = values`."""
    np.matmul(output_grad, values.swapaxes(-1, -2), out=attention_grad)

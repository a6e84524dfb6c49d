"""`khatri_rao`: outer products of columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, blocked_sum, operator, param


@operator("khatri_rao")
class KhatriRao(OperatorProperty):
    """The outer product of the first columns, then of the second columns, and so on.

    Shapes:
        arg0, arg1, ...: (M, N), each with its own M.
        output: (product of all M, N).

    Example:
        >>> import operad as od
        >>> od.nd.khatri_rao(od.nd.array([[1, 2]]), od.nd.array([[3, 4], [5, 6]])).asnumpy()
        array([[ 3.,  8.],
               [ 5., 12.]], dtype=float32)

    Source: KhatriRaoShape, src/operator/contrib/krprod.cc. Differs: it has a gradient.
    """

    num_args = param(int, ge=1, doc="Number of matrices; filled in by calls.")
    key_var_num_args = "num_args"
    contract = Contract(
        reference=lambda *matrices: reduce(lambda a, b: np.kron(a, b)[:, :: b.shape[1] + 1], matrices)
    )

    spec = "arg[num_args]:(M[i], N) -> output:(prod(M), N)"
    compute_dtype = "float32"

    def forward(arg: Any) -> Array:
        """Multiply from left to right."""
        return _columnwise(arg, arg[0])

    def backward(output_grad: Array, arg: Any, wanted: frozenset[str]) -> list[Array | None]:
        """For each matrix, the gradient times the other matrices, summed over their rows."""
        return [
            _gradient(output_grad, arg[:i], len(own), arg[i + 1 :]) if f"arg{i}_grad" in wanted else None
            for i, own in enumerate(arg)
        ]


def _gradient(head: Array, before: Sequence[Array], rows: int, after: Sequence[Array]) -> Array:
    """`d/d A[m, n] = sum over b and a of head[(b, m, a), n] * left[b, n] * right[a, n]`.

    `left` is the product of the matrices before A, `right` that of those after it.
    """
    left, right = _columnwise(before, head), _columnwise(after, head)
    blocks = head.reshape(len(left), rows, len(right), head.shape[1])
    return blocked_sum(blocks * (left[:, None, None] * right), (0, 2))


def _columnwise(matrices: Sequence[Array], like: Array) -> Array:
    """The product of all; a row of ones for none, of the columns of `like`."""
    if not matrices:
        return np.ones_like(like, shape=(1, like.shape[1]))
    return reduce(_pairwise, matrices)


def _pairwise(left: Array, right: Array) -> Array:
    rows = prod((left.shape[0], right.shape[0]))
    return (left[:, None, :] * right[None, :, :]).reshape(rows, left.shape[1])

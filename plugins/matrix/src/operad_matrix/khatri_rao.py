"""`khatri_rao`: outer products of columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, Output, operator, param


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

    num_args = param(int, ge=1, doc="How many matrices there are; calls need not give it.")
    key_var_num_args = "num_args"
    contract = Contract(
        reference=lambda *matrices: reduce(lambda a, b: np.kron(a, b)[:, :: b.shape[1] + 1], matrices)
    )

    def spec(self) -> str:
        """Each matrix has its own number of rows."""
        arguments = ", ".join(f"arg{i}:(M{i}, N)" for i in range(self.num_args))
        return f"{arguments} -> output:({'*'.join(f'M{i}' for i in range(self.num_args))}, N)"

    def forward(self, arg: Any, output: Output) -> None:
        """Multiply from left to right."""
        output.assign(_columnwise(arg, arg[0].shape[1], arg[0]))

    def backward(self, output_grad: Array, arg: Any, arg_grad: Any) -> None:
        """For each matrix, the gradient summed over the rows of the others."""
        columns = output_grad.shape[1]
        for index, grad in enumerate(arg_grad):
            if not grad.wanted:
                continue
            before = _columnwise(arg[:index], columns, output_grad)
            after = _columnwise(arg[index + 1 :], columns, output_grad)
            blocks = output_grad.reshape(len(before), grad.shape[0], len(after), columns)
            grad.assign(np.einsum("bman,bn,an->mn", blocks, before, after))


def _columnwise(matrices: Sequence[Array], columns: int, like: Array) -> Array:
    """The product of all; a row of ones for none."""
    if not matrices:
        return np.ones_like(like, shape=(1, columns))
    return reduce(_pairwise, matrices)


def _pairwise(left: Array, right: Array) -> Array:
    rows = prod((left.shape[0], right.shape[0]))
    return (left[:, None, :] * right[None, :, :]).reshape(rows, left.shape[1])

"""`linalg_trmm` and `linalg_trsm`: multiplying with a triangular matrix, and undoing it.

Only one triangle of `A` counts, and only that has a gradient. NumPy has no solver for triangular
systems, so the general one is used, on the triangle.
"""

# ruff: noqa: N803 - methods name the arguments, and MXNet calls them A, B and C

from __future__ import annotations

from typing import Any

import numpy as np

from operad_matrix.domains import REGULAR
from operad_matrix.linalg import MatrixOperator, solved, triangle
from operad_matrix.products import transposed, write_product
from operad_sdk import Array, Contract, OpContext, Output, gradient, operator, param


class Triangular(MatrixOperator):
    """What both have in common: a triangular matrix `A` on one side of `B`."""

    transpose = param(bool, False, doc="Transpose A.")
    rightside = param(bool, False, doc="A is on the right of B.")
    lower = param(bool, True, doc="The lower triangle of A counts; else the upper.")
    alpha = param(float, 1.0, doc="Factor of the result.")

    def spec(self) -> str:
        """One line of the shape language, which depends on the side."""
        side = "M" if self.rightside else "N"
        return f"A:(*S, {side}, {side}), B:(*S, N, M) -> output:(*S, N, M)"

    def operand(self, xp: Any, A: Array) -> Array:
        """The triangle that enters the product."""
        part = triangle(xp, A, self.lower)
        return transposed(part) if self.transpose else part

    def solve(self, xp: Any, operand: Array, right: Array) -> Array:
        """What gives `right` when multiplied with `operand` on its side."""
        if self.rightside:
            return transposed(solved(xp, transposed(operand), transposed(right)))
        return solved(xp, operand, right)

    def write_a_gradient(self, xp: Any, by_result: Array, B: Array, A_grad: Output, scale: float) -> None:
        """Write the gradient of `A` where `A` is multiplied with `B`, in its triangle."""
        left, right = (transposed(B), by_result) if self.rightside else (by_result, transposed(B))
        full = xp.matmul(left, right)
        part = triangle(xp, transposed(full) if self.transpose else full, self.lower)
        part *= scale
        A_grad.assign(part)


def _triangle(A: Array, transpose: bool, lower: bool) -> Array:
    """The triangle that counts, for the contract checks."""
    part = A * np.tri(A.shape[-1]) if lower else A * np.tri(A.shape[-1]).T
    return np.swapaxes(part, -1, -2) if transpose else part


def _product(A: Array, B: Array, transpose: bool, rightside: bool, lower: bool, alpha: float) -> Array:
    operand = _triangle(A, transpose, lower)
    return alpha * np.einsum("...nm,...mk->...nk", *((B, operand) if rightside else (operand, B)))


def _quotient(A: Array, B: Array, transpose: bool, rightside: bool, lower: bool, alpha: float) -> Array:
    operand = np.linalg.inv(_triangle(A, transpose, lower))
    return alpha * (B @ operand if rightside else operand @ B)


@operator("linalg_trmm")
class Trmm(Triangular):
    """`alpha * A @ B` for a triangular `A`; with `rightside`, `alpha * B @ A`.

    Shapes:
        A: (..., N, N); with `rightside` (..., M, M).
        B: (..., N, M).
        output: (..., N, M).

    Example:
        >>> import operad as od
        >>> lower = od.nd.array([[1, 0], [1, 1]])
        >>> od.nd.linalg_trmm(lower, od.nd.array([[1, 2], [3, 4]]), alpha=2).asnumpy()
        array([[ 2.,  4.],
               [ 8., 12.]], dtype=float32)

    Source: LaTriangMatrixMultParam, src/operator/tensor/la_op.h.
    """

    contract = Contract(reference=_product)

    def forward(self, op_ctx: OpContext, A: Array, B: Array, output: Output) -> None:
        """One product."""
        operand = self.operand(op_ctx.xp, A)
        left, right = (B, operand) if self.rightside else (operand, B)
        write_product(op_ctx.xp, left, right, output, self.alpha)

    @gradient
    def a_gradient(self, op_ctx: OpContext, output_grad: Array, B: Array, A_grad: Output) -> None:
        """The gradient of a product, in the triangle."""
        self.write_a_gradient(op_ctx.xp, output_grad, B, A_grad, self.alpha)

    @gradient
    def b_gradient(self, op_ctx: OpContext, output_grad: Array, A: Array, B_grad: Output) -> None:
        """The product with `A`, transposed."""
        operand = transposed(self.operand(op_ctx.xp, A))
        left, right = (output_grad, operand) if self.rightside else (operand, output_grad)
        write_product(op_ctx.xp, left, right, B_grad, self.alpha)


@operator("linalg_trsm")
class Trsm(Triangular):
    """The solution of `A @ output = alpha * B` for a triangular `A`.

    With `rightside` it is that of `output @ A = alpha * B`.

    Shapes:
        A: (..., N, N); with `rightside` (..., M, M).
        B: (..., N, M).
        output: (..., N, M).

    Example:
        >>> import operad as od
        >>> lower = od.nd.array([[1, 0], [1, 1]])
        >>> od.nd.linalg_trsm(lower, od.nd.array([[2, 4], [8, 12]]), alpha=0.5).asnumpy()
        array([[1., 2.],
               [3., 4.]], dtype=float32)

    Source: LaTriangMatrixMultParam, src/operator/tensor/la_op.h.
    """

    contract = Contract(inputs={"A": REGULAR}, reference=_quotient)

    def forward(self, op_ctx: OpContext, A: Array, B: Array, output: Output) -> None:
        """Solve."""
        value = self.solve(op_ctx.xp, self.operand(op_ctx.xp, A), B)
        output.assign(value if self.alpha == 1 else self.alpha * value)

    @gradient
    def both_gradients(
        self, op_ctx: OpContext, output_grad: Array, A: Array, output: Array, A_grad: Output, B_grad: Output
    ) -> None:
        """One solution with `A`, transposed, serves both."""
        by_right = self.solve(op_ctx.xp, transposed(self.operand(op_ctx.xp, A)), output_grad)
        if A_grad.wanted:
            self.write_a_gradient(op_ctx.xp, by_right, output, A_grad, -1.0)
        if B_grad.wanted:
            B_grad.assign(by_right if self.alpha == 1 else self.alpha * by_right)

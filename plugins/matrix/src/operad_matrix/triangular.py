"""`linalg_trmm` and `linalg_trsm`: multiplying with a triangular matrix, and undoing it.

Only one triangle of `A` counts, and only that has a gradient.
"""

# ruff: noqa: N802, N803 - functions name the arguments, and MXNet calls them A, B and C

from __future__ import annotations

import numpy as np

from operad_matrix.domains import REGULAR
from operad_matrix.linalg import MatrixOperator, multiplied, solved_triangle, triangle
from operad_matrix.products import scaled, transposed
from operad_sdk import Array, Contract, operator, param
from operad_sdk.products import product


class Triangular(MatrixOperator):
    """Base class of both: a triangular matrix `A` on one side of `B`."""

    transpose = param(bool, False, doc="Transpose A.")
    rightside = param(bool, False, doc="A is on the right of B.")
    lower = param(bool, True, doc="The lower triangle of A counts; else the upper.")
    alpha = param(float, 1.0, run_time=True, doc="Factor of the result; 0 gives 0.")
    spec = "A:(*S, N, N) if not rightside, A:(*S, M, M) if rightside, B:(*S, N, M) -> output:(*S, N, M)"


def _operand(A: Array, transpose: bool, lower: bool) -> Array:
    """The triangle that enters the product."""
    part = triangle(A, lower)
    return transposed(part) if transpose else part


def _solution(A: Array, right: Array, transpose: bool, rightside: bool, lower: bool) -> Array:
    """Solution that gives `right` when the triangle of `A` multiplies it on its side."""
    if rightside:  # X @ A = B is A.T @ X.T = B.T
        return transposed(_solution(A, transposed(right), not transpose, False, lower))
    return solved_triangle(_operand(A, transpose, lower), right, lower != transpose)


def _operand_gradient(head: Array, B: Array, transpose: bool, rightside: bool, lower: bool) -> Array:
    """`d/d A = head @ B.T`, on the right side `B.T @ head`, of a product of `A` and `B`; in the triangle."""
    full = multiplied(transposed(B), head) if rightside else multiplied(head, transposed(B))
    return triangle(transposed(full) if transpose else full, lower)


def _triangle(A: Array, transpose: bool, lower: bool) -> Array:
    """The triangle that counts, for the contract checks."""
    part = A * np.tri(A.shape[-1]) if lower else A * np.tri(A.shape[-1]).T
    return np.swapaxes(part, -1, -2) if transpose else part


def _product(A: Array, B: Array, transpose: bool, rightside: bool, lower: bool, alpha: float) -> Array:
    operand = _triangle(A, transpose, lower)
    return scaled(np.einsum("...nm,...mk->...nk", *((B, operand) if rightside else (operand, B))), alpha)


def _quotient(A: Array, B: Array, transpose: bool, rightside: bool, lower: bool, alpha: float) -> Array:
    operand = np.linalg.inv(_triangle(A, transpose, lower))
    return scaled(B @ operand if rightside else operand @ B, alpha)


@operator("_linalg_trmm")
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

    is_product = True
    contract = Contract(reference=_product)

    def forward(
        A: Array, B: Array, transpose: bool, rightside: bool, lower: bool, alpha: float, output: Array
    ) -> None:
        """One product."""
        operand = _operand(A, transpose, lower)
        product(*((B, operand) if rightside else (operand, B)), output, alpha)

    def A_grad(
        output_grad: Array, B: Array, transpose: bool, rightside: bool, lower: bool, alpha: float
    ) -> Array:
        """`d/d A = alpha output_grad @ B.T`, or `alpha B.T @ output_grad` on the right; in the triangle."""
        return scaled(_operand_gradient(output_grad, B, transpose, rightside, lower), alpha)

    def B_grad(
        output_grad: Array, A: Array, transpose: bool, rightside: bool, lower: bool, alpha: float,
        B_grad: Array,
    ) -> None:  # fmt: skip
        """`d/d B = alpha A.T @ output_grad`, or `alpha output_grad @ A.T` where A is on the right."""
        operand = _operand(A, not transpose, lower)
        product(*((output_grad, operand) if rightside else (operand, output_grad)), B_grad, alpha)


@operator("_linalg_trsm")
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

    def forward(A: Array, B: Array, transpose: bool, rightside: bool, lower: bool, alpha: float) -> Array:
        """`alpha A**-1 @ B`."""
        return scaled(_solution(A, B, transpose, rightside, lower), alpha)

    def backward(
        output_grad: Array, A: Array, output: Array, transpose: bool, rightside: bool, lower: bool,
        alpha: float, wanted: frozenset[str],
    ) -> tuple[Array | None, Array]:  # fmt: skip
        """`d/d B = alpha X` and `d/d A = -X @ output.T`, in the triangle, of `X = A.T**-1 @ output_grad`."""
        head = _solution(A, output_grad, not transpose, rightside, lower)
        of_a = None
        if "A_grad" in wanted:
            of_a = -_operand_gradient(head, output, transpose, rightside, lower)
        return of_a, scaled(head, alpha)

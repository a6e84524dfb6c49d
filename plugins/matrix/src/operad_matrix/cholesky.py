"""`linalg_potrf`, `linalg_potri` and `linalg_sumlogdiag`: Cholesky factors.

Source: Murray, Differentiation of the Cholesky decomposition (2016), section 3.2, for the gradient.
"""

# ruff: noqa: N803 - methods name the arguments, and MXNet calls them A, B and C

from __future__ import annotations

import numpy as np

from operad_matrix.domains import REGULAR
from operad_matrix.linalg import MatrixOperator, NumberOperator, inverted, mirrored_lower, solved, triangle
from operad_matrix.products import transposed
from operad_sdk import Array, Contract, OpContext, Output, gradient, operator, param
from operad_sdk.domains import PositiveDefinite


def _factor(A: Array, lower: bool) -> Array:
    """Outer products of scaled columns, subtracted one after another."""
    rest, columns = A.copy(), []
    for i in range(A.shape[-1]):
        columns.append(rest[..., i] / np.sqrt(rest[..., i, i, None]))
        rest -= columns[-1][..., :, None] * columns[-1][..., None, :]
    return np.stack(columns, -1 if lower else -2) if columns else A


@operator("linalg_potrf")
class Potrf(MatrixOperator):
    """The Cholesky factor L of a symmetric positive definite matrix: `A = L @ L.T`.

    With `lower=False` it is the upper triangular U with `A = U.T @ U`. The gradient is symmetric.

    Shapes:
        A: (..., N, N), symmetric, of which one triangle is read.
        output: (..., N, N), triangular.

    Example:
        >>> import operad as od
        >>> od.nd.linalg_potrf(od.nd.array([[4, 1], [1, 4.25]])).asnumpy()
        array([[2. , 0. ],
               [0.5, 2. ]], dtype=float32)

    Source: LaCholeskyParam, src/operator/tensor/la_op.h.
    """

    lower = param(bool, True, doc="Compute the lower triangular factor; else the upper.")
    spec = "A:(*S, N, N) -> output:(*S, N, N)"
    contract = Contract(inputs={"A": PositiveDefinite()}, reference=_factor)

    def forward(self, op_ctx: OpContext, A: Array, output: Output) -> None:
        """LAPACK's factorization."""
        factor = op_ctx.xp.linalg.cholesky(A if self.lower else transposed(A))
        output.assign(factor if self.lower else transposed(factor))

    @gradient
    def a_gradient(self, op_ctx: OpContext, output_grad: Array, output: Array, A_grad: Output) -> None:
        """`L.T**-1 @ mirrored(L.T @ ograd) @ L**-1 / 2`."""
        xp = op_ctx.xp
        factor, ograd = (output, output_grad) if self.lower else (transposed(output), transposed(output_grad))
        inner = mirrored_lower(xp, xp.matmul(transposed(factor), ograd))
        half = transposed(solved(xp, transposed(factor), inner))
        grad = solved(xp, transposed(factor), half)
        grad *= 0.5
        A_grad.assign(grad)


@operator("linalg_potri")
class Potri(MatrixOperator):
    """The inverse of a matrix whose Cholesky factor `A` is given: of `A @ A.T`.

    With `lower=False` it is the inverse of `A.T @ A`. One triangle of `A` is read, and has a gradient.

    Shapes:
        A: (..., N, N), triangular.
        output: (..., N, N), symmetric.

    Example:
        >>> import operad as od
        >>> od.nd.linalg_potri(od.nd.array([[2, 0], [0.5, 2]])).asnumpy()
        array([[ 0.265625, -0.0625  ],
               [-0.0625  ,  0.25    ]], dtype=float32)

    Source: LaCholeskyParam, src/operator/tensor/la_op.h.
    """

    lower = param(bool, True, doc="A is lower triangular; else upper.")
    spec = "A:(*S, N, N) -> output:(*S, N, N)"
    contract = Contract(
        inputs={"A": REGULAR},
        reference=lambda A, lower: np.linalg.inv(
            np.tril(A) @ transposed(np.tril(A)) if lower else transposed(np.triu(A)) @ np.triu(A)
        ),
    )

    def forward(self, op_ctx: OpContext, A: Array, output: Output) -> None:
        """Invert the triangle, and multiply with its transpose."""
        xp = op_ctx.xp
        inverse = inverted(xp, triangle(xp, A, self.lower))
        if not self.lower:
            inverse = transposed(inverse)
        with output.writing() as out:
            xp.matmul(transposed(inverse), inverse, out=out)

    @gradient
    def a_gradient(
        self, op_ctx: OpContext, output_grad: Array, A: Array, output: Array, A_grad: Output
    ) -> None:
        """`-output @ (ograd + ograd.T) @ output @ A`, in the triangle."""
        xp = op_ctx.xp
        part = triangle(xp, A, self.lower)
        factor = part if self.lower else transposed(part)
        inner = xp.matmul(output, xp.matmul(output_grad + transposed(output_grad), xp.matmul(output, factor)))
        grad = triangle(xp, inner if self.lower else transposed(inner), self.lower)
        A_grad.assign(-grad)


@operator("linalg_sumlogdiag")
class SumLogDiag(NumberOperator):
    """The sum of the logarithms of the diagonal's elements.

    Shapes:
        A: (..., N, N).
        output: (...); (1,) for a single matrix.

    Example:
        >>> import operad as od
        >>> od.nd.linalg_sumlogdiag(od.nd.array([[1, 1], [1, 7]])).asnumpy().round(4)
        array([1.9459], dtype=float32)

    Source: LaReduceShape, src/operator/tensor/la_op.h.
    """

    spec = "A:(*S, N, N) -> output:(*R)"
    contract = Contract(
        inputs={"A": REGULAR},
        reference=lambda A: np.atleast_1d(np.log(np.einsum("...ii->...i", A).prod(-1))),
    )

    def forward(self, op_ctx: OpContext, A: Array, output: Output) -> None:
        """Sum along the diagonal."""
        diagonal = op_ctx.xp.diagonal(A, axis1=-2, axis2=-1)
        output.assign(op_ctx.xp.log(diagonal).sum(-1))

    @gradient
    def a_gradient(self, op_ctx: OpContext, output_grad: Array, A: Array, A_grad: Output) -> None:
        """One over the diagonal."""
        xp = op_ctx.xp
        ograd = output_grad.reshape(A.shape[:-2])
        with A_grad.writing() as out:
            out[...] = 0
            places = xp.arange(A.shape[-1])
            out[..., places, places] = ograd[..., None] / xp.diagonal(A, axis1=-2, axis2=-1)

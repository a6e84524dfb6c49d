"""`linalg_potrf`, `linalg_potri` and `linalg_sumlogdiag`: Cholesky factors.

Source: Murray, Differentiation of the Cholesky decomposition (2016), section 3.2, for the gradient.
"""

# ruff: noqa: N802, N803 - functions name the arguments, and MXNet calls them A, B and C

from __future__ import annotations

import numpy as np

from operad_matrix.domains import REGULAR
from operad_matrix.linalg import (
    MatrixOperator,
    inverted,
    mirrored_lower,
    multiplied,
    number_shape,
    solved,
    triangle,
)
from operad_matrix.products import transposed
from operad_sdk import Array, Contract, PositiveDefinite, operator, param
from operad_sdk.products import product


def _factor(A: Array, lower: bool) -> Array:
    """Outer products of scaled columns, subtracted one after another."""
    rest, columns = A.copy(), []
    for i in range(A.shape[-1]):
        columns.append(rest[..., i] / np.sqrt(rest[..., i, i, None]))
        rest -= columns[-1][..., :, None] * columns[-1][..., None, :]
    return np.stack(columns, -1 if lower else -2) if columns else A


@operator("_linalg_potrf")
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

    def forward(A: Array, lower: bool) -> Array:
        """LAPACK's factorization."""
        return np.linalg.cholesky(A) if lower else transposed(np.linalg.cholesky(transposed(A)))

    def A_grad(output_grad: Array, output: Array, lower: bool) -> Array:
        """`d/d A = L.T**-1 @ mirrored(L.T @ output_grad) @ L**-1 / 2`."""
        factor, head = (output, output_grad) if lower else (transposed(output), transposed(output_grad))
        inner = mirrored_lower(multiplied(transposed(factor), head))
        half = transposed(solved(transposed(factor), inner))
        return solved(transposed(factor), half) * 0.5


@operator("_linalg_potri")
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

    def forward(A: Array, lower: bool, output: Array) -> None:
        """`L.T**-1 @ L**-1`."""
        inverse = inverted(triangle(A, lower))
        inverse = inverse if lower else transposed(inverse)
        product(transposed(inverse), inverse, output)

    def A_grad(output_grad: Array, A: Array, output: Array, lower: bool) -> Array:
        """`d/d A = -output @ (output_grad + output_grad.T) @ output @ L`, in the triangle."""
        part = triangle(A, lower)
        factor = part if lower else transposed(part)
        inner = multiplied(
            output, multiplied(output_grad + transposed(output_grad), multiplied(output, factor))
        )
        return -triangle(inner if lower else transposed(inner), lower)


@operator("_linalg_sumlogdiag")
class SumLogDiag(MatrixOperator):
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

    spec = "A:(*S, N, N) -> output:(*number_shape(S))"
    functions = {"number_shape": number_shape}
    contract = Contract(
        inputs={"A": REGULAR},
        reference=lambda A: np.atleast_1d(np.log(np.einsum("...ii->...i", A).prod(-1))),
    )

    @np.errstate(all="ignore")
    def forward(A: Array) -> Array:
        """Sum along the diagonal."""
        return np.log(np.diagonal(A, axis1=-2, axis2=-1)).sum(-1)

    @np.errstate(all="ignore")
    def A_grad(output_grad: Array, A: Array) -> Array:
        """`d/d a_ii = 1 / a_ii`, and 0 beside the diagonal."""
        grad = np.zeros_like(A)
        diagonal = np.arange(A.shape[-1])
        head = output_grad.reshape(*A.shape[:-2], 1)
        grad[..., diagonal, diagonal] = head / np.diagonal(A, axis1=-2, axis2=-1)
        return grad

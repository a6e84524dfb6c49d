"""`linalg_gelqf` and `linalg_syevd`: LQ factors, and eigenvectors.

Source: Seeger et al., Auto-differentiating linear algebra (2017), sections 4.3 and 4.4, for the
gradients.
"""

# ruff: noqa: N802, N803 - functions name the arguments, and MXNet calls them A, B and C

from __future__ import annotations

import numpy as np

from operad_matrix.domains import REGULAR, Symmetric
from operad_matrix.linalg import MatrixOperator, half_symmetric, mirrored_lower, multiplied, solved_triangle
from operad_matrix.products import transposed
from operad_sdk import Array, Contract, Shape, ShapeError, operator


def _sides(rows: int, columns: int) -> Shape:
    """The shape of L."""
    if rows > columns:
        raise ShapeError(
            f"A has matrices of shape {(rows, columns)}, expected at most as many rows as columns"
        )
    return (rows, rows)


@operator("_linalg_gelqf")
class Gelqf(MatrixOperator):
    """`A = L @ Q`, where L is lower triangular and the rows of Q are orthonormal.

    Shapes:
        A: (..., N, M), of rank N, not larger than M; of a smaller rank the gradient is infinite or NaN.
        output0: (..., N, M), Q.
        output1: (..., N, N), L.

    Example:
        >>> import operad as od
        >>> q, l = od.nd.linalg_gelqf(od.nd.array([[3, 4]]))
        >>> od.nd.dot(l, q).asnumpy()
        array([[3., 4.]], dtype=float32)

    Source: LaLQFactShape, src/operator/tensor/la_op.h.
    """

    spec = "A:(*S, N, M) -> output0:(*S, N, M), output1:(*S, *sides(N, M))"
    functions = {"sides": _sides}
    contract = Contract(inputs={"A": REGULAR})

    def forward(A: Array) -> tuple[Array, Array]:
        """LAPACK's factorization of the transpose."""
        q, r = np.linalg.qr(transposed(A))
        return transposed(q), transposed(r)

    def A_grad(output0_grad: Array, output1_grad: Array, output0: Array, output1: Array) -> Array:
        """`d/d A = L.T**-1 @ (dQ + mirrored(L.T @ dL - dQ @ Q.T) @ Q)`."""
        q, upper = output0, transposed(output1)
        inner = multiplied(upper, output1_grad) - multiplied(output0_grad, transposed(q))
        return solved_triangle(upper, output0_grad + multiplied(mirrored_lower(inner), q), lower=False)


def _eigenvectors_and_values(A: Array) -> tuple[Array, Array]:
    """Factorize as matrices that need not be symmetric, for the contract checks."""
    values, columns = np.linalg.eig(A)
    order = values.argsort(-1)
    rows = np.take_along_axis(transposed(columns), order[..., None], -2)
    largest = np.where(rows.max(-1, initial=0) < -rows.min(-1, initial=0), -1, 1)
    return rows * largest[..., None], np.take_along_axis(values, order, -1)


@operator("_linalg_syevd")
class Syevd(MatrixOperator):
    """`A = U.T @ diag(L) @ U`: the eigenvectors of a symmetric matrix, in rows, and its eigenvalues.

    Eigenvalues ascend, and the largest element of an eigenvector is positive. The gradient is
    symmetric; it is that of the eigenvalues alone where two are equal.

    Shapes:
        A: (..., N, N), symmetric.
        output0: (..., N, N), U.
        output1: (..., N), L.

    Example:
        >>> import operad as od
        >>> vectors, values = od.nd.linalg_syevd(od.nd.array([[2, 0], [0, 1]]))
        >>> vectors.asnumpy(), values.asnumpy()
        (array([[0., 1.],
               [1., 0.]], dtype=float32), array([1., 2.], dtype=float32))

    Source: LaEigFactShape, src/operator/tensor/la_op.h.
    """

    spec = "A:(*S, N, N) -> output0:(*S, N, N), output1:(*S, N)"
    contract = Contract(inputs={"A": Symmetric()}, reference=_eigenvectors_and_values)

    def forward(A: Array) -> tuple[Array, Array]:
        """LAPACK's eigenvectors, with signs made unique."""
        values, columns = np.linalg.eigh(A)
        return _with_signs(transposed(columns)), values

    def A_grad(output0_grad: Array, output1_grad: Array, output0: Array, output1: Array) -> Array:
        """`d/d A = U.T @ (dU @ U.T / (L_i - L_j) + diag(dL)) @ U`, made symmetric."""
        gaps = output1[..., :, None] - output1[..., None, :]
        inner = multiplied(output0_grad, transposed(output0))
        inner /= np.where(gaps == 0, gaps.dtype.type(np.inf), gaps)
        diagonal = np.arange(inner.shape[-1])
        # mutant: +=: equivalent, because what stands there was divided by infinity
        inner[..., diagonal, diagonal] = output1_grad
        return half_symmetric(multiplied(transposed(output0), multiplied(inner, output0)))


def _with_signs(rows: Array) -> Array:
    """The rows, negated where the first of their largest elements by size is negative."""
    # mutant: 1 becomes 2: equivalent, because they are square
    if rows.shape[-1] == 0:
        return rows
    position = np.argmax(np.abs(rows), axis=-1)[..., None]
    # mutant: <= 0: equivalent, because no eigenvector is 0
    return np.where(np.take_along_axis(rows, position, -1) < 0, -rows, rows)

"""`linalg_gelqf` and `linalg_syevd`: LQ factors, and eigenvectors.

Source: Seeger et al., Auto-differentiating linear algebra (2017), sections 4.3 and 4.4, for the
gradients.
"""

# ruff: noqa: N803 - methods name the arguments, and MXNet calls them A, B and C

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad.errors import ShapeError
from operad.operator import InferredShapes
from operad_matrix.domains import REGULAR, Symmetric
from operad_matrix.linalg import MatrixOperator, half_symmetric, mirrored_lower, solved
from operad_matrix.products import transposed
from operad_sdk import Array, Contract, OpContext, Output, PartialShape, gradient, operator


@operator("linalg_gelqf")
class Gelqf(MatrixOperator):
    """`A = L @ Q`, where L is lower triangular and the rows of Q are orthonormal.

    Shapes:
        A: (..., N, M), of rank N, not larger than M.
        output0: (..., N, M), Q.
        output1: (..., N, N), L.

    Example:
        >>> import operad as od
        >>> q, l = od.nd.linalg_gelqf(od.nd.array([[3, 4]]))
        >>> od.nd.dot(l, q).asnumpy()
        array([[3., 4.]], dtype=float32)

    Source: LaLQFactShape, src/operator/tensor/la_op.h.
    """

    spec = "A:(*S, N, M) -> output0:(*S, N, M), output1:(*S, N, N)"
    contract = Contract(inputs={"A": REGULAR})

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """What follows from `spec`; there cannot be more rows than columns."""
        shape = in_shapes[0]
        if shape is not None and len(shape) >= 2:
            rows, columns = shape[-2:]
            if rows is not None and columns is not None and rows > columns:
                raise ShapeError(
                    f"{self.name}: A has shape {shape}, expected at most as many rows as columns"
                )
        return super().infer_shape(in_shapes)

    def forward(self, op_ctx: OpContext, A: Array, output0: Output, output1: Output) -> None:
        """LAPACK's factorization of the transpose."""
        q, r = op_ctx.xp.linalg.qr(transposed(A))
        output0.assign(transposed(q))
        output1.assign(transposed(r))

    @gradient
    def a_gradient(
        self,
        op_ctx: OpContext,
        output0_grad: Array,
        output1_grad: Array,
        output0: Array,
        output1: Array,
        A_grad: Output,
    ) -> None:
        """`L.T**-1 @ (dQ + mirrored(L.T @ dL - dQ @ Q.T) @ Q)`."""
        xp, q, lower = op_ctx.xp, output0, output1
        inner = xp.matmul(transposed(lower), output1_grad)
        inner -= xp.matmul(output0_grad, transposed(q))
        total = xp.matmul(mirrored_lower(xp, inner), q)
        total += output0_grad
        A_grad.assign(solved(xp, transposed(lower), total))


def _eigenvectors_and_values(A: Array) -> tuple[Array, Array]:
    """By the factorization of matrices that need not be symmetric, for the contract checks."""
    values, columns = np.linalg.eig(A)
    order = values.argsort(-1)
    rows = np.take_along_axis(transposed(columns), order[..., None], -2)
    largest = np.where(rows.max(-1, initial=0) < -rows.min(-1, initial=0), -1, 1)
    return rows * largest[..., None], np.take_along_axis(values, order, -1)


@operator("linalg_syevd")
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

    def forward(self, op_ctx: OpContext, A: Array, output0: Output, output1: Output) -> None:
        """LAPACK's eigenvectors, with signs made unique."""
        values, columns = op_ctx.xp.linalg.eigh(A)
        output0.assign(_with_signs(op_ctx.xp, transposed(columns)))
        output1.assign(values)

    @gradient
    def a_gradient(
        self,
        op_ctx: OpContext,
        output0_grad: Array,
        output1_grad: Array,
        output0: Array,
        output1: Array,
        A_grad: Output,
    ) -> None:
        """`U.T @ (dU @ U.T / (L_i - L_j) + diag(dL)) @ U`, made symmetric."""
        xp, vectors = op_ctx.xp, output0
        gaps = output1[..., :, None] - output1[..., None, :]
        inner = xp.matmul(output0_grad, transposed(vectors))
        inner /= xp.where(gaps == 0, gaps.dtype.type(xp.inf), gaps)
        places = xp.arange(inner.shape[-1])
        inner[..., places, places] = output1_grad
        A_grad.assign(half_symmetric(xp.matmul(transposed(vectors), xp.matmul(inner, vectors))))


def _with_signs(xp: Any, rows: Array) -> Array:
    """The rows, negated where the first of their largest elements by size is negative."""
    if rows.shape[-1] == 0:
        return rows
    place = xp.argmax(xp.abs(rows), axis=-1)[..., None]
    return xp.where(xp.take_along_axis(rows, place, -1) < 0, -rows, rows)

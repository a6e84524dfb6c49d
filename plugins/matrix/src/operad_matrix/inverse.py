"""`linalg_inverse`, `linalg_det` and `linalg_slogdet`."""

# ruff: noqa: N803 - methods name the arguments, and MXNet calls them A, B and C

from __future__ import annotations

from typing import Any

import numpy as np

from operad_matrix.domains import REGULAR
from operad_matrix.linalg import MatrixOperator, NumberOperator, inverted
from operad_matrix.products import transposed
from operad_sdk import Array, Contract, OpContext, Output, gradient, operator


@operator("linalg_inverse")
class Inverse(MatrixOperator):
    """The inverse of each matrix.

    Shapes:
        A: (..., N, N), of which none is singular.
        output: (..., N, N).

    Example:
        >>> import operad as od
        >>> od.nd.linalg_inverse(od.nd.array([[2, 0], [0, 4]])).asnumpy()
        array([[0.5 , 0.  ],
               [0.  , 0.25]], dtype=float32)

    Source: _linalg_inverse, src/operator/tensor/la_op.cc.
    """

    spec = "A:(*S, N, N) -> output:(*S, N, N)"
    contract = Contract(
        inputs={"A": REGULAR},
        reference=lambda A: np.linalg.solve(A, np.broadcast_to(np.eye(A.shape[-1]), A.shape)),
    )

    def forward(self, op_ctx: OpContext, A: Array, output: Output) -> None:
        """LAPACK's inverse."""
        output.assign(inverted(op_ctx.xp, A))

    @gradient
    def a_gradient(self, op_ctx: OpContext, output_grad: Array, output: Array, A_grad: Output) -> None:
        """`-output.T @ ograd @ output.T`."""
        other = transposed(output)
        grad = op_ctx.xp.matmul(op_ctx.xp.matmul(other, output_grad), other)
        A_grad.assign(-grad)


@operator("linalg_det")
class Det(NumberOperator):
    """The determinant of each matrix. The gradient of a singular matrix is 0, as in MXNet.

    Shapes:
        A: (..., N, N).
        output: (...); (1,) for a single matrix.

    Example:
        >>> import operad as od
        >>> od.nd.linalg_det(od.nd.array([[1, 4], [2, 3]])).asnumpy()
        array([-5.], dtype=float32)

    Source: _linalg_det, src/operator/tensor/la_op.cc. Differs: no factors are kept for the gradient.
    """

    spec = "A:(*S, N, N) -> output:(*R)"
    contract = Contract(
        inputs={"A": REGULAR}, reference=lambda A: np.atleast_1d(np.linalg.eigvals(A).prod(-1).real)
    )

    def forward(self, op_ctx: OpContext, A: Array, output: Output) -> None:
        """LAPACK's factorization."""
        output.assign(op_ctx.xp.linalg.det(A))

    @gradient
    def a_gradient(
        self, op_ctx: OpContext, output_grad: Array, A: Array, output: Array, A_grad: Output
    ) -> None:
        """`ograd * output * A.T**-1`."""
        factor = (output_grad * output).reshape(A.shape[:-2])
        is_singular = (output == 0).reshape(A.shape[:-2])
        A_grad.assign(factor[..., None, None] * _inverse_transposed(op_ctx.xp, A, is_singular))


def _sign_and_logarithm(A: Array) -> tuple[Array, Array]:
    value = np.atleast_1d(np.linalg.eigvals(A).prod(-1).real)
    return np.sign(value), np.log(np.abs(value))


@operator("linalg_slogdet")
class SLogDet(NumberOperator):
    """The sign of each matrix's determinant, and the logarithm of its absolute value.

    The gradient of a singular matrix is 0, as in MXNet; the sign has none.

    Shapes:
        A: (..., N, N).
        output0: (...), the signs; (1,) for a single matrix.
        output1: As output0, the logarithms.

    Example:
        >>> import operad as od
        >>> sign, logarithm = od.nd.linalg_slogdet(od.nd.array([[1, 4], [2, 3]]))
        >>> sign.asnumpy(), logarithm.asnumpy().round(4)
        (array([-1.], dtype=float32), array([1.6094], dtype=float32))

    Source: _linalg_slogdet, src/operator/tensor/la_op.cc. Differs: no factors are kept for the gradient.
    """

    spec = "A:(*S, N, N) -> output0:(*R), output1:(*R)"
    contract = Contract(inputs={"A": REGULAR}, reference=_sign_and_logarithm)

    def forward(self, op_ctx: OpContext, A: Array, output0: Output, output1: Output) -> None:
        """LAPACK's factorization."""
        sign, logarithm = op_ctx.xp.linalg.slogdet(A)
        output0.assign(sign)
        output1.assign(logarithm)

    @gradient
    def a_gradient(
        self, op_ctx: OpContext, output1_grad: Array, A: Array, output0: Array, A_grad: Output
    ) -> None:
        """`ograd * A.T**-1`."""
        is_singular = (output0 == 0).reshape(A.shape[:-2])
        factor = (output1_grad * (output0 != 0)).reshape(A.shape[:-2])
        A_grad.assign(factor[..., None, None] * _inverse_transposed(op_ctx.xp, A, is_singular))


def _inverse_transposed(xp: Any, matrices: Array, is_singular: Array) -> Array:
    """The transposed inverses; the unit matrix for singular ones, which have none."""
    unit = xp.eye(matrices.shape[-1], dtype=matrices.dtype)
    return transposed(inverted(xp, xp.where(is_singular[..., None, None], unit, matrices)))

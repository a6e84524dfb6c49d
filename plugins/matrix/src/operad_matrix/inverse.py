"""`linalg_inverse`, `linalg_det` and `linalg_slogdet`."""

# ruff: noqa: N802, N803 - functions name the arguments, and MXNet calls them A, B and C

from __future__ import annotations

import numpy as np

from operad_matrix.domains import REGULAR
from operad_matrix.linalg import MatrixOperator, inverted, multiplied, number_shape, unit_like
from operad_matrix.products import transposed
from operad_sdk import Array, Contract, operator


@operator("_linalg_inverse")
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

    def forward(A: Array) -> Array:
        """LAPACK's inverse."""
        return inverted(A)

    def A_grad(output_grad: Array, output: Array) -> Array:
        """`d/d A = -output.T @ output_grad @ output.T`."""
        return -multiplied(transposed(output), output_grad, transposed(output))


@operator("_linalg_det")
class Det(MatrixOperator):
    """The determinant of each matrix. The gradient of a singular matrix is 0, as in MXNet.

    Shapes:
        A: (..., N, N).
        output0: (...); (1,) for a single matrix.

    Example:
        >>> import operad as od
        >>> od.nd.linalg_det(od.nd.array([[1, 4], [2, 3]])).asnumpy()
        array([-5.], dtype=float32)

    Source: _linalg_det, src/operator/tensor/la_op.cc. Differs: no factors are kept for the gradient.
    """

    spec = "A:(*S, N, N) -> output0:(*number_shape(S))"
    functions = {"number_shape": number_shape}
    contract = Contract(
        inputs={"A": REGULAR}, reference=lambda A: np.atleast_1d(np.linalg.eigvals(A).prod(-1).real)
    )

    def forward(A: Array) -> Array:
        """LAPACK's factorization."""
        return np.linalg.det(A)

    def A_grad(output0_grad: Array, A: Array, output0: Array) -> Array:
        """`d/d A = output0_grad * output0 * A.T**-1`."""
        return _scaled_inverse(output0_grad * output0, A, output0 == 0)


def _sign_and_logarithm(A: Array) -> tuple[Array, Array]:
    value = np.atleast_1d(np.linalg.eigvals(A).prod(-1).real)
    return np.sign(value), np.log(np.abs(value))


@operator("_linalg_slogdet")
class SLogDet(MatrixOperator):
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

    spec = "A:(*S, N, N) -> output0:(*number_shape(S)), output1:(*number_shape(S))"
    functions = {"number_shape": number_shape}
    constant_outputs = ("output0",)
    contract = Contract(inputs={"A": REGULAR}, reference=_sign_and_logarithm)

    def forward(A: Array) -> tuple[Array, Array]:
        """LAPACK's factorization."""
        sign, logarithm = np.linalg.slogdet(A)
        return sign, logarithm

    def A_grad(output1_grad: Array, A: Array, output0: Array) -> Array:
        """`d/d A = output1_grad * A.T**-1`."""
        return _scaled_inverse(output1_grad * (output0 != 0), A, output0 == 0)


def _scaled_inverse(factor: Array, matrices: Array, is_singular: Array) -> Array:
    """The transposed inverses times `factor`; for singular matrices, which have none, the unit matrix."""
    factor, is_singular = (x.reshape(*matrices.shape[:-2], 1, 1) for x in (factor, is_singular))
    return factor * transposed(inverted(np.where(is_singular, unit_like(matrices), matrices)))

"""`linalg_gemm`, `linalg_gemm2` and `linalg_syrk`: products of matrices in the last two axes."""

# ruff: noqa: N802, N803 - functions name the arguments, and MXNet calls them A, B and C

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from operad_matrix.linalg import MatrixOperator
from operad_matrix.products import scaled, transposed
from operad_sdk import (
    Array,
    Contract,
    InferredShapes,
    OpContext,
    PartialShape,
    ShapeError,
    gradient,
    operator,
    param,
)
from operad_sdk.products import divide, divided, divided_product, product

_Factors = tuple[Array, Array, Array, float]
"""The factors of a product, where it is written, and its scale."""
_OPERANDS: Final = (
    "A:(*S, N, K) if not transpose_a, A:(*S, K, N) if transpose_a,"
    " B:(*S, K, M) if not transpose_b, B:(*S, M, K) if transpose_b"
)


class Product(MatrixOperator):
    """Base class of products of two matrices."""

    transpose_a = param(bool, False, doc="Transpose A.")
    transpose_b = param(bool, False, doc="Transpose B.")
    alpha = param(float, 1.0, run_time=True, doc="Factor of the product; with 0 it is not computed.")
    axis: int  # declared by the subclasses, in MXNet's order
    is_product = True

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from `spec`, with the axes exchanged."""
        for name, shape in zip(self.list_arguments(), in_shapes, strict=True):
            if shape is not None and len(shape) >= 2 and not -len(shape) <= self.axis < len(shape):
                raise ShapeError(f"{self.name}: {name} has shape {shape}, which has no axis {self.axis}")
        ins, outs, aux = super().infer_shape([self._exchanged(shape) for shape in in_shapes])
        return [self._exchanged(s) for s in ins], [self._exchanged(s) for s in outs], aux

    def infer_shape_backward(
        self, in_shapes: Sequence[PartialShape], out_shapes: Sequence[PartialShape]
    ) -> list[PartialShape]:
        """Infer shapes from `spec`, with the axes exchanged."""
        known = [[self._exchanged(shape) for shape in shapes] for shapes in (in_shapes, out_shapes)]
        return [self._exchanged(shape) for shape in super().infer_shape_backward(*known)]

    def _exchanged(self, shape: PartialShape) -> PartialShape:
        if shape is None or self.axis == -2 or not -len(shape) <= self.axis < len(shape) or len(shape) < 2:
            return shape
        axes = list(shape)
        axes[self.axis], axes[-2] = axes[-2], axes[self.axis]
        return tuple(axes)

    def A_grad(
        output_grad: Array, B: Array, transpose_a: bool, transpose_b: bool, alpha: float, axis: int,
        A_grad: Array,
    ) -> None:  # fmt: skip
        """`d/d A = alpha output_grad @ B.T`, in the place of A or of its transpose."""
        product(*_a_factors(output_grad, B, transpose_a, transpose_b, alpha, axis, A_grad))

    def B_grad(
        output_grad: Array, A: Array, transpose_a: bool, transpose_b: bool, alpha: float, axis: int,
        B_grad: Array,
    ) -> None:  # fmt: skip
        """`d/d B = alpha A.T @ output_grad`, in the place of B or of its transpose."""
        product(*_b_factors(output_grad, A, transpose_a, transpose_b, alpha, axis, B_grad))


def _operand(array: Array, is_transposed: bool, axis: int) -> Array:
    """A view with the rows in the last axis but one, as it enters a product."""
    matrices = array if axis == -2 else array.swapaxes(axis, -2)
    return transposed(matrices) if is_transposed else matrices


def _factors(
    A: Array, B: Array, transpose_a: bool, transpose_b: bool, alpha: float, axis: int, output: Array
) -> _Factors:
    left, right = _operand(A, transpose_a, axis), _operand(B, transpose_b, axis)
    return left, right, _operand(output, False, axis), alpha


def _a_factors(
    output_grad: Array, B: Array, transpose_a: bool, transpose_b: bool, alpha: float, axis: int, A_grad: Array
) -> _Factors:
    right = transposed(_operand(B, transpose_b, axis))
    return _operand(output_grad, False, axis), right, _operand(A_grad, transpose_a, axis), alpha


def _b_factors(
    output_grad: Array, A: Array, transpose_a: bool, transpose_b: bool, alpha: float, axis: int, B_grad: Array
) -> _Factors:
    left = transposed(_operand(A, transpose_a, axis))
    return left, _operand(output_grad, False, axis), _operand(B_grad, transpose_b, axis), alpha


def _product(A: Array, B: Array, transpose_a: bool, transpose_b: bool, alpha: float, axis: int) -> Array:
    left, right = np.moveaxis(A, axis, -2), np.moveaxis(B, axis, -2)
    indices = f"...{'kn' if transpose_a else 'nk'},...{'mk' if transpose_b else 'km'}->...nm"
    return scaled(np.moveaxis(np.einsum(indices, left, right), -2, axis), alpha)


def _sum_with(
    A: Array,
    B: Array,
    C: Array,
    *,
    transpose_a: bool,
    transpose_b: bool,
    alpha: float,
    beta: float,
    axis: int,
) -> Array:
    return _product(A, B, transpose_a, transpose_b, alpha, axis) + scaled(C, beta)


_AXIS: Final[Any] = param(int, -2, doc="Axis of the matrices' rows; their columns are the last axis.")


@operator("_linalg_gemm2")
class Gemm2(Product):
    """`alpha * A @ B`.

    Shapes:
        A: (..., N, K); with `transpose_a` (..., K, N).
        B: (..., K, M); with `transpose_b` (..., M, K).
        output: (..., N, M). With `axis`, rows are along that axis instead of the last but one.

    Example:
        >>> import operad as od
        >>> x = od.nd.array([[1, 2]])
        >>> od.nd.linalg_gemm2(x, x, transpose_b=True, alpha=10).asnumpy()
        array([[50.]], dtype=float32)

    Source: LaMatrixMultParam, src/operator/tensor/la_op.h.
    """

    axis = _AXIS
    spec = f"{_OPERANDS} -> output:(*S, N, M)"
    contract = Contract(reference=_product)

    def forward(
        A: Array, B: Array, transpose_a: bool, transpose_b: bool, alpha: float, axis: int, output: Array
    ) -> None:
        """One product."""
        product(*_factors(A, B, transpose_a, transpose_b, alpha, axis, output))


divide(Gemm2, forward=_factors, A_grad=_a_factors, B_grad=_b_factors)


@operator("_linalg_gemm")
class Gemm(Product):
    """`alpha * A @ B + beta * C`.

    Shapes:
        A: (..., N, K); with `transpose_a` (..., K, N).
        B: (..., K, M); with `transpose_b` (..., M, K).
        C: (..., N, M).
        output: As C. With `axis`, rows are along that axis instead of the last but one.

    Example:
        >>> import operad as od
        >>> x = od.nd.array([[1, 2]])
        >>> od.nd.linalg_gemm(x, x, od.nd.array([[3]]), transpose_b=True, beta=2).asnumpy()
        array([[11.]], dtype=float32)

    Source: LaMatrixMacParam, src/operator/tensor/la_op.h.
    """

    beta = param(float, 1.0, run_time=True, doc="Factor of C; with 0 it is not read.")
    axis = _AXIS
    spec = f"{_OPERANDS}, C:(*S, N, M) -> output:(*S, N, M)"
    contract = Contract(reference=_sum_with)

    def forward(
        A: Array, B: Array, C: Array, transpose_a: bool, transpose_b: bool, alpha: float, beta: float,
        axis: int, output: Array,
    ) -> None:  # fmt: skip
        """One product, onto which `C` is added."""
        product(*_factors(A, B, transpose_a, transpose_b, alpha, axis, output))
        if beta:
            output += scaled(C, beta)

    @gradient(inplace="output_grad")
    def C_grad(output_grad: Array, beta: float) -> Array:
        """`d/d C = beta output_grad`."""
        return scaled(output_grad, beta)


@divided(Gemm, "forward")
def _sum_in_parts(
    op_ctx: OpContext, A: Array, B: Array, C: Array, transpose_a: bool, transpose_b: bool, alpha: float,
    beta: float, axis: int, output: Array,
) -> None:  # fmt: skip
    divided_product(op_ctx, *_factors(A, B, transpose_a, transpose_b, alpha, axis, output))
    if beta:
        output += scaled(C, beta)


divide(Gemm, A_grad=_a_factors, B_grad=_b_factors)


@operator("_linalg_syrk")
class Syrk(MatrixOperator):
    """`alpha * A @ A.T`; with `transpose`, `alpha * A.T @ A`.

    Shapes:
        A: (..., N, K); with `transpose` (..., K, N).
        output: (..., N, N).

    Example:
        >>> import operad as od
        >>> od.nd.linalg_syrk(od.nd.array([[1, 2], [0, 1]])).asnumpy()
        array([[5., 2.],
               [2., 1.]], dtype=float32)

    Source: LaSyrkParam, src/operator/tensor/la_op.h.
    """

    is_product = True
    transpose = param(bool, False, doc="Transpose A first.")
    alpha = param(float, 1.0, run_time=True, doc="Factor of the product; with 0 it is not computed.")
    spec = "A:(*S, N, K) if not transpose, A:(*S, K, N) if transpose -> output:(*S, N, N)"
    contract = Contract(
        reference=lambda A, transpose, alpha: scaled(
            np.einsum("...kn,...km->...nm" if transpose else "...nk,...mk->...nm", A, A), alpha
        )
    )

    def forward(A: Array, transpose: bool, alpha: float, output: Array) -> None:
        """One product."""
        left = transposed(A) if transpose else A
        product(left, transposed(left), output, alpha)

    def A_grad(output_grad: Array, A: Array, transpose: bool, alpha: float, A_grad: Array) -> None:
        """`d/d A = alpha (G + G.T) @ A`, with `transpose` `alpha A @ (G + G.T)`, for `G = output_grad`."""
        both = output_grad + transposed(output_grad)
        product(*((A, both) if transpose else (both, A)), A_grad, alpha)

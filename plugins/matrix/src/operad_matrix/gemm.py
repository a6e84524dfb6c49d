"""`linalg_gemm`, `linalg_gemm2` and `linalg_syrk`: products of matrices in the last two axes."""

# ruff: noqa: N803 - methods name the arguments, and MXNet calls them A, B and C

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad.errors import ShapeError
from operad.operator import InferredShapes
from operad_matrix.linalg import MatrixOperator
from operad_matrix.products import transposed, write_product
from operad_sdk import Array, Contract, OpContext, Output, PartialShape, gradient, operator, param


class Product(MatrixOperator):
    """What products of two matrices have in common."""

    transpose_a = param(bool, False, doc="Transpose A.")
    transpose_b = param(bool, False, doc="Transpose B.")
    alpha = param(float, 1.0, doc="Factor of the product.")
    axis = param(int, -2, doc="Axis of the matrices' rows; their columns are the last axis.")

    def spec(self) -> str:
        """One line of the shape language, for rows in the last axis but one."""
        left, right = self._operands()
        return f"A:({left}), B:({right}) -> output:(*S, N, M)"

    def _operands(self) -> tuple[str, str]:
        left = "*S, K, N" if self.transpose_a else "*S, N, K"
        return left, "*S, M, K" if self.transpose_b else "*S, K, M"

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """What follows from `spec`, with the axes exchanged."""
        for name, shape in zip(self.list_arguments(), in_shapes, strict=True):
            if shape is not None and len(shape) >= 2 and not -len(shape) <= self.axis < len(shape):
                raise ShapeError(f"{self.name}: {name} has shape {shape}, which has no axis {self.axis}")
        ins, outs, aux = super().infer_shape([self._exchanged(shape) for shape in in_shapes])
        return [self._exchanged(s) for s in ins], [self._exchanged(s) for s in outs], aux

    def infer_shape_backward(
        self, in_shapes: Sequence[PartialShape], out_shapes: Sequence[PartialShape]
    ) -> list[PartialShape]:
        """What follows from `spec`, with the axes exchanged."""
        known = [[self._exchanged(shape) for shape in shapes] for shapes in (in_shapes, out_shapes)]
        return [self._exchanged(shape) for shape in super().infer_shape_backward(*known)]

    def _exchanged(self, shape: PartialShape) -> PartialShape:
        if shape is None or self.axis == -2 or not -len(shape) <= self.axis < len(shape) or len(shape) < 2:
            return shape
        axes = list(shape)
        axes[self.axis], axes[-2] = axes[-2], axes[self.axis]
        return tuple(axes)

    def matrices(self, array: Array) -> Array:
        """A view with the rows in the last axis but one."""
        return array if self.axis == -2 else array.swapaxes(self.axis, -2)

    def left(self, array: Array) -> Array:
        """A view of `A` as it enters the product."""
        return transposed(self.matrices(array)) if self.transpose_a else self.matrices(array)

    def right(self, array: Array) -> Array:
        """A view of `B` as it enters the product."""
        return transposed(self.matrices(array)) if self.transpose_b else self.matrices(array)

    def write(self, xp: Any, left: Array, right: Array, output: Output, to_transposed: bool) -> None:
        """Write `alpha * left @ right`, or its transpose."""
        with output.writing() as out:
            target = self.matrices(out)
            xp.matmul(left, right, out=transposed(target) if to_transposed else target)
            if self.alpha != 1:
                out *= self.alpha

    @gradient
    def a_gradient(self, op_ctx: OpContext, output_grad: Array, B: Array, A_grad: Output) -> None:
        """The gradient of the output times `B`, transposed."""
        ograd = self.matrices(output_grad)
        self.write(op_ctx.xp, ograd, transposed(self.right(B)), A_grad, self.transpose_a)

    @gradient
    def b_gradient(self, op_ctx: OpContext, output_grad: Array, A: Array, B_grad: Output) -> None:
        """`A`, transposed, times the gradient of the output."""
        ograd = self.matrices(output_grad)
        self.write(op_ctx.xp, transposed(self.left(A)), ograd, B_grad, self.transpose_b)


def _product(A: Array, B: Array, transpose_a: bool, transpose_b: bool, alpha: float, axis: int) -> Array:
    left, right = np.moveaxis(A, axis, -2), np.moveaxis(B, axis, -2)
    indices = f"...{'kn' if transpose_a else 'nk'},...{'mk' if transpose_b else 'km'}->...nm"
    return alpha * np.moveaxis(np.einsum(indices, left, right), -2, axis)


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
    return _product(A, B, transpose_a, transpose_b, alpha, axis) + beta * C


@operator("linalg_gemm2")
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

    contract = Contract(reference=_product)

    def forward(self, op_ctx: OpContext, A: Array, B: Array, output: Output) -> None:
        """One product."""
        self.write(op_ctx.xp, self.left(A), self.right(B), output, False)


@operator("linalg_gemm")
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

    beta = param(float, 1.0, doc="Factor of C.")
    contract = Contract(reference=_sum_with)

    def spec(self) -> str:
        """One line of the shape language, for rows in the last axis but one."""
        left, right = self._operands()
        return f"A:({left}), B:({right}), C:(*S, N, M) -> output:(*S, N, M)"

    def forward(self, op_ctx: OpContext, A: Array, B: Array, C: Array, output: Output) -> None:
        """One product, onto which `C` is added."""
        with output.writing() as out:
            target = self.matrices(out)
            op_ctx.xp.matmul(self.left(A), self.right(B), out=target)
            if self.alpha != 1:
                out *= self.alpha
            out += C if self.beta == 1 else self.beta * C

    @gradient(inplace=[("output_grad", "C_grad")])
    def c_gradient(self, op_ctx: OpContext, output_grad: Array, C_grad: Output) -> None:
        """`beta` times the gradient of the output."""
        with C_grad.writing() as out:
            op_ctx.xp.multiply(output_grad, output_grad.dtype.type(self.beta), out=out)


@operator("linalg_syrk")
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

    transpose = param(bool, False, doc="Transpose A first.")
    alpha = param(float, 1.0, doc="Factor of the product.")
    contract = Contract(
        reference=lambda A, transpose, alpha: (
            alpha * np.einsum("...kn,...km->...nm" if transpose else "...nk,...mk->...nm", A, A)
        )
    )

    def spec(self) -> str:
        """One line of the shape language, which depends on `transpose`."""
        return f"A:(*S, {'K, N' if self.transpose else 'N, K'}) -> output:(*S, N, N)"

    def forward(self, op_ctx: OpContext, A: Array, output: Output) -> None:
        """One product."""
        left, right = (transposed(A), A) if self.transpose else (A, transposed(A))
        write_product(op_ctx.xp, left, right, output, self.alpha)

    @gradient
    def a_gradient(self, op_ctx: OpContext, output_grad: Array, A: Array, A_grad: Output) -> None:
        """Twice the symmetric part of the gradient, times `A`."""
        both = output_grad + transposed(output_grad)
        left, right = (A, both) if self.transpose else (both, A)
        write_product(op_ctx.xp, left, right, A_grad, self.alpha)

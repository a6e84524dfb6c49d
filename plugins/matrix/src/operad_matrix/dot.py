"""`dot` and `batch_dot`: products of two arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from operad.errors import ShapeError
from operad.operator import InferredShapes
from operad_matrix.products import transposed, write_product
from operad_sdk import (
    Array,
    Contract,
    OpContext,
    OperatorProperty,
    Output,
    PartialShape,
    Shape,
    gradient,
    operator,
    param,
)


@operator("dot")
class Dot(OperatorProperty):
    """The sum of products over the last axis of `lhs` and the first of `rhs`.

    For vectors it is the inner product, for matrices the matrix product.

    Shapes:
        lhs: (..., K); with `transpose_a` (K, ...).
        rhs: (K, ...); with `transpose_b` (..., K).
        output: The other axes of lhs, then those of rhs; (1,) where there are none.

    Example:
        >>> import operad as od
        >>> od.nd.dot(od.nd.array([[1, 2], [3, 4]]), od.nd.array([1, 10])).asnumpy()
        array([21., 43.], dtype=float32)

    Source: DotShape, src/operator/tensor/dot-inl.h. Differs: all arrays are dense.
    """

    transpose_a = param(bool, False, doc="Sum over the first axis of lhs instead of its last.")
    transpose_b = param(bool, False, doc="Sum over the last axis of rhs instead of its first.")
    forward_stype = param(str, None, choices=("default",), doc="Storage of the output.")
    contract = Contract(
        reference=lambda lhs, rhs, transpose_a, transpose_b: np.atleast_1d(
            np.tensordot(lhs, rhs, (0 if transpose_a else -1, -1 if transpose_b else 0))
        )
    )

    def list_arguments(self) -> list[str]:
        """Two."""
        return ["lhs", "rhs"]

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """The output's once both are known; the axes that are summed over must agree."""
        lhs, rhs = in_shapes
        if lhs == () or rhs == ():
            raise ShapeError(f"dot: lhs has shape {lhs} and rhs {rhs}, expected at least one axis each")
        if lhs is None or rhs is None:
            return [lhs, rhs], [None], []
        at_left, at_right = (0 if self.transpose_a else -1), (-1 if self.transpose_b else 0)
        length, other = lhs[at_left], rhs[at_right]
        if length is not None and other is not None and length != other:
            raise ShapeError(
                f"dot: lhs has shape {lhs} and rhs {rhs}: axis {at_left % len(lhs)} of lhs is {length}, "
                f"expected {other}, which axis {at_right % len(rhs)} of rhs is "
                f"(transpose_a={self.transpose_a}, transpose_b={self.transpose_b})"
            )
        length = other if length is None else length
        left = lhs[1:] if self.transpose_a else lhs[:-1]
        right = rhs[:-1] if self.transpose_b else rhs[1:]
        ins: list[PartialShape] = [
            (length, *left) if self.transpose_a else (*left, length),
            (*right, length) if self.transpose_b else (length, *right),
        ]
        return ins, [(*left, *right) or (1,)], []

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> float:
        """Multiplications and additions."""
        return 2.0 * prod(out_shapes[0]) * in_shapes[0][0 if self.transpose_a else -1]

    def forward(self, op_ctx: OpContext, lhs: Array, rhs: Array, output: Output) -> None:
        """One matrix product."""
        write_product(op_ctx.xp, self._left(lhs), self._right(rhs), output)

    @gradient
    def lhs_gradient(self, op_ctx: OpContext, output_grad: Array, rhs: Array, lhs_grad: Output) -> None:
        """The gradient of the output times `rhs`, transposed."""
        right = self._right(rhs)
        kept = lhs_grad.shape[1:] if self.transpose_a else lhs_grad.shape[:-1]
        ograd = output_grad.reshape(prod(kept), right.shape[1])
        if self.transpose_a:
            write_product(op_ctx.xp, right, ograd.T, lhs_grad)
        else:
            write_product(op_ctx.xp, ograd, right.T, lhs_grad)

    @gradient
    def rhs_gradient(self, op_ctx: OpContext, output_grad: Array, lhs: Array, rhs_grad: Output) -> None:
        """`lhs`, transposed, times the gradient of the output."""
        left = self._left(lhs)
        kept = rhs_grad.shape[:-1] if self.transpose_b else rhs_grad.shape[1:]
        ograd = output_grad.reshape(left.shape[0], prod(kept))
        if self.transpose_b:
            write_product(op_ctx.xp, ograd.T, left, rhs_grad)
        else:
            write_product(op_ctx.xp, left.T, ograd, rhs_grad)

    def _left(self, lhs: Array) -> Array:
        """`lhs` as a matrix (other axes, summed axis)."""
        if self.transpose_a:
            return lhs.reshape(lhs.shape[0], prod(lhs.shape[1:])).T
        return lhs.reshape(prod(lhs.shape[:-1]), lhs.shape[-1])

    def _right(self, rhs: Array) -> Array:
        """`rhs` as a matrix (summed axis, other axes)."""
        if self.transpose_b:
            return rhs.reshape(prod(rhs.shape[:-1]), rhs.shape[-1]).T
        return rhs.reshape(rhs.shape[0], prod(rhs.shape[1:]))


@operator("batch_dot")
class BatchDot(OperatorProperty):
    """Matrix products of the last two axes, one for each place along the others.

    Shapes:
        lhs: (..., N, K); with `transpose_a` (..., K, N).
        rhs: (..., K, M); with `transpose_b` (..., M, K). At least one axis precedes, as in lhs.
        output: (..., N, M).

    Example:
        >>> import operad as od
        >>> rows, columns = od.nd.array([[[1, 2]], [[3, 4]]]), od.nd.array([[[1], [1]], [[1], [10]]])
        >>> od.nd.batch_dot(rows, columns).asnumpy().ravel()
        array([ 3., 43.], dtype=float32)

    Source: BatchDotShape, src/operator/tensor/dot-inl.h.
    """

    transpose_a = param(bool, False, doc="Transpose the matrices of lhs.")
    transpose_b = param(bool, False, doc="Transpose the matrices of rhs.")
    forward_stype = param(str, None, choices=("default",), doc="Storage of the output.")
    contract = Contract(
        reference=lambda lhs, rhs, transpose_a, transpose_b: np.einsum(
            f"...{'kn' if transpose_a else 'nk'},...{'mk' if transpose_b else 'km'}->...nm", lhs, rhs
        )
    )

    def spec(self) -> str:
        """One line of the shape language, which depends on what is transposed."""
        left = "K, N" if self.transpose_a else "N, K"
        right = "M, K" if self.transpose_b else "K, M"
        return f"lhs:(B, *S, {left}), rhs:(B, *S, {right}) -> output:(B, *S, N, M)"

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> float:
        """Multiplications and additions."""
        return 2.0 * prod(out_shapes[0]) * in_shapes[0][-2 if self.transpose_a else -1]

    def forward(self, op_ctx: OpContext, lhs: Array, rhs: Array, output: Output) -> None:
        """All products in one call."""
        left = transposed(lhs) if self.transpose_a else lhs
        write_product(op_ctx.xp, left, transposed(rhs) if self.transpose_b else rhs, output)

    @gradient
    def lhs_gradient(self, op_ctx: OpContext, output_grad: Array, rhs: Array, lhs_grad: Output) -> None:
        """The gradient of the output times `rhs`, transposed."""
        right: Any = rhs if self.transpose_b else transposed(rhs)
        if self.transpose_a:
            write_product(op_ctx.xp, transposed(right), transposed(output_grad), lhs_grad)
        else:
            write_product(op_ctx.xp, output_grad, right, lhs_grad)

    @gradient
    def rhs_gradient(self, op_ctx: OpContext, output_grad: Array, lhs: Array, rhs_grad: Output) -> None:
        """`lhs`, transposed, times the gradient of the output."""
        left: Any = lhs if self.transpose_a else transposed(lhs)
        if self.transpose_b:
            write_product(op_ctx.xp, transposed(output_grad), transposed(left), rhs_grad)
        else:
            write_product(op_ctx.xp, left, output_grad, rhs_grad)

"""Diagonals and triangles of matrices as vectors, and back."""

# ruff: noqa: N803 - methods name the arguments, and MXNet calls them A, B and C

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt
from typing import Any

import numpy as np

from operad.errors import ShapeError
from operad.operator import InferredShapes
from operad_matrix.linalg import MatrixOperator
from operad_sdk import Array, Contract, OpContext, Output, PartialShape, gradient, operator, param


class Packing(MatrixOperator):
    """Some places of a matrix, in an order, as a vector."""

    offset = param(int, 0, doc="Diagonals above the main one; below it if negative.")

    def length(self, size: int) -> int:
        """How many places there are in a matrix of `size` rows."""
        return max(0, size - abs(int(self.offset)))

    def places(self, xp: Any, size: int) -> tuple[Array, Array]:
        """Rows and columns of the places."""
        along = xp.arange(self.length(size))
        return along + max(0, -self.offset), along + max(0, self.offset)


class Extract(Packing):
    """Takes places out of a matrix."""

    spec = "A:(*S, N, N) -> output:(*S, L)"

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """The number of places, once the size is known."""
        (shape,) = super().infer_shape(in_shapes)[0]
        if shape is None:
            return [None], [None], []
        size = shape[-1]
        return [shape], [(*shape[:-2], None if size is None else self._checked(shape, size))], []

    def _checked(self, shape: Sequence[int | None], size: int) -> int:
        if abs(self.offset) >= size > 0:
            raise ShapeError(
                f"{self.name}: A has shape {tuple(shape)}, expected more rows than offset {self.offset}"
            )
        return self.length(size)

    def forward(self, op_ctx: OpContext, A: Array, output: Output) -> None:
        """Take."""
        rows, columns = self.places(op_ctx.xp, A.shape[-1])
        output.assign(A[..., rows, columns])

    @gradient
    def a_gradient(self, op_ctx: OpContext, output_grad: Array, A_grad: Output) -> None:
        """Put back."""
        rows, columns = self.places(op_ctx.xp, A_grad.shape[-1])
        with A_grad.writing() as out:
            out[...] = 0
            out[..., rows, columns] = output_grad


class Make(Packing):
    """Puts a vector into the places of a matrix of zeros."""

    spec = "A:(*S, L) -> output:(*S, N, N)"

    def size(self, length: int) -> int:
        """How many rows a matrix with `length` places has."""
        return length + abs(int(self.offset))

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """The matrix's size, once the number of places is known."""
        (shape,) = super().infer_shape(in_shapes)[0]
        if shape is None:
            return [None], [None], []
        size = None if shape[-1] is None else self.size(shape[-1])
        return [shape], [(*shape[:-1], size, size)], []

    def forward(self, op_ctx: OpContext, A: Array, output: Output) -> None:
        """Put."""
        with output.writing() as out:
            out[...] = 0
            rows, columns = self.places(op_ctx.xp, out.shape[-1])
            out[..., rows, columns] = A

    @gradient
    def a_gradient(self, op_ctx: OpContext, output_grad: Array, A_grad: Output) -> None:
        """Take back."""
        rows, columns = self.places(op_ctx.xp, output_grad.shape[-1])
        A_grad.assign(output_grad[..., rows, columns])


class Triangle(Packing):
    """The places of a triangle: the lower one row by row, the upper one column by column."""

    lower = param(bool, True, doc="The lower triangle, if offset is 0; else its sign decides.")

    def length(self, size: int) -> int:
        """A triangular number."""
        rows = super().length(size)
        return rows * (rows + 1) // 2

    def places(self, xp: Any, size: int) -> tuple[Array, Array]:
        """In the order LAPACK packs triangles."""
        if self.offset < 0 or (self.offset == 0 and self.lower):
            rows, columns = xp.tril_indices(size, self.offset)
            return rows, columns
        columns, rows = xp.tril_indices(size, -self.offset)
        return rows, columns


# What the contract checks compare with: products with parts of unit matrices, and masks.


def _with_diagonal(A: Array, offset: int) -> Array:
    length = A.shape[-1]
    rows, columns = (np.eye(length, length + abs(offset), max(0, k)) for k in (-offset, offset))
    return np.einsum("...i,ij,ik->...jk", A, rows, columns)


def _packed(A: Array, offset: int, lower: bool) -> Array:
    if offset < 0 or (offset == 0 and lower):
        return A[..., np.tri(A.shape[-1], k=offset, dtype=bool)]
    return np.swapaxes(A, -1, -2)[..., np.tri(A.shape[-1], k=-offset, dtype=bool)]


def _unpacked(A: Array, offset: int, lower: bool) -> Array:
    size = next(n for n in range(A.shape[-1] + 1) if n * (n + 1) // 2 == A.shape[-1]) + abs(offset)
    out = np.zeros((*A.shape[:-1], size, size))
    is_lower = offset < 0 or (offset == 0 and lower)
    out[..., np.tri(size, k=-abs(offset), dtype=bool)] = A
    return out if is_lower else np.swapaxes(out, -1, -2)


@operator("linalg_extractdiag")
class ExtractDiag(Extract):
    """A diagonal of each matrix.

    Shapes:
        A: (..., N, N).
        output: (..., N - abs(offset)).

    Example:
        >>> import operad as od
        >>> od.nd.linalg_extractdiag(od.nd.array([[1, 2], [3, 4]]), offset=1).asnumpy()
        array([2.], dtype=float32)

    Source: LaDiagParam, src/operator/tensor/la_op.h.
    """

    contract = Contract(reference=lambda A, offset: np.diagonal(A, offset, -2, -1))


@operator("linalg_makediag")
class MakeDiag(Make):
    """Matrices with the given diagonals, and else 0.

    Shapes:
        A: (..., L).
        output: (..., N, N), where N is L + abs(offset).

    Example:
        >>> import operad as od
        >>> od.nd.linalg_makediag(od.nd.array([5]), offset=-1).asnumpy()
        array([[0., 0.],
               [5., 0.]], dtype=float32)

    Source: LaDiagParam, src/operator/tensor/la_op.h.
    """

    contract = Contract(reference=_with_diagonal)


@operator("linalg_extracttrian")
class ExtractTrian(Triangle, Extract):
    """A triangle of each matrix, packed: the lower one row by row, the upper one column by column.

    Shapes:
        A: (..., N, N).
        output: (..., K (K + 1) / 2), where K is N - abs(offset).

    Example:
        >>> import operad as od
        >>> od.nd.linalg_extracttrian(od.nd.array([[1, 2], [3, 4]])).asnumpy()
        array([1., 3., 4.], dtype=float32)

    Source: LaTrianParam, src/operator/tensor/la_op.h.
    """

    contract = Contract(reference=_packed)


@operator("linalg_maketrian")
class MakeTrian(Triangle, Make):
    """Matrices with the given packed triangles, and else 0.

    Shapes:
        A: (..., K (K + 1) / 2).
        output: (..., N, N), where N is K + abs(offset).

    Example:
        >>> import operad as od
        >>> od.nd.linalg_maketrian(od.nd.array([1, 3, 4])).asnumpy()
        array([[1., 0.],
               [3., 4.]], dtype=float32)

    Source: LaTrianParam, src/operator/tensor/la_op.h.
    """

    contract = Contract(reference=_unpacked)

    def size(self, length: int) -> int:
        """The length must be a triangular number."""
        rows = (isqrt(8 * length + 1) - 1) // 2
        if rows * (rows + 1) // 2 != length:
            raise ShapeError(f"{self.name}: the last axis of A is {length}, expected a triangular number")
        return super().size(rows)

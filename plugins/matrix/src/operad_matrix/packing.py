"""Diagonals and triangles of matrices as vectors, and back.

The positions of a vector's elements in a matrix are two arrays, of rows and of columns.
"""

# ruff: noqa: N802, N803 - functions name the arguments, and MXNet calls them A, B and C

from __future__ import annotations

from math import isqrt
from typing import Any, Final

import numpy as np

from operad_matrix.linalg import MatrixOperator
from operad_sdk import Array, Contract, OpContext, Shape, ShapeError, operator, param

_OFFSET: Final[Any] = param(int, 0, doc="Diagonals above the main one; below it if negative.")
_LOWER: Final[Any] = param(bool, True, doc="The lower triangle, if offset is 0; else its sign decides.")


def _diagonal(xp: Any, size: int, offset: int) -> tuple[Array, Array]:
    """The positions of a diagonal of a matrix of `size` rows."""
    along = xp.arange(max(0, size - abs(offset)))
    return along + max(0, -offset), along + max(0, offset)


def _triangle(xp: Any, size: int, offset: int, lower: bool) -> tuple[Array, Array]:
    """The positions of a triangle, in the order LAPACK packs: by row the lower one, by column the upper."""
    if offset < 0 or (offset == 0 and lower):
        rows, columns = xp.tril_indices(size, offset)
    else:
        columns, rows = xp.tril_indices(size, -offset)
    return rows, columns


def _put(positions: tuple[Array, Array], values: Array, matrices: Array) -> None:
    """Fill `matrices` with `values` in their positions, and else 0."""
    matrices[...] = 0
    matrices[..., positions[0], positions[1]] = values


def _length(size: int, offset: int) -> Shape:
    """Length of the diagonal of a matrix of `size` rows."""
    if abs(offset) >= size > 0:
        raise ShapeError(f"A has matrices of shape {(size, size)}, expected more rows than offset {offset}")
    return (max(0, size - abs(offset)),)


def _packed_length(size: int, offset: int) -> Shape:
    """Number of elements in the triangle of a matrix of `size` rows."""
    (rows,) = _length(size, offset)
    return (rows * (rows + 1) // 2,)


def _sides(length: int, offset: int) -> Shape:
    """The shape of a matrix with a diagonal of `length`."""
    return (length + abs(offset),) * 2


def _unpacked_sides(length: int, offset: int) -> Shape:
    """The shape of a matrix with a triangle of `length` positions."""
    # mutant: equivalent, because half of an odd number is rounded down
    rows = (isqrt(8 * length + 1) - 1) // 2
    # mutant: /: equivalent, because one of both is even
    if rows * (rows + 1) // 2 != length:
        raise ShapeError(f"the last axis of A is {length}, expected a triangular number")
    return _sides(rows, offset)


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


@operator("_linalg_extractdiag")
class ExtractDiag(MatrixOperator):
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

    offset = _OFFSET
    spec = "A:(*S, N, N) -> output:(*S, *length(N, offset))"
    functions = {"length": _length}
    contract = Contract(reference=lambda A, offset: np.diagonal(A, offset, -2, -1))

    def forward(A: Array, offset: int, op_ctx: OpContext) -> Array:
        """Take."""
        return A[(..., *_diagonal(op_ctx.xp, A.shape[-1], offset))]

    def A_grad(output_grad: Any, offset: int, op_ctx: OpContext, A_grad: Array) -> None:
        """`d/d A` is `output_grad` on that diagonal, and else 0."""
        _put(_diagonal(op_ctx.xp, A_grad.shape[-1], offset), output_grad, A_grad)


@operator("_linalg_makediag")
class MakeDiag(MatrixOperator):
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

    offset = _OFFSET
    spec = "A:(*S, L) -> output:(*S, *sides(L, offset))"
    functions = {"sides": _sides}
    contract = Contract(reference=_with_diagonal)

    def forward(A: Array, offset: int, op_ctx: OpContext, output: Array) -> None:
        """Put."""
        _put(_diagonal(op_ctx.xp, output.shape[-1], offset), A, output)

    def A_grad(output_grad: Array, offset: int, op_ctx: OpContext) -> Array:
        """`d/d A`: the diagonal of `output_grad`."""
        return output_grad[(..., *_diagonal(op_ctx.xp, output_grad.shape[-1], offset))]


@operator("_linalg_extracttrian")
class ExtractTrian(MatrixOperator):
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

    offset = _OFFSET
    lower = _LOWER
    spec = "A:(*S, N, N) -> output:(*S, *packed_length(N, offset))"
    functions = {"packed_length": _packed_length}
    contract = Contract(reference=_packed)

    def forward(A: Array, offset: int, lower: bool, op_ctx: OpContext) -> Array:
        """Take."""
        # mutant: 1 becomes 2: equivalent, because they are square
        return A[(..., *_triangle(op_ctx.xp, A.shape[-1], offset, lower))]

    def A_grad(output_grad: Any, offset: int, lower: bool, op_ctx: OpContext, A_grad: Array) -> None:
        """`d/d A` is `output_grad` in that triangle, and else 0."""
        _put(_triangle(op_ctx.xp, A_grad.shape[-1], offset, lower), output_grad, A_grad)


@operator("_linalg_maketrian")
class MakeTrian(MatrixOperator):
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

    offset = _OFFSET
    lower = _LOWER
    spec = "A:(*S, L) -> output:(*S, *unpacked_sides(L, offset))"
    functions = {"unpacked_sides": _unpacked_sides}
    contract = Contract(reference=_unpacked)

    def forward(A: Array, offset: int, lower: bool, op_ctx: OpContext, output: Array) -> None:
        """Put."""
        _put(_triangle(op_ctx.xp, output.shape[-1], offset, lower), A, output)

    def A_grad(output_grad: Array, offset: int, lower: bool, op_ctx: OpContext) -> Array:
        """`d/d A`: the triangle of `output_grad`."""
        return output_grad[(..., *_triangle(op_ctx.xp, output_grad.shape[-1], offset, lower))]

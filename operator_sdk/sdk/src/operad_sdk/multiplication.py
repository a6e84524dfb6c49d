"""Products of two matrices by BLAS or by kernels in vector code, whichever was measured to be faster.

OpenBLAS copies both matrices for each product; few rows do not pay for that. So a kernel is 1.1 to 3 times
as fast, most where rows are few, and where the right matrix is turned or was packed before. Small products
have kernels of their own in OpenBLAS, which copy nothing. Of a stack of matrices NumPy calls BLAS for each,
which takes twice as long as a kernel for all. Where registers hold no more than 8 vectors, as those of AVX2,
OpenBLAS's kernels are as fast, so BLAS multiplies there.
"""

from __future__ import annotations

from typing import Final, final

import numpy as np

from operad.operator import Array, OpContext
from operad_sdk.vector import host, reason_against, tiled_product

_VECTORS_HELD: Final = 32
"""Vectors that registers hold where vector code is faster at all: those of AVX-512."""
_LARGE: Final = 1 << 20
"""Multiplications from which vector code is faster."""
_TURNED: Final = (1 << 17, 1 << 10)
"""Multiplications, and elements of the product, from which it is where columns of the right matrix are in one
piece each."""
_COLUMNS: Final = 8
"""Columns from which enough lanes of a vector are used."""
_STACKED: Final = 1 << 17
"""Multiplications of a stack of matrices from which it is."""
_PART: Final = 1 << 18
"""Multiplications of a part of a stack, below which a thread is not worth its call."""
_APART: Final = (16, 1 << 22)
"""Rows up to which, and elements of the right matrix from which, BLAS reads rows of that matrix faster."""
_COPIED_BY_BLAS: Final = 1 << 19
"""Elements of a matrix that does not stay in a core's cache."""
_TYPES: Final = (np.dtype(np.float32), np.dtype(np.float64))


def reason_for_blas(rows: int, right: Array) -> str | None:
    """Reason why BLAS multiplies a matrix of so many rows with another one; None: vector code is faster.

    Args:
        rows: Of the left matrix, or of each of a stack.
        right: (K, M), or a stack of such matrices.
    """
    inner, columns = right.shape[-2:]
    products = rows * right.size
    if rows == 1 or inner == 1 or columns < _COLUMNS:
        return f"BLAS computes ({rows}, {inner}) by ({inner}, {columns}) faster"
    if right.size > inner * columns:
        if products < _STACKED:
            return f"{products} products of a stack, BLAS is faster up to {_STACKED}"
        return _reason_of_host()
    if right.strides[-1] != right.itemsize:
        least, elements = _TURNED
        if products >= least and rows * columns > elements:
            return _reason_of_host()
        return (
            f"{products} products for {rows * columns} elements, BLAS is faster up to {least} or {elements}"
        )
    if right.dtype != np.float32:
        return f"BLAS is as fast in {right.dtype} where rows are in one piece each"
    if products < _LARGE:
        return f"{products} products, BLAS is faster up to {_LARGE}"
    if rows <= _APART[0] and right.size >= _APART[1]:
        return f"BLAS reads a matrix of {right.size} elements faster for {rows} rows"
    return _reason_of_host()


def are_of_kernels(*arrays: Array) -> bool:
    """Return whether arrays are the host's, and of one type that kernels compute in."""
    dtype = arrays[0].dtype
    are_alike = all(isinstance(array, np.ndarray) and array.dtype == dtype for array in arrays)
    return are_alike and dtype in _TYPES


def multiply(
    left: Array, right: Array, out: Array, bias: Array | None = None, op_ctx: OpContext | None = None
) -> None:
    """Write `left @ right + bias`.

    Args:
        left: (N, K), or a stack of matrices, (..., N, K).
        right: (K, M), or (..., K, M).
        out: (N, M), or (..., N, M), which shares no memory with the others.
        bias: (M,), added to each row; or None.
        op_ctx: Whose threads compute parts of a large product in vector code, or of a stack; None: the
            calling thread alone.
    """
    if out.ndim > 2:
        left, right = (_stacked(each, out) for each in (left, right))
    if are_of_kernels(left, right, out) and reason_for_blas(left.shape[-2], right) is None:
        tiled_product(left, right, out, bias, op_ctx=op_ctx)
        return
    _by_blas(left, right, out, op_ctx)
    if bias is not None:
        np.add(out, bias, out=out)


def _by_blas(left: Array, right: Array, out: Array, op_ctx: OpContext | None) -> None:
    count = min(len(out), int(out.size) * left.shape[-1] // _PART) if out.ndim > 2 else 1
    if op_ctx is None or op_ctx.num_threads == 1 or count < 2:
        np.matmul(left, right, out=out)
        return

    def part(number: int, _: int) -> None:
        some = slice(len(out) * number // count, len(out) * (number + 1) // count)
        np.matmul(left[some], right[some], out=out[some])

    op_ctx.parallel(part, count, op_ctx.num_threads)


@final
class RightFactor:
    """The right matrix of products by BLAS that follow each other, such as those of the steps of a layer.

    Args:
        matrix: (K, M); is not written to while there are products.
    """

    def __init__(self, matrix: Array) -> None:
        self._matrix = matrix
        self._product: Array | None = None
        self._is_large = matrix.size >= _COPIED_BY_BLAS
        if not (self._is_large or matrix.flags.c_contiguous):
            self._matrix = matrix.copy()

    def multiply(self, left: Array, out: Array, bias: Array | None = None, *, adds: bool = False) -> None:
        """Write `left @ matrix + bias`, or add it to what is there, in the calling thread.

        Args:
            left: (N, K).
            out: (N, M), each row in one piece; shares no memory with the others.
            bias: (M,) in one piece, added to each row; or None.
        """
        product = np.matmul(left, self._matrix, out=self._target(out, adds))
        if bias is not None:
            np.add(product, bias, out=product)
        if adds:
            np.add(out, product, out=out)
        elif product is not out:
            np.copyto(out, product)

    def _target(self, out: Array, adds: bool) -> Array:
        """The array into which BLAS writes a product.

        It copies the matrix in pieces each time. A large one it copies faster as it lies, for a product that
        is transposed: 0.42 ms in place of 0.71 for 16 rows of 512 units and 2048 gates.
        """
        if not adds and not self._is_large:
            return out
        if self._product is None or self._product.shape != out.shape:
            self._product = np.empty_like(out.T if self._is_large else out, order="C")
            self._product = self._product.T if self._is_large else self._product
        return self._product


def _stacked(matrices: Array, out: Array) -> Array:
    """As many matrices as the product has."""
    stack = out.shape[:-2]
    return (
        matrices
        if matrices.shape[:-2] == stack
        else np.broadcast_to(matrices, (*stack, *matrices.shape[-2:]))
    )


def _reason_of_host() -> str | None:
    """Reason why BLAS multiplies everything in this process."""
    reason = reason_against()
    if reason is None and host().vectors_held < _VECTORS_HELD:
        reason = f"registers hold {host().vectors_held} vectors, and BLAS is as fast"
    return reason

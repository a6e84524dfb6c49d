"""`dot` and `batch_dot`: products of two arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np

from operad_matrix.products import transposed
from operad_sdk import (
    Array,
    Contract,
    Cost,
    InferredShapes,
    OperatorProperty,
    PartialShape,
    Shape,
    operator,
    param,
    product_cost,
)
from operad_sdk.products import divide, product, tile

_Factors = tuple[Array, Array, Array]
"""The factors of a product, and where it is written."""
_STORAGE: Final[Any] = param(
    str, None, choices=("csr", "default", "row_sparse"), ignored="Storage of the output; arrays are dense."
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
    forward_stype = _STORAGE
    spec = (
        "lhs:(*L, K) if not transpose_a, lhs:(K, *L) if transpose_a,"
        " rhs:(K, *R) if not transpose_b, rhs:(*R, K) if transpose_b"
        " -> output:(*outer(L, R))"
    )
    functions = {"outer": lambda left, right: (*left, *right) or (1,)}
    compute_dtype = "float32"
    multiplies = ("lhs", "rhs")
    contract = Contract(
        reference=lambda lhs, rhs, transpose_a, transpose_b: np.atleast_1d(
            np.tensordot(lhs, rhs, (0 if transpose_a else -1, -1 if transpose_b else 0))
        )
    )

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """The output has an axis for each that is not summed over, also where a length is unknown."""
        (lhs, rhs), (output,), states = super().infer_shape(in_shapes)
        if output is None and lhs and rhs:
            left = lhs[1:] if self.transpose_a else lhs[:-1]
            output = (*left, *(rhs[:-1] if self.transpose_b else rhs[1:])) or (1,)
        return [lhs, rhs], [output], states

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Multiplications and additions."""
        flops = 2.0 * prod(out_shapes[0]) * in_shapes[0][0 if self.transpose_a else -1]
        return product_cost(flops, *in_shapes, *out_shapes)._replace(beside_us=3)

    def forward(lhs: Array, rhs: Array, transpose_a: bool, transpose_b: bool, output: Array) -> None:
        """One product, of matrices of all that is summed over and all that is not."""
        product(*_factors(lhs, rhs, transpose_a, transpose_b, output))

    def lhs_grad(
        output_grad: Array, rhs: Array, transpose_a: bool, transpose_b: bool, lhs_grad: Array
    ) -> None:
        """`d/d lhs = output_grad @ rhs.T`."""
        product(*_lhs_factors(output_grad, rhs, transpose_a, transpose_b, lhs_grad))

    def rhs_grad(
        output_grad: Array, lhs: Array, transpose_a: bool, transpose_b: bool, rhs_grad: Array
    ) -> None:
        """`d/d rhs = lhs.T @ output_grad`."""
        product(*_rhs_factors(output_grad, lhs, transpose_a, transpose_b, rhs_grad))


def _num_rows(array: Array, sums_last: bool) -> int:
    """Number of elements of the axes that are not summed over."""
    return prod(array.shape[:-1] if sums_last else array.shape[1:])


def _rows(array: Array, sums_last: bool) -> Array:
    """`array` as a matrix (other axes, summed axis)."""
    count = _num_rows(array, sums_last)
    return array.reshape(count, array.shape[-1]) if sums_last else array.reshape(len(array), count).T


def _factors(lhs: Array, rhs: Array, transpose_a: bool, transpose_b: bool, output: Array) -> _Factors:
    return _rows(lhs, not transpose_a), _rows(rhs, transpose_b).T, output


def _lhs_factors(
    output_grad: Array, rhs: Array, transpose_a: bool, transpose_b: bool, lhs_grad: Array
) -> _Factors:
    right = _rows(rhs, transpose_b)
    head = output_grad.reshape(_num_rows(lhs_grad, not transpose_a), len(right))
    return *((right.T, head.T) if transpose_a else (head, right)), lhs_grad


def _rhs_factors(
    output_grad: Array, lhs: Array, transpose_a: bool, transpose_b: bool, rhs_grad: Array
) -> _Factors:
    left = _rows(lhs, not transpose_a)
    head = output_grad.reshape(len(left), _num_rows(rhs_grad, transpose_b))
    return *((head.T, left) if transpose_b else (left.T, head)), rhs_grad


divide(Dot, forward=_factors, lhs_grad=_lhs_factors, rhs_grad=_rhs_factors)
tile(Dot, forward=_factors, lhs_grad=_lhs_factors, rhs_grad=_rhs_factors)


@operator("batch_dot")
class BatchDot(OperatorProperty):
    """Matrix products of the last two axes, one for each position along the others.

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
    forward_stype = _STORAGE
    spec = (
        "lhs:(B, *S, N, K) if not transpose_a, lhs:(B, *S, K, N) if transpose_a,"
        " rhs:(B, *S, K, M) if not transpose_b, rhs:(B, *S, M, K) if transpose_b"
        " -> output:(B, *S, N, M)"
    )
    compute_dtype = "float32"
    multiplies = ("lhs", "rhs")
    contract = Contract(
        reference=lambda lhs, rhs, transpose_a, transpose_b: np.einsum(
            f"...{'kn' if transpose_a else 'nk'},...{'mk' if transpose_b else 'km'}->...nm", lhs, rhs
        )
    )

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Multiplications and additions."""
        flops = 2.0 * prod(out_shapes[0]) * in_shapes[0][-2 if self.transpose_a else -1]
        return product_cost(flops, *in_shapes, *out_shapes)._replace(beside_us=3)

    def forward(lhs: Array, rhs: Array, transpose_a: bool, transpose_b: bool, output: Array) -> None:
        """All products in one call."""
        product(*_batch_factors(lhs, rhs, transpose_a, transpose_b, output))

    def lhs_grad(
        output_grad: Array, rhs: Array, transpose_a: bool, transpose_b: bool, lhs_grad: Array
    ) -> None:
        """`d/d lhs = output_grad @ rhs.T`, in the place of lhs or of its transpose."""
        product(*_batch_lhs_factors(output_grad, rhs, transpose_a, transpose_b, lhs_grad))

    def rhs_grad(
        output_grad: Array, lhs: Array, transpose_a: bool, transpose_b: bool, rhs_grad: Array
    ) -> None:
        """`d/d rhs = lhs.T @ output_grad`, in the place of rhs or of its transpose."""
        product(*_batch_rhs_factors(output_grad, lhs, transpose_a, transpose_b, rhs_grad))


def _turned(matrices: Array, is_turned: bool) -> Array:
    return transposed(matrices) if is_turned else matrices


def _batch_factors(lhs: Array, rhs: Array, transpose_a: bool, transpose_b: bool, output: Array) -> _Factors:
    return _turned(lhs, transpose_a), _turned(rhs, transpose_b), output


def _batch_lhs_factors(
    output_grad: Array, rhs: Array, transpose_a: bool, transpose_b: bool, lhs_grad: Array
) -> _Factors:
    return output_grad, _turned(rhs, not transpose_b), _turned(lhs_grad, transpose_a)


def _batch_rhs_factors(
    output_grad: Array, lhs: Array, transpose_a: bool, transpose_b: bool, rhs_grad: Array
) -> _Factors:
    return _turned(lhs, not transpose_a), output_grad, _turned(rhs_grad, transpose_b)


divide(BatchDot, forward=_batch_factors, lhs_grad=_batch_lhs_factors, rhs_grad=_batch_rhs_factors)
tile(BatchDot, forward=_batch_factors, lhs_grad=_batch_lhs_factors, rhs_grad=_batch_rhs_factors)

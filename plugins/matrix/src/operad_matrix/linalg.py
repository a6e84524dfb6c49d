"""What the linalg operators have in common: matrices in the last two axes, of float32 or float64."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from operad.dtypes import DType
from operad.errors import DTypeError
from operad.operator import InferredShapes, InferredTypes
from operad_matrix.products import transposed
from operad_sdk import Array, OperatorProperty, PartialShape, Shape


class MatrixOperator(OperatorProperty):
    """An operator of matrices of the element types that LAPACK has."""

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """float32 or float64 throughout."""
        for name, dtype in zip(self.list_arguments(), in_types, strict=True):
            if dtype is not None and dtype.name not in ("float32", "float64"):
                raise DTypeError(
                    f"{self.name}: {name} is {dtype}, expected float32 or float64; cast with astype"
                )
        return super().infer_type(in_types)

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> float:
        """Cubic in the matrices' size."""
        return 2.0 * prod(in_shapes[0]) * max(in_shapes[0][-1], out_shapes[0][-1], 1)


class NumberOperator(MatrixOperator):
    """An operator that returns a number for each matrix, and shape (1,) for a single matrix."""

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """The other axes of the matrices, or (1,)."""
        ins, outs, aux = super().infer_shape(in_shapes)
        return ins, [None if ins[0] is None else ins[0][:-2] or (1,)] * len(outs), aux


def inverted(xp: Any, matrices: Array) -> Array:
    """The inverses; NaN for matrices with a NaN or infinity, some of which LAPACK refuses."""
    safe, is_finite = _replaced(xp, matrices)
    inverses = xp.linalg.inv(safe)
    return inverses if is_finite is None else xp.where(is_finite, inverses, xp.nan)


def solved(xp: Any, matrices: Array, right: Array) -> Array:
    """What gives `right` when multiplied with the matrices; NaN where `inverted` gives NaN."""
    safe, is_finite = _replaced(xp, matrices)
    solutions = xp.linalg.solve(safe, right)
    return solutions if is_finite is None else xp.where(is_finite, solutions, xp.nan)


def _replaced(xp: Any, matrices: Array) -> tuple[Array, Array | None]:
    """The unit matrix in place of those with a NaN or infinity, and where there are none; None: nowhere."""
    is_finite = xp.isfinite(matrices).all((-2, -1), keepdims=True)
    if is_finite.all():
        return matrices, None
    return xp.where(is_finite, matrices, xp.eye(matrices.shape[-1], dtype=matrices.dtype)), is_finite


def triangle(xp: Any, matrices: Array, lower: bool) -> Array:
    """A copy in which the other triangle is 0."""
    return xp.tril(matrices) if lower else xp.triu(matrices)


def mirrored_lower(xp: Any, matrices: Array) -> Array:
    """A symmetric copy: the lower triangle, and its mirror image above."""
    return xp.tril(matrices) + transposed(xp.tril(matrices, -1))


def half_symmetric(matrices: Array) -> Array:
    """The mean of the matrices and their transposes."""
    total = matrices + transposed(matrices)
    total *= 0.5
    return total

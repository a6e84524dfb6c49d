"""Base of the linalg operators: matrices in the last two axes, of float32 or float64."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

import numpy as np

from operad_matrix.products import transposed
from operad_sdk import Array, Cost, OperatorProperty, Shape


class MatrixOperator(OperatorProperty):
    """An operator of matrices of the element types that LAPACK has."""

    accepts = ("float32", "float64")
    is_product: ClassVar[bool] = False
    """True if BLAS computes the whole operator."""

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Cost that is cubic in the matrices' size; outside products, an eighth is done number by number."""
        flops = 2.0 * prod(in_shapes[0]) * max(in_shapes[0][-1], out_shapes[0][-1], 1)
        return Cost(loops=0 if self.is_product else flops / 8, flops=flops)


def number_shape(batch: Shape) -> Shape:
    """The shape of one number for each matrix: (1,) for a single matrix."""
    return batch or (1,)


@np.errstate(all="ignore")
def inverted(matrices: Array) -> Array:
    """The inverses; NaN for matrices with a NaN or infinity, some of which LAPACK refuses."""
    safe, is_finite = _replaced(matrices)
    inverses = np.linalg.inv(safe)
    return inverses if is_finite is None else np.where(is_finite, inverses, np.nan)


@np.errstate(all="ignore")
def solved(matrices: Array, right: Array) -> Array:
    """Solution that gives `right` when the matrices multiply it; NaN where `inverted` gives NaN."""
    safe, is_finite = _replaced(matrices)
    solutions = np.linalg.solve(safe, right)
    return solutions if is_finite is None else np.where(is_finite, solutions, np.nan)


def solved_triangle(matrices: Array, right: Array, lower: bool) -> Array:
    """`solved` for triangular matrices, with infinities or NaN where one has a zero on its diagonal.

    NumPy has no solver for triangular systems, so the general one is used, where it can be.
    """
    if np.diagonal(matrices, axis1=-2, axis2=-1).all():
        return solved(matrices, right)
    if lower:
        return _substituted(matrices, right)
    return _substituted(matrices[..., ::-1, ::-1], right[..., ::-1, :])[..., ::-1, :]


@np.errstate(all="ignore")
def _substituted(lower: Array, right: Array) -> Array:
    """`x_i = (b_i - sum of l_ij x_j for j < i) / l_ii`, row by row."""
    solution = right.copy()
    for i in range(lower.shape[-1]):
        row = solution[..., i : i + 1, :]
        row -= np.matmul(lower[..., i : i + 1, :i], solution[..., :i, :])
        row /= lower[..., i : i + 1, i : i + 1]
    return solution


def _replaced(matrices: Array) -> tuple[Array, Array | None]:
    """The unit matrix in place of those with a NaN or infinity, and where there are none; None: nowhere."""
    is_finite = np.isfinite(matrices).all((-2, -1), keepdims=True)
    if is_finite.all():
        return matrices, None
    return np.where(is_finite, matrices, unit_like(matrices)), is_finite


def unit_like(matrices: Array) -> Array:
    """The unit matrix of the size and type of `matrices`."""
    # mutant: 1 becomes 2: equivalent, because they are square
    return np.diag(np.ones_like(matrices, shape=matrices.shape[-1]))


def triangle(matrices: Array, lower: bool) -> Array:
    """A copy in which the other triangle is 0."""
    return np.tril(matrices) if lower else np.triu(matrices)


def mirrored_lower(matrices: Array) -> Array:
    """A symmetric copy: the lower triangle, and its mirror image above."""
    return np.tril(matrices) + transposed(np.tril(matrices, -1))


def half_symmetric(matrices: Array) -> Array:
    """The mean of the matrices and their transposes."""
    total = matrices + transposed(matrices)
    total *= 0.5
    return total


@np.errstate(all="ignore")
def multiplied(*matrices: Array) -> Array:
    """The product of all, from left to right."""
    first, *others = matrices
    for other in others:
        first = np.matmul(first, other)
    return first

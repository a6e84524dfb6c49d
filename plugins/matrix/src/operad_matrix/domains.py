"""Matrices that factorizations can be tested on."""

from __future__ import annotations

from typing import final

import numpy as np

from operad.operator import OperatorProperty
from operad_sdk import Array, Domain, Drawn, Shape, Shapes


def _regular(rng: np.random.Generator, shape: Shape, prop: OperatorProperty, shapes: Shapes) -> Array:
    """Multiples of 1/8 up to 1/2, and on the diagonal more than all others of a row and column.

    None is 0: where what a reflection removes is 0 already, LAPACK's QR factors change sign.
    """
    values = rng.integers(1, 5, shape) * rng.choice((-1, 1), shape) / 8
    rows = min(shape[-2:])
    diagonal = np.arange(rows)
    values[..., diagonal, diagonal] = rng.integers(8, 17, (*shape[:-2], rows)) / 8 + max(shape[-2:]) / 2
    return np.asarray(values)


REGULAR = Drawn(_regular, is_real=True)
"""Matrices of full rank with a positive diagonal, as are both their triangles."""


@final
class Symmetric(Domain):
    """Symmetric matrices, no two eigenvalues of which are close."""

    def draw(self, rng: np.random.Generator, shape: Shape, prop: OperatorProperty, shapes: Shapes) -> Array:
        """A diagonal that rises faster than the rest, in multiples of 1/8, could make up for."""
        lower = np.tril(rng.integers(-4, 5, shape) / 8)
        steps = np.diag(np.arange(shape[-1]) * float(shape[-1] + 1))
        return np.asarray(lower + np.swapaxes(np.tril(lower, -1), -1, -2) + steps)

    def along(self, direction: Array) -> Array:
        """The symmetric part."""
        return np.asarray((direction + np.swapaxes(direction, -1, -2)) / 2)

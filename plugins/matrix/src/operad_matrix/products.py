"""Matrices in the last two axes, transposed and scaled."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array


def transposed(array: Array) -> Array:
    """A view of the matrices in the last two axes, transposed."""
    return array.swapaxes(-1, -2)


def scaled(value: Array, factor: float) -> Array:
    """`factor * value`; a factor of 0 gives 0, as in BLAS, whatever the value."""
    if factor == 1:
        return value
    return factor * value if factor else np.zeros_like(value)

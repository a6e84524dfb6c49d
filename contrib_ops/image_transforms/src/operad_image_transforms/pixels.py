"""Values of pixels: how a result of arithmetic becomes a pixel again."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array


def write(values: Array, output: Array) -> None:
    """Write values to pixels; integers lose their fraction, and stop at the ends of their type."""
    if output.dtype.kind in "iu":
        limits = np.iinfo(output.dtype)
        values = np.clip(values, limits.min, limits.max)
    np.copyto(output, values, casting="unsafe")


def floats(data: Array) -> Array:
    """Pixels as numbers to compute with: single precision, or double where that would lose digits of them."""
    is_wide = data.dtype == np.float64 or (data.dtype.kind in "iu" and data.dtype.itemsize > 2)
    return data.astype(np.float64 if is_wide else np.float32, copy=False)

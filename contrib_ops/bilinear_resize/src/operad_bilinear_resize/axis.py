"""The samples of an axis that is resized.

A sample's weight on a pixel is that of its row times that of its column, so rows are sampled first and
columns of the result after.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from operad_sdk import Array


class Axis(NamedTuple):
    """The pixels around each sample.

    Attributes:
        low: The pixel at or before each sample.
        high: The pixel after it; the same one at the edge.
        share: The distance from `low`, below 1.
    """

    low: Array
    high: Array
    share: Array


def axis_of(xp: Any, size: int, length: int, align_corners: bool, dtype: Any) -> Axis:
    """`length` samples of an axis of `size` pixels.

    With `align_corners` the first and the last sample are the first and the last pixel; else samples are the
    centres of as many equal parts.
    """
    number = np.arange(length, dtype=np.float64)
    if align_corners:
        at = number * ((size - 1) / (length - 1) if length > 1 else 0.0)
    else:
        at = np.maximum((number + 0.5) * (size / max(length, 1)) - 0.5, 0)
    low = np.minimum(at.astype(np.intp), size - 1)
    high = np.minimum(low + 1, size - 1)
    return Axis(xp.asarray(low), xp.asarray(high), xp.asarray(at - low, dtype))


def sampled(values: Array, along: Axis) -> Array:
    """Samples of the last axis."""
    first, second = values[..., along.low], values[..., along.high]
    # At a pixel nothing is added: an infinite neighbour times 0 would be NaN.
    return np.where(along.share == 0, first, first * (1 - along.share) + second * along.share)


def spread(xp: Any, grad: Array, along: Axis, size: int) -> Array:
    """The adjoint of `sampled`: each pixel gets what its samples have, by their weights."""
    weights = xp.zeros((len(along.low), size), grad.dtype)
    number = xp.arange(len(along.low))
    xp.add.at(weights, (number, along.low), 1 - along.share)
    xp.add.at(weights, (number, along.high), along.share)
    return np.matmul(grad, weights)

"""Weights of pixels in an image of another size, along one axis.

The weight of a pixel is that of its row times that of its column, so an image is resized by a matrix on
either side. The kinds are OpenCV's, and so are the places of samples and what stands beyond an edge: its
pixel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from operad_sdk import Array

NEAREST, LINEAR, CUBIC, AREA, LANCZOS = range(5)

_CUBIC_SLOPE: Final = -0.75


def weights(size: int, length: int, kind: int, is_area: bool) -> Array:
    """The weights of `size` pixels in each of `length` new ones; (length, size), in double precision.

    Args:
        kind: One of the names above.
        is_area: Whether an axis that shrinks is resized by area: both do, or stay as they are.
    """
    scale = size / length
    if kind == NEAREST:
        return _taken(size, np.floor(np.arange(length) * scale).astype(int)[:, None], np.ones((length, 1)))
    if kind == AREA and is_area:
        return _covered(size, length)
    if kind == AREA:  # of an image that grows: steps with short slopes between them
        low = np.floor(np.arange(length) * scale)
        share = (np.arange(length) + 1) - (low + 1) / scale
        share = np.where(share <= 0, 0, share - np.floor(share))
        low = low.astype(int)
        return _taken(size, np.stack([low, low + 1], 1), np.stack([1 - share, share], 1))
    reach, kernel = _KERNELS[kind]
    at = (np.arange(length) + 0.5) * scale - 0.5
    first = np.floor(at).astype(int) - reach + 1
    pixels = first[:, None] + np.arange(2 * reach)
    found = kernel(np.abs(at[:, None] - pixels))
    return _taken(size, pixels, found / found.sum(axis=1, keepdims=True))


def _taken(size: int, pixels: Array, shares: Array) -> Array:
    """A row for each new pixel; pixels beyond an edge are the one at the edge."""
    found = np.zeros((len(pixels), size))
    np.add.at(found, (np.arange(len(pixels))[:, None], np.clip(pixels, 0, size - 1)), shares)
    return found


def _covered(size: int, length: int) -> Array:
    """The part of each pixel that lies in each of `length` equal parts of the axis."""
    ends = np.arange(length + 1) * (size / length)
    pixel = np.arange(size)
    shared = np.minimum(ends[1:, None], pixel + 1) - np.maximum(ends[:-1, None], pixel)
    return np.maximum(shared, 0) * (length / size)


def _cubic(distance: Array) -> Array:
    a = _CUBIC_SLOPE
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((distance - 5) * distance + 8) * distance * a - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0))


_KERNELS: Final[dict[int, tuple[int, Callable[[Array], Array]]]] = {
    LINEAR: (1, lambda distance: np.maximum(0, 1 - distance)),
    CUBIC: (2, _cubic),
    LANCZOS: (4, lambda distance: np.where(distance < 4, np.sinc(distance) * np.sinc(distance / 4), 0)),
}
"""Pixels on either side of a sample that count, and the weight by distance."""

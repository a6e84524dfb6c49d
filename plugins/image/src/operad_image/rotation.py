"""Rotation of images, or of batches of them, about their middle.

A pixel of the result at (x, y) from the middle is the source's at (x cos a - y sin a, x sin a + y cos a),
between four pixels in proportion, and 0 outside.

Source: imrotate and random_rotate, python/mxnet/image/image.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np

from operad import NDArray, nd
from operad.errors import ArgumentError, DTypeError, ParamError, ShapeError


def imrotate(src: NDArray, rotation_degrees: Any, zoom_in: bool = False, zoom_out: bool = False) -> NDArray:
    """An image turned about its middle.

    Args:
        src: float32, (channels, height, width), or a batch of such.
        rotation_degrees: The angle; for a batch also one per image.
        zoom_in: Enlarge so that nothing outside the image shows.
        zoom_out: Shrink so that the whole image shows.
    """
    if zoom_in and zoom_out:
        raise ParamError("imrotate: zoom_in and zoom_out are both True, expected one at most")
    if src.dtype != np.float32:
        raise DTypeError(f"imrotate: the image is {np.dtype(src.dtype)}, expected float32")
    if src.ndim not in (3, 4):
        raise ShapeError(f"imrotate: the image has shape {src.shape}, expected (channels, height, width)")
    if src.ndim == 3:
        if not isinstance(rotation_degrees, Number):
            kind = type(rotation_degrees).__name__
            raise ArgumentError(f"imrotate: rotation_degrees is {kind}, expected a number for a single image")
        return imrotate(src.expand_dims(axis=0), rotation_degrees, zoom_in, zoom_out)[0]
    count, _, height, width = src.shape
    given = rotation_degrees.asnumpy() if isinstance(rotation_degrees, NDArray) else rotation_degrees
    angles = np.radians(np.full(count, given) if np.ndim(given) == 0 else given)
    if len(angles) != count:
        raise ShapeError(f"imrotate: there are {len(angles)} angles, expected one for each of {count} images")
    grid = np.stack([_grid(float(angle), height, width, zoom_in, zoom_out) for angle in angles])
    turned: NDArray = nd.BilinearSampler(src, nd.array(grid, ctx=src.context))
    return turned


def random_rotate(
    src: NDArray, angle_limits: Sequence[float], zoom_in: bool = False, zoom_out: bool = False
) -> NDArray:
    """An image, or each of a batch, turned by a random angle between limits in degrees; see `imrotate`."""
    count = None if src.ndim == 3 else src.shape[0]
    angles = np.random.uniform(angle_limits[0], angle_limits[1], size=count)
    return imrotate(src, angles, zoom_in, zoom_out)


def _grid(angle: float, height: int, width: int, zoom_in: bool, zoom_out: bool) -> np.ndarray[Any, Any]:
    """Origin of each pixel, in halves of the image from its middle: (x and y, height, width)."""
    half_height, half_width = (height - 1) / 2, (width - 1) / 2
    y, x = np.mgrid[:height, :width].astype(np.float32)
    y, x = y - half_height, x - half_width
    turned_x = (x * math.cos(angle) - y * math.sin(angle)) / half_width
    turned_y = (x * math.sin(angle) + y * math.cos(angle)) / half_height
    scale = _scale(angle, height, width, zoom_in) if zoom_in or zoom_out else 1.0
    return np.stack([turned_x, turned_y]).astype(np.float32) * np.float32(scale)


def _scale(angle: float, height: int, width: int, zoom_in: bool) -> float:
    diagonal, corner = math.hypot(height, width), math.atan(height / width)
    ends = [corner + abs(angle), corner - abs(angle)]
    reach_x = max(abs(diagonal * math.cos(end)) for end in ends)
    reach_y = max(abs(diagonal * math.sin(end)) for end in ends)
    if zoom_in:
        return min(width / reach_x, height / reach_y)
    return max(reach_x / width, reach_y / height)

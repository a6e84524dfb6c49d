"""Points between pixels: the four pixels around each, their weights, and slopes of these."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from operad_sdk import Array


class Corner(NamedTuple):
    """One of the pixels around each point.

    Attributes:
        row: Its row, and, `column`, its column; any pixel where the weight is 0 because there is none.
        weight: Its share of the value at the point; 0 outside the image.
        slope_y: How the weight changes along y, and, `slope_x`, along x.
    """

    row: Array
    column: Array
    weight: Array
    slope_y: Array
    slope_x: Array


class Place(NamedTuple):
    """Places of points along one axis: the pixel before each, and the distance behind it, below 1.

    Both are kept apart, for a sum has lost the digits of a small distance far from the first pixel.
    """

    low: Array
    beyond: Array


def corners(y: Place, x: Place, shape: tuple[int, int], is_inside: Array) -> list[Corner]:
    """The corners around all points: upper left and right, lower left and right.

    A pixel outside of the image is 0.

    Args:
        shape: Height and width of the image.
        is_inside: Which points count; the others have no weights.
    """
    height, width = shape
    found = []
    for row, by_y, slope_y in ((y.low, 1 - y.beyond, -1), (y.low + 1, y.beyond, 1)):
        for column, by_x, slope_x in ((x.low, 1 - x.beyond, -1), (x.low + 1, x.beyond, 1)):
            counts = is_inside & (row >= 0) & (row < height) & (column >= 0) & (column < width)
            r, c = (np.where(counts, at, 0).astype(np.intp) for at in (row, column))
            along_y, along_x = (np.where(counts, slope, 0) for slope in (slope_y * by_x, slope_x * by_y))
            found.append(Corner(r, c, np.where(counts, by_y * by_x, 0), along_y, along_x))
    return found


def weighted(pixels: Array, weight: Array) -> Array:
    """Pixels times their weights; an infinite one that does not count is 0."""
    return np.where(weight == 0, 0, pixels * weight)

"""Bilinear interpolation in images, and its gradients.

A point lies between four pixels; the nearer one is, the more it counts. Pixels beyond the edge are 0. One
image is done at a time, so that no array is larger than the output of an image: the pixels at one of the
four corners of all points.

The gradient of the image adds what its points send back, several of them to one pixel. `bincount` does
that in double precision and in a fixed order, where `add.at` has neither on a GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple, final

import numpy as np

from operad_sdk import Array, blocked_sum


@final
class Corner(NamedTuple):
    """One of the four pixels around each point of an image.

    Attributes:
        position: The pixel's number in the image; any, where it is beyond the edge.
        is_inside: Whether there is such a pixel.
        weight: How much it counts.
        slope_x: The weight's slope by the point's x, in pixels; `slope_y` by its y.
    """

    position: Array
    is_inside: Array
    weight: Array
    slope_x: Array
    slope_y: Array


def sample(image: Array, grid: Array, output: Array) -> None:
    """Fill `output` (C, h, w) with `image` (C, H, W) at the points of `grid` (2, h, w)."""
    output[...] = 0
    for corner in _corners(grid, image.shape[1:]):
        output += _pixels(image, corner) * corner.weight


def image_gradient(output_grad: Array, grid: Array, image_grad: Array) -> None:
    """`d output / d image` is a corner's weight: each point sends that share to each of its pixels."""
    shape = image_grad.shape[1:]
    image_grad[...] = 0
    for corner in _corners(grid, shape):
        weight, position = np.where(corner.is_inside, corner.weight, 0), corner.position.ravel()
        for head, sums in zip(output_grad, image_grad, strict=True):
            sums += np.bincount(position, (head * weight).ravel(), prod(shape)).reshape(shape)


def grid_gradient(output_grad: Array, image: Array, grid: Array, grid_grad: Array) -> None:
    """`d output / d x` is the sum of the pixels around a point, each times the slope of its weight."""
    height, width = image.shape[1:]
    grid_grad[...] = 0
    x, y = grid_grad
    for corner in _corners(grid, (height, width)):
        sent = blocked_sum(_pixels(image, corner) * output_grad, 0)
        x += sent * corner.slope_x
        y += sent * corner.slope_y
    x *= (width - 1) / 2
    y *= (height - 1) / 2


def _corners(grid: Array, shape: tuple[int, ...]) -> Iterator[Corner]:
    """The corners around all points: upper left and right, lower left and right.

    Pixels are numbered in double precision, of which the part behind the point has the digits of the grid.
    """
    height, width = shape
    x, y = grid.astype(np.float64)
    x, y = (x + 1) * ((width - 1) / 2), (y + 1) * ((height - 1) / 2)
    left, top = np.floor(x), np.floor(y)
    far_x, far_y = (x - left).astype(grid.dtype), (y - top).astype(grid.dtype)
    for row, weight_y, slope_y in ((top, 1 - far_y, -1), (top + 1, far_y, 1)):
        for column, weight_x, slope_x in ((left, 1 - far_x, -1), (left + 1, far_x, 1)):
            is_inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            position = np.where(is_inside, row * width + column, 0).astype(np.intp)
            yield Corner(position, is_inside, weight_y * weight_x, slope_x * weight_y, slope_y * weight_x)


def _pixels(image: Array, corner: Corner) -> Array:
    """The image at a corner of each point, channel by channel; 0 beyond the edge."""
    flat = image.reshape(len(image), prod(image.shape[1:]))
    return np.where(corner.is_inside, flat.take(corner.position, axis=1), 0)

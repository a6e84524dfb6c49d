"""Examples of points for the contract checks, and references to compare with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from operad_sdk import Array, Drawn, Shape

SHAPES: Final = {"shape": [(4,), (2, 3), (3, 2, 2), (70, 75)]}


def values_and_points(prop: Any, choose: Callable[[Sequence[int]], int]) -> list[Shape]:
    """Fewer points than there are positions, so that each may come once."""
    _, (axes, count) = some_points(prop.shape, choose)
    count = min(count, prod(prop.shape[:axes]))
    return [(count, *prop.shape[axes:]), (axes, count)]


def coordinates(of: str, once: bool) -> Drawn:
    """Points of an argument, or of the parameter `shape`; each one once, where there are enough of them."""

    def draw(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Any) -> Array:
        whole_shape: Shape = shapes[of] if of else prop.shape
        lengths = whole_shape[: shape[0]]
        total, count = prod(lengths) if len(lengths) == shape[0] > 0 else 0, prod(shape[1:])
        numbers = rng.integers(0, max(total, 1), count)
        if once and count <= total:
            numbers = rng.permutation(total)[:count]
        return np.array(np.unravel_index(numbers, lengths)).reshape(shape) if total else np.zeros(shape)

    return Drawn(draw)


def at_points(data: Array, indices: Array) -> Array:
    """Point by point, for the contract checks."""
    points = indices.astype(int).reshape(len(indices), -1).T
    parts = [data[tuple(point)] for point in points]
    return np.array(parts).reshape(indices.shape[1:] + data.shape[len(indices) :])


def summed(data: Array, indices: Array, shape: Shape) -> Array:
    """Point by point: zeros to which the values are added."""
    output = np.zeros(shape)
    points = indices.astype(int).reshape(len(indices), -1).T
    for point, part in zip(points, data.reshape(len(points), *shape[len(indices) :]), strict=True):
        output[tuple(point)] += part
    return output


def some_points(shape: Shape, choose: Callable[[Sequence[int]], int]) -> list[Shape]:
    """An array's shape, and that of points in some of its leading axes."""
    axes = max(1, choose(range(1, len(shape) + 1)))  # lengths of 0 are asked for too
    points = (choose((1, 2, 3, 0)),)
    return [shape, (axes, *points)]


def with_values(lhs: Array, rhs: Array, indices: Array, shape: Shape) -> Array:
    """An array with values in place of those at points, of which each comes once."""
    is_written = summed(np.ones(rhs.shape), indices, shape)
    return lhs * (1 - is_written) + summed(rhs, indices, shape)

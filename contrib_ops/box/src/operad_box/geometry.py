"""Boxes as four arrays of coordinates, and their overlap.

A box is (left, top, right, bottom), in the format `corner`, or (x, y, width, height) about its centre, in
the format `center`. Functions take the four as arrays that broadcast, so that one function serves single
boxes, rows and tables, and makes no array of boxes.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from operad_sdk import Array, param

FORMATS: Final = ("corner", "center")


class Corners(NamedTuple):
    """The sides of boxes, each an array of one number per box."""

    left: Array
    top: Array
    right: Array
    bottom: Array

    def at(self, key: Any) -> Corners:
        """Corners of the boxes that `key` takes."""
        return Corners(*(side[key] for side in self))


def format_param(doc: str) -> Any:
    """The parameter that says how four numbers describe a box."""
    return param(str, "corner", choices=FORMATS, doc=doc)


def corners(boxes: Array, box_format: str) -> Corners:
    """The sides of boxes whose four numbers lie along the last axis."""
    first, second, third, fourth = (boxes[..., i] for i in range(4))
    if box_format == "corner":
        return Corners(first, second, third, fourth)
    half_width, half_height = third / 2, fourth / 2
    return Corners(first - half_width, second - half_height, first + half_width, second + half_height)


def converted(boxes: Array, in_format: str, out_format: str) -> Array:
    """The same boxes in another format."""
    if in_format == out_format:
        return boxes
    sides = corners(boxes, in_format)
    if out_format == "corner":
        return np.stack(list(sides), -1)
    left, top, right, bottom = sides
    return np.stack([(left + right) / 2, (top + bottom) / 2, right - left, bottom - top], -1)


def converted_grad(grad: Array, in_format: str, out_format: str) -> Array:
    """The adjoint of `converted`.

    The centre is the mean of two sides and the size their difference, so a side gets half the gradient
    of the centre, less or plus that of the size; and conversely.
    """
    if in_format == out_format:
        return grad
    first, second, third, fourth = (grad[..., i] for i in range(4))
    if out_format == "center":
        x, y, width, height = first / 2, second / 2, third, fourth
        return np.stack([x - width, y - height, x + width, y + height], -1)
    left, top, right, bottom = first, second, third, fourth
    return np.stack([left + right, top + bottom, (right - left) / 2, (bottom - top) / 2], -1)


def areas(boxes: Corners) -> Array:
    """Width times height; 0 where either is negative."""
    return _length(boxes.right - boxes.left) * _length(boxes.bottom - boxes.top)


def overlaps(lhs: Corners, rhs: Corners) -> Array:
    """Intersection over union; 0 where the union has no area."""
    width = np.minimum(lhs.right, rhs.right) - np.maximum(lhs.left, rhs.left)
    height = np.minimum(lhs.bottom, rhs.bottom) - np.maximum(lhs.top, rhs.top)
    shared = _length(width) * _length(height)
    union = areas(lhs) + areas(rhs)
    union -= shared
    # Nothing is shared where there is no area, so any other divisor than 0 gives 0.
    # mutant: becomes: equivalent, because of that
    union[union <= 0] = 1
    shared /= union
    return shared


def _length(extent: Array) -> Array:
    return np.maximum(extent, 0)

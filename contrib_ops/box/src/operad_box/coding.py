"""Boxes as offsets from anchors.

An offset is the distance of the centres in sizes of the anchor, and the logarithm of the sizes' quotient,
each divided by its variance: what a network learns is then about as large for all boxes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_box.geometry import Corners
from operad_sdk import Array, ParamError


def check_variances(prop: Any) -> None:
    """Raise ParamError unless there is a variance for each of four numbers."""
    if len(prop.variances) != 4:
        raise ParamError(f"{prop.name}: variances is {prop.variances}, expected four numbers")


def encoded(boxes: Corners, anchors: Corners, variances: tuple[float, ...]) -> Array:
    """The offsets of boxes from anchors, along a new last axis."""
    offsets = []
    for low, high in ((0, 2), (1, 3)):
        size, anchor_size = boxes[high] - boxes[low], anchors[high] - anchors[low]
        distance = (boxes[low] + boxes[high] - anchors[low] - anchors[high]) / 2
        offsets.append((distance / anchor_size, np.log(size / anchor_size)))
    (x, width), (y, height) = offsets
    scaled = (offset / variance for offset, variance in zip((x, y, width, height), variances, strict=True))
    return np.stack(list(scaled), -1)


def decoded(offsets: Array, anchors: Corners, variances: tuple[float, ...]) -> Corners:
    """The boxes that have such offsets, four numbers along the last axis, from anchors."""
    sides = []
    for axis in (0, 1):
        low, high = anchors[axis], anchors[axis + 2]
        size = high - low
        centre = offsets[..., axis] * variances[axis] * size + (low + high) / 2
        half = np.exp(offsets[..., axis + 2] * variances[axis + 2]) * size / 2
        sides.append((centre - half, centre + half))
    (left, right), (top, bottom) = sides
    return Corners(left, top, right, bottom)

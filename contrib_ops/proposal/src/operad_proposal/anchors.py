"""Anchors: boxes of several ratios and sizes around each position of a feature map.

Corners are pixels that belong to a box, so that it is `right - left + 1` wide.
"""

from __future__ import annotations

from math import floor, sqrt
from typing import Any, NamedTuple

import numpy as np

from operad_sdk import Array


class Boxes(NamedTuple):
    """Sides, each an array of one number per box."""

    left: Array
    top: Array
    right: Array
    bottom: Array

    def at(self, key: Any) -> Boxes:
        """The boxes that `key` takes."""
        return Boxes(*(side[key] for side in self))

    @property
    def width(self) -> Array:
        """Numbers of pixels from side to side."""
        return self.right - self.left + 1

    @property
    def height(self) -> Array:
        """Likewise, from top to bottom."""
        return self.bottom - self.top + 1


def sizes(stride: int, scales: tuple[float, ...], ratios: tuple[float, ...]) -> list[tuple[float, float]]:
    """Width and height of each anchor: of one ratio of height to width after the other, by scale.

    Sides are rounded before they are scaled, halves upwards, as in the paper's program.
    """
    found = []
    for ratio in ratios:
        width = floor(sqrt(floor(stride * stride / ratio)) + 0.5)
        height = floor(width * ratio + 0.5)
        found += [(width * scale, height * scale) for scale in scales]
    return found


def anchors(xp: Any, shape: tuple[int, int], stride: int, boxes: list[tuple[float, float]]) -> Boxes:
    """All anchors, flat: row by row, position by position, box by box."""
    middle = (stride - 1) / 2
    half_width, half_height = ((np.array(side) - 1) / 2 for side in zip(*boxes, strict=True))
    y, x = (np.arange(length)[:, None] * stride + middle for length in shape)
    rows = [np.broadcast_to((y + sign * half_height)[:, None], (*shape, len(boxes))) for sign in (-1, 1)]
    columns = [np.broadcast_to((x + sign * half_width)[None], (*shape, len(boxes))) for sign in (-1, 1)]
    sides = (columns[0], rows[0], columns[1], rows[1])
    return Boxes(*(xp.asarray(side.reshape(-1)) for side in sides))


def moved(anchor: Boxes, offsets: Array, is_corners: bool) -> Boxes:
    """Anchors moved by what a network predicts, (boxes, 4).

    An offset is that of the centre in sizes of the anchor, and the logarithm of the growth; or with
    `is_corners` that of each side, in pixels.
    """
    if is_corners:
        return Boxes(*(side + offsets[:, number] for number, side in enumerate(anchor)))
    middles, halves = [], []
    for axis, (low, length) in enumerate(((anchor.left, anchor.width), (anchor.top, anchor.height))):
        middles.append(offsets[:, axis] * length + low + 0.5 * (length - 1))
        halves.append(0.5 * (np.exp(offsets[:, axis + 2]) * length - 1))
    (x, y), (half_width, half_height) = middles, halves
    return Boxes(x - half_width, y - half_height, x + half_width, y + half_height)


def cut_off(boxes: Boxes, height: float, width: float) -> Boxes:
    """The parts of boxes within an image."""
    return Boxes(
        np.clip(boxes.left, 0, width - 1),
        np.clip(boxes.top, 0, height - 1),
        np.clip(boxes.right, 0, width - 1),
        np.clip(boxes.bottom, 0, height - 1),
    )


def survivors(boxes: Boxes, threshold: float, count: int) -> list[int]:
    """Numbers of boxes, best first, none of which overlaps a better one by more than `threshold`.

    Args:
        boxes: The best first.
        count: How many are enough.
    """
    area = boxes.width * boxes.height
    stays = area == area  # noqa: PLR0124 - True everywhere but at NaN
    stay: list[int] = []
    for number in range(len(area)):
        if len(stay) == count:
            break
        if not stays[number]:
            continue
        stay.append(number)
        width = np.minimum(boxes.right, boxes.right[number]) - np.maximum(boxes.left, boxes.left[number]) + 1
        height = np.minimum(boxes.bottom, boxes.bottom[number]) - np.maximum(boxes.top, boxes.top[number]) + 1
        shared = np.maximum(width, 0) * np.maximum(height, 0)
        stays &= shared <= threshold * (area + area[number] - shared)
    return stay

"""Boxes around objects: rows of a label, (class, left, top, right, bottom, ...), in parts of the image.

A *window* is a part of an image, or more than it: x, y, width and height in pixels of the image.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from operad.errors import FormatError

Boxes = np.ndarray[Any, Any]
Window = tuple[int, int, int, int]

_LEAST_WIDTH: Final = 5
_LEAST_PIXELS: Final = 2
_NEARLY_HALF: Final = 0.4999999


def split_label(label: Any) -> tuple[np.ndarray[Any, Any], Boxes]:
    """The header of an image's labels, and its objects.

    Args:
        label: The length of the header, the numbers of an object, the rest of the header, and objects.
    Raises:
        FormatError: It is something else.
    """
    numbers = np.asarray(label, np.float32).reshape(-1)
    if not np.isfinite(numbers).all():
        raise FormatError(f"its labels have {numbers[~np.isfinite(numbers)][0]} among them, expected numbers")
    header, width = (int(number) for number in numbers[:2]) if len(numbers) > 1 else (0, 0)
    count, rest = divmod(len(numbers) - header, max(width, 1))
    if header < 2 or width < _LEAST_WIDTH or count < 0 or rest:
        raise FormatError(
            f"its labels are {len(numbers)} numbers that begin with {numbers[:2].tolist()}, expected the "
            f"length of the header (2 or more), the numbers of an object ({_LEAST_WIDTH} or more), objects"
        )
    return numbers[:header], numbers[header:].reshape(count, width)


def areas(boxes: Boxes) -> Any:
    """Area of each box; 0 for one that is turned inside out."""
    return np.maximum(0, boxes[:, 3] - boxes[:, 1]) * np.maximum(0, boxes[:, 4] - boxes[:, 2])


def moved(boxes: Boxes, window: Window, height: int, width: int) -> Boxes:
    """The boxes in parts of a window, of an image of `height` and `width`."""
    x, y, new_width, new_height = window
    found = boxes.copy()
    found[:, (1, 3)] = (boxes[:, (1, 3)] * width - x) / new_width
    found[:, (2, 4)] = (boxes[:, (2, 4)] * height - y) / new_height
    return found


def mirrored(boxes: Boxes) -> Boxes:
    """The boxes of the mirror image."""
    found = boxes.copy()
    found[:, 1], found[:, 3] = 1 - boxes[:, 3], 1 - boxes[:, 1]
    return found


def within(boxes: Boxes, window: Window, height: int, width: int, least_part: float) -> Boxes:
    """The boxes of which more than `least_part` lies in a window, cut and in parts of the window."""
    found = moved(boxes, window, height, width)
    found[:, 1:5] = np.clip(found[:, 1:5], 0, 1)
    scale = window[2] * window[3] / (height * width)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = areas(found) * scale / areas(boxes)
    return np.asarray(found[(areas(found) > 0) & (part > least_part)])


def covers(boxes: Boxes, window: Window, height: int, width: int, least_part: float) -> bool:
    """Return whether a window has some objects in it, and more than `least_part` of each of these."""
    if window[2] * window[3] < _LEAST_PIXELS:
        return False
    x, y, new_width, new_height = window
    visible = boxes[areas(boxes) * width * height > _LEAST_PIXELS]
    cut = visible.copy()
    cut[:, (1, 2)] = np.maximum(cut[:, (1, 2)], [x / width, y / height])
    cut[:, (3, 4)] = np.minimum(cut[:, (3, 4)], [(x + new_width) / width, (y + new_height) / height])
    parts = areas(cut) / areas(visible)
    parts = parts[parts > 0]
    return len(parts) > 0 and bool(parts.min() > least_part)


def windows_inside(
    height: int, width: int, area: Sequence[float], ratio: Sequence[float], attempts: int
) -> Iterator[Window]:
    """Random windows inside an image.

    Args:
        area: Least and largest area, in parts of the image's.
        ratio: Least and largest width over height.
        attempts: How many to try; one that does not fit is not given.
    """
    least, largest = (part * height * width for part in area)
    for _ in range(attempts):
        shape = random.uniform(ratio[0], ratio[1])
        tallest = round(math.sqrt(largest / shape))
        if round(tallest * shape) > width:
            tallest = int((width + _NEARLY_HALF) / shape)
        tallest = min(tallest, height)
        new_height = _between(round(math.sqrt(least / shape)), tallest)
        new_width = round(new_height * shape)
        # Rounding may have made it too small or too large.
        if new_width * new_height < least:
            new_height += 1
            new_width = round(new_height * shape)
        if new_width * new_height > largest:
            new_height -= 1
            new_width = round(new_height * shape)
        if least <= new_width * new_height <= largest and new_width <= width and new_height <= height:
            y, x = random.randint(0, height - new_height), random.randint(0, width - new_width)
            yield x, y, new_width, new_height


def window_around(
    height: int, width: int, area: Sequence[float], ratio: Sequence[float], attempts: int
) -> Window | None:
    """Random window around an image, larger by two pixels or more; None if no attempt found one.

    `x` and `y` are not above 0. Arguments are as of `windows_inside`.
    """
    least, largest = (part * height * width for part in area)
    for _ in range(attempts):
        shape = random.uniform(ratio[0], ratio[1])
        shortest = round(math.sqrt(least / shape))
        if round(shortest * shape) < width:
            shortest = int((width + _NEARLY_HALF) / shape)
        new_height = _between(max(shortest, height), round(math.sqrt(largest / shape)))
        new_width = round(new_height * shape)
        if new_height - height >= 2 and new_width - width >= 2:
            y, x = random.randint(0, new_height - height), random.randint(0, new_width - width)
            return -x, -y, new_width, new_height
    return None


def _between(low: int, high: int) -> int:
    """A random number from `low` to `high`; `high` where that is not above."""
    return random.randint(low, high) if low < high else high

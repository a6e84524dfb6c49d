"""Loops over boxes that numba compiles on their first use; imported only where that is installed."""

from __future__ import annotations

from typing import Any

from operad_sdk import loop


@loop
def _length(start: Any, stop: Any, zero: Any) -> Any:
    length = stop - start
    return zero if length <= zero else length


@loop
def suppress(boxes: Any, classes: Any, threshold: Any, is_inclusive: bool, stays: Any) -> None:
    """Set `stays` to False for each box that a better one suppresses.

    Args:
        boxes: Left, top, right and bottom of all boxes, best first; (4, n).
        classes: One per box; those of another class are left alone.
        threshold: What overlaps may be, of the element type of `boxes`.
        is_inclusive: Whether an overlap that equals it is too much.
        stays: True everywhere.
    """
    left, top, right, bottom = boxes
    zero = boxes.dtype.type(0)  # an integer would make double precision of single
    for i in range(len(left)):
        if not stays[i]:
            continue
        area = _length(left[i], right[i], zero) * _length(top[i], bottom[i], zero)
        for j in range(i + 1, len(left)):
            if not stays[j] or classes[i] != classes[j]:
                continue
            width = _length(max(left[i], left[j]), min(right[i], right[j]), zero)
            height = _length(max(top[i], top[j]), min(bottom[i], bottom[j]), zero)
            shared = width * height
            union = area + _length(left[j], right[j], zero) * _length(top[j], bottom[j], zero) - shared
            overlap = zero if union <= 0 else shared / union
            if overlap > threshold or (is_inclusive and overlap == threshold):
                stays[j] = False

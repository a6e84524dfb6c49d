"""Greedy suppression: of boxes that overlap too much, the best one stays.

The best candidate is kept and removes all later ones that overlap it; then the best of those that are left
is next. Each step compares one box with the candidates that are left, so the work is the number of boxes
kept times the number of candidates at most, and no table of all overlaps is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from operad_box.geometry import Corners, overlaps
from operad_sdk import Array


def by_score(xp: Any, scores: Array, most: int) -> Array:
    """Numbers of the scores, best first and equal ones in order.

    Args:
        most: How many are left; not positive: all.
    """
    order = xp.argsort(-scores, kind="stable")
    return order[:most] if most > 0 else order


def kept(
    xp: Any,
    boxes: Corners,
    classes: Array | None,
    is_too_much: Callable[[Array], Array],
) -> Array:
    """The boxes, best first, that no better one suppresses.

    Args:
        boxes: Candidates, best first.
        classes: Boxes of another class are left alone; None: they are suppressed too.
        is_too_much: Tells it of overlaps.

    Returns:
        Numbers of candidates, in order.
    """
    found, left = [], xp.arange(len(boxes.left))
    while len(left):
        best, left = left[:1], left[1:]
        found.append(best)
        suppressed = is_too_much(overlaps(boxes.at(best), boxes.at(left)))
        if classes is not None:
            suppressed &= classes[best] == classes[left]
        left = left[~suppressed]
    return xp.concatenate(found) if found else left

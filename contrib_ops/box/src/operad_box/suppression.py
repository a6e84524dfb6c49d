"""Greedy suppression: of boxes that overlap too much, the best one stays.

The best candidate is kept and removes all later ones that overlap it; then the best of those that are left
is next. Each step compares one box with the candidates that are left, so the work is the number of boxes
kept times the number of candidates at most, and no table of all overlaps is made.

On the host many boxes are compared by a compiled loop, where numba is installed: 5000 boxes take 30 ms, and
by NumPy's functions, called for each box that is kept, 1.3 s. Both do the same arithmetic. How many boxes are
candidates depends on their scores, so what chooses the loop is how many there may be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from operad_box.geometry import Corners, overlaps
from operad_sdk import Array, CompiledLoops

LOOPS: Final = CompiledLoops("operad_box.compiled", from_size=256)
"""Loops that pay from so many boxes: a call saves milliseconds there."""


def by_score(xp: Any, scores: Array, most: int) -> Array:
    """Numbers of the scores, best first and equal ones in order.

    Args:
        most: How many are left; not positive: all.
    """
    order = xp.argsort(-scores, kind="stable")
    return order[:most] if most > 0 else order


Kept = Callable[..., Array]
"""`kept`, or a function that does the same."""


def kept(
    xp: Any, boxes: Corners, classes: Array | None, threshold: float, *, is_inclusive: bool = False
) -> Array:
    """The boxes, best first, that no better one suppresses.

    Args:
        boxes: Candidates, best first.
        classes: Boxes of another class are left alone; None: they are suppressed too.
        threshold: Boxes that overlap by more are suppressed.
        is_inclusive: Boxes that overlap by as much are too.

    Returns:
        Numbers of candidates, in order.
    """
    found, left = [], xp.arange(len(boxes.left))
    while len(left):
        best, left = left[:1], left[1:]
        found.append(best)
        overlap = overlaps(boxes.at(best), boxes.at(left))
        is_suppressed = overlap >= threshold if is_inclusive else overlap > threshold
        if classes is not None:
            is_suppressed &= classes[best] == classes[left]
        left = left[~is_suppressed]
    return xp.concatenate(found) if found else left


def kept_by_loop(
    xp: Any, boxes: Corners, classes: Array | None, threshold: float, *, is_inclusive: bool = False
) -> Array:
    """The same in one compiled loop, with the same arithmetic."""
    sides = np.stack(list(boxes))
    stays = np.ones(sides.shape[1], bool)
    classes = np.zeros(stays.shape, sides.dtype) if classes is None else np.ascontiguousarray(classes)
    LOOPS.suppress(sides, classes, sides.dtype.type(threshold), is_inclusive, stays)
    return np.flatnonzero(stays)

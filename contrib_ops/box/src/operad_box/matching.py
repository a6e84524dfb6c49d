"""Matching of anchors with true boxes, and the choice of background anchors."""

from __future__ import annotations

from typing import Any, Final

from operad_sdk import Array

NONE: Final = -1
LEAST_OVERLAP: Final = 1e-6
"""A true box that overlaps an anchor by no more is not matched with it, whatever the threshold."""


def matches(xp: Any, overlap: Array, threshold: float) -> Array:
    """The number of each anchor's true box, or NONE.

    First each true box gets an anchor of its own, the best pair of all first. Then every other anchor
    gets the true box that it overlaps most, if that is by more than `threshold` and this is positive.
    Of equal overlaps the first anchor's counts, and of one anchor's the first true box's.

    Args:
        overlap: One row per anchor, one column per true box; there is at least one of each.
    """
    overlap = xp.where(overlap > 0, overlap, 0)  # NaN is no overlap
    match = xp.full(len(overlap), NONE)
    left = overlap.copy()
    for _ in range(overlap.shape[1]):
        anchor, truth = divmod(int(left.argmax()), overlap.shape[1])
        if float(left[anchor, truth]) <= LEAST_OVERLAP:
            break
        match[anchor] = truth
        left[anchor] = left[:, truth] = 0
    if threshold > 0:
        also = (match == NONE) & (overlap.max(axis=1) > threshold)
        match[also] = overlap[also].argmax(axis=1)
    return match


def hardest(xp: Any, scores: Array, candidates: Array, count: int) -> Array:
    """Choose the `count` candidates of least probability for the first class; of equal ones the first.

    Args:
        scores: One row per class, one column per anchor, before the softmax.
        candidates: Numbers of anchors.
    """
    exponentials = xp.exp(scores[:, candidates] - scores[:, candidates].max(axis=0))
    probability = exponentials[0] / exponentials.sum(axis=0)
    return candidates[xp.argsort(probability, kind="stable")[:count]]

"""Formulas that several rules share."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array


def rescaled(grad: Array, rescale_grad: float, clip_gradient: float, factor: float = 1.0) -> Array:
    """`factor * clip(rescale_grad * grad)`."""
    scale = rescale_grad * factor
    if scale != 1:
        grad = scale * grad
    if clip_gradient >= 0:
        bound = abs(clip_gradient * factor)
        grad = np.clip(grad, -bound, bound)
    return grad


def decayed(grad: Array, weight: Array, wd: float) -> Array:
    """`grad + wd * weight`."""
    return grad + wd * weight if wd else grad


def kept_after(keep: float, count: int) -> float:
    """`keep^count`; infinite where that is too large."""
    with np.errstate(over="ignore"):
        found: float = np.float_power(keep, count).item()
        return found


def move_average(average: Array, keep: float, value: Array) -> None:
    """`average = keep * average + (1 - keep) * value`, in place."""
    average *= keep
    average += (1 - keep) * value

"""Derivatives by differences, and how to tell where there is none.

At a smooth point the one-sided differences of a step h differ by about `h f''`, so halving the step
halves their disagreement. At a kink it stays, at a jump it doubles: that tells them apart without
anybody listing them. Where the function is not defined beside a point, differences are NaN. Such
points are left for others of the domain.

The value is Richardson's combination of the central differences of two steps; what is left of their
disagreement is the error estimate: no less, because at a kink of the slope both are off by the order of
the step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

STEP: Final = 2.0**-12
_EPS: Final = float(np.finfo(np.float64).eps)


@final
class Difference(NamedTuple):
    """A numeric derivative.

    Attributes:
        value: The derivative.
        error: What it may be wrong by.
        is_smooth: Whether there is one at all.
    """

    value: float
    error: float
    is_smooth: bool


def difference(values: Callable[[float], Array], weights: Array) -> Difference:
    """The derivative at 0 of `weights @ values(t)`.

    Args:
        values: Gives a vector for a number, whose parts are looked at one by one for kinks.
        weights: One a part.
    """
    centre = values(0.0)
    ahead, behind = values(STEP), values(-STEP)
    near_ahead, near_behind = values(STEP / 2), values(-STEP / 2)
    full = np.abs((ahead - centre) / STEP - (centre - behind) / STEP)
    half = np.abs((near_ahead - centre) - (centre - near_behind)) / (STEP / 2)
    size = np.maximum(np.abs(ahead), np.abs(behind))
    noise = 16 * _EPS * size / STEP
    smooth = np.isfinite(full) & (half <= 0.75 * full + noise)
    if not smooth.all():
        return Difference(float("nan"), float("inf"), False)
    coarse = float(weights @ (ahead - behind)) / (2 * STEP)
    fine = float(weights @ (near_ahead - near_behind)) / STEP
    value = (4 * fine - coarse) / 3
    error = abs(fine - coarse) + float(np.abs(weights) @ noise)
    return Difference(
        value, error, bool(np.isfinite(value)) and abs(fine - coarse) <= 1e-3 * (1 + abs(value))
    )


def agrees(found: float, numeric: Difference, relative: float = 1e-6) -> bool:
    """Whether a gradient is the derivative, as far as that can be told."""
    limit = numeric.error + relative * max(abs(found), abs(numeric.value)) + 1e-9 * (abs(numeric.value) < 1)
    return abs(found - numeric.value) <= limit

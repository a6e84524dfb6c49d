"""One-sided derivatives: they differ at a kink, and do not exist at a jump or a pole.

A quotient of differences on one side is taken at two distances. Where the function has a derivative on
that side the two agree, and extrapolating to 0 (Richardson) removes what is left of its curvature. At a
jump the quotient grows as fast as the distance shrinks, beside an infinite slope it grows more slowly:
the two quotients then differ, and nothing is said. Distances are powers of two, so that the arguments of
the function are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Outputs = Sequence[Array]

FAR: Final = 2.0**-14
"""The farther distance."""

_NEAR: Final = 2.0**-17

_ROUNDINGS: Final = 64
"""Units in the last place by which an output may be wrong."""

_BEND: Final = 1e-2
"""Smallest difference of two slopes that makes a kink, as a part of the steeper one."""

_AGREES: Final = 1e-3
"""Largest difference of two quotients on one side, likewise."""


@final
@dataclass(frozen=True, slots=True)
class Slopes:
    """Derivatives of one output's elements along a direction, to both sides.

    Attributes:
        left: The derivatives from the left, that is against the direction.
        right: From the right.
        errors: Bounds of the errors of both.
        exists: Where both exist; elsewhere the three others mean nothing.
        is_kink: Where they exist and differ.
    """

    left: Array
    right: Array
    errors: Array
    exists: Array
    is_kink: Array


def may_bend(function: Callable[[float], Outputs]) -> list[Array]:
    """Masks of the elements of each output of `function` that are not linear around 0: kinks, and others."""
    return [_is_bent(*quotients) for quotients in _quotients(function, function(0.0), FAR)]


def one_sided_slopes(function: Callable[[float], Outputs], *, of_kinks: bool = True) -> list[Slopes]:
    """Derivatives of all outputs of `function` at 0, to both sides; each call returns new arrays.

    Args:
        of_kinks: Whether nothing is wanted of an output that has no kink anywhere.
    """
    center = function(0.0)
    far = _quotients(function, center, FAR)
    if of_kinks and not any(_is_bent(*quotients).any() for quotients in far):
        return [_smooth(output) for output in center]
    near = _quotients(function, center, _NEAR)
    return [_slopes(*pair) for pair in zip(far, near, strict=True)]


Quotients = tuple[Array, Array, Array]
"""Quotients of differences to the left and to the right, and how far rounding may have moved them."""


def _quotients(function: Callable[[float], Outputs], center: Outputs, distance: float) -> list[Quotients]:
    found = []
    with np.errstate(all="ignore"):
        for here, ahead, behind in zip(center, function(distance), function(-distance), strict=True):
            unit = _ROUNDINGS * np.finfo(np.float64).eps / distance
            is_constant = (ahead == here) & (behind == here)
            rounding = np.where(is_constant, 0.0, unit * (abs(here) + abs(ahead) + abs(behind)))
            found.append(((here - behind) / distance, (ahead - here) / distance, rounding))
    return found


def _is_bent(left: Array, right: Array, rounding: Array) -> Array:
    """Mask of elements whose two slopes differ; slopes that are NaN do not."""
    with np.errstate(all="ignore"):
        return np.asarray(abs(right - left) > _BEND * np.maximum(abs(left), abs(right)) + rounding)


def _slopes(far: Quotients, near: Quotients) -> Slopes:
    part = _NEAR / FAR
    with np.errstate(all="ignore"):
        left, right = ((n - part * f) / (1 - part) for f, n in zip(far[:2], near[:2], strict=True))
        change = np.maximum(abs(near[0] - far[0]), abs(near[1] - far[1]))
        steeper = np.maximum(abs(left), abs(right))
        converges = change <= _AGREES * steeper + near[2]
        errors = change + near[2]
        is_kink = converges & (abs(right - left) > _BEND * steeper + 4 * errors)
    return Slopes(left, right, errors, np.asarray(converges), np.asarray(is_kink))


def _smooth(output: Array) -> Slopes:
    nothing = np.zeros(output.shape)
    nowhere = np.zeros(output.shape, bool)
    return Slopes(nothing, nothing, nothing, nowhere, nowhere)

"""Numeric derivatives, with an estimate of their error.

Each is a central difference at two distances, extrapolated to 0 (Richardson). Both distances are powers
of two, so that the arguments of the function are exact. How far the two differ bounds the error where the
function is smooth. At a kink the derivatives to the left and to the right differ however small the
distance; at a jump the quotient grows. Both show in how the estimate changes with the distance, element
by element of each output, so that no author has to list the points to be avoided: the element is not
compared there, and the caller looks again at another point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Outputs = Sequence[Array]

_DISTANCES: Final = (2.0**-11, 2.0**-14, 2.0**-17)
"""The next one is tried where an element is not settled."""

_NEAR: Final = 0.375
"""The nearer distance, as a part of the farther. A half would not do: where a function jumps at regular
intervals, as remainders do, points that are near the same phase of it seem to lie on a smooth one."""

_RELATIVE: Final = 1e-6
"""Error that settles an element, as a part of its derivative."""

_ROUNDINGS: Final = 64
"""Units in the last place by which an output may be wrong."""

_USEFUL: Final = 1e-3
"""Largest error that an element may have and still be compared, as a part of its derivative."""


@final
@dataclass(frozen=True, slots=True)
class NumericDerivative:
    """Derivatives of one output's elements along a direction.

    Attributes:
        values: The derivatives.
        errors: Bounds of their errors.
        is_smooth: Where there is a derivative; elsewhere the two others are 0.
    """

    values: Array
    errors: Array
    is_smooth: Array

    def against(self, cotangent: Array) -> tuple[float, float, float]:
        """Derivative of the sum of `cotangent` times the output, its error bound, and its magnitude.

        The magnitude is that of the largest partial sum; the sum itself may cancel.
        """
        weight = np.where(self.is_smooth, cotangent, 0.0)
        parts = weight * self.values
        return float(parts.sum()), float((abs(weight) * self.errors).sum()), float(abs(parts).sum())


def numeric_derivatives(function: Callable[[float], Outputs]) -> list[NumericDerivative]:
    """Derivatives of all outputs of `function` at 0; `function` returns new arrays at each call."""
    center = function(0.0)
    states = [_State.begin(output) for output in center]
    with np.errstate(all="ignore"):
        for distance in _DISTANCES:
            near = [function(distance * _NEAR), function(-distance * _NEAR)]
            far = [function(distance), function(-distance)]
            for place, state in enumerate(states):
                state.refine(
                    center[place], near[0][place], near[1][place], far[0][place], far[1][place], distance
                )
            if all(state.settled.all() for state in states):
                break
        return [state.derivative(output) for state, output in zip(states, center, strict=True)]


@final
@dataclass(slots=True)
class _State:
    """The best estimate so far, element by element."""

    values: Array
    errors: Array
    first: Array
    last: Array
    settled: Array

    @classmethod
    def begin(cls, output: Array) -> _State:
        worst = np.full(output.shape, np.inf)
        return cls(np.zeros(output.shape), worst, worst, worst, np.zeros(output.shape, bool))

    def refine(
        self, center: Array, ahead: Array, behind: Array, far_ahead: Array, far_behind: Array, distance: float
    ) -> None:
        near = distance * _NEAR
        wide = (far_ahead - far_behind) / (2 * distance)
        narrow = (ahead - behind) / (2 * near)
        wide_bend = (far_ahead - 2 * center + far_behind) / distance
        narrow_bend = (ahead - 2 * center + behind) / near
        values = (narrow - _NEAR**2 * wide) / (1 - _NEAR**2)
        is_constant = (ahead == behind) & (far_ahead == far_behind) & (ahead == center)
        is_constant |= _all_nan(center, ahead, behind, far_ahead, far_behind)
        unit = _ROUNDINGS * np.finfo(np.float64).eps / (2 * near)
        # what does not change may have a slope that is lost in the last digit, as where a softmax saturates
        least = np.where(np.isnan(center), 0.0, np.finfo(np.float64).eps * abs(center) / (2 * distance))
        rounding = np.where(is_constant, least, unit * (abs(center) + abs(far_ahead) + abs(far_behind)))
        spread = abs(narrow - wide) + abs(narrow_bend - wide_bend * _NEAR)
        errors = np.where(is_constant, 0.0, spread) + rounding
        errors = np.where(np.isfinite(errors), errors, np.inf)
        values = np.where(is_constant, 0.0, values)
        better = errors < self.errors
        self.first = errors if np.isinf(self.first).all() else self.first
        self.last = errors
        self.settled |= np.isfinite(errors) & (errors <= _RELATIVE * abs(values) + 4 * rounding)
        self.values = np.where(better, values, self.values)
        self.errors = np.where(better, errors, self.errors)

    def derivative(self, center: Array) -> NumericDerivative:
        converges = self.settled | (self.last <= self.first / 8)
        is_useful = self.errors <= _USEFUL * (abs(self.values) + _USEFUL * np.maximum(1.0, abs(center)))
        is_smooth = converges & (is_useful | (self.errors == 0)) & np.isfinite(self.errors)
        values = np.where(is_smooth, self.values, 0.0)
        return NumericDerivative(values, np.where(is_smooth, self.errors, 0.0), is_smooth)


def _all_nan(*arrays: Array) -> Array:
    return np.asarray(np.logical_and.reduce([np.isnan(array) for array in arrays]))

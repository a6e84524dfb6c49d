"""Numeric derivatives are right where there are any, and nowhere else are there any."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from operad_check.comparison.numeric_derivative import numeric_derivatives

SMOOTH = {
    "cubic": (lambda t: t**3, 0.0, 0.0),
    "sine": (np.sin, 0.75, np.cos(0.75)),
    "reciprocal": (lambda t: 1 / t, 0.125, -64.0),
    "exponential": (np.exp, 20.0, np.exp(20.0)),
    "constant": (lambda t: 0 * t + 7, 1.0, 0.0),
    "large offset": (lambda t: 1e6 + t, 0.5, 1.0),
    "plateau with a kink near": (lambda t: np.maximum(t, 2.0**-14), 0.0, 0.0),
    "square root near 0": (np.sqrt, 1 / 512, 0.5 * np.sqrt(512)),
}
ROUGH = {
    "kink": abs,
    "small kink": lambda t: t + 1e-3 * abs(t),
    "jump": np.sign,
    "edge of the domain": np.sqrt,
    "pole": lambda t: 1 / t,
    "cusp": lambda t: abs(t) ** 0.5,
}


@pytest.mark.parametrize("name", SMOOTH)
def test_a_derivative_is_within_its_error(name: str) -> None:
    function, at, expected = SMOOTH[name]
    (derivative,) = numeric_derivatives(lambda t: [np.array([function(np.float64(at + t))])])
    assert derivative.is_smooth.all()
    assert abs(derivative.values[0] - expected) <= derivative.errors[0] + 1e-9 * abs(expected)
    assert derivative.errors[0] <= 1e-3 * abs(expected) + 1e-6


@pytest.mark.parametrize("name", ROUGH)
def test_there_is_none_at(name: str) -> None:
    function: Callable[[np.float64], np.float64] = ROUGH[name]
    with np.errstate(all="ignore"):
        (derivative,) = numeric_derivatives(lambda t: [np.array([function(np.float64(t))])])
    assert not derivative.is_smooth.any()


def test_elements_are_judged_one_by_one() -> None:
    (derivative,) = numeric_derivatives(lambda t: [np.array([abs(t), 3 * t, np.nan])])
    assert derivative.is_smooth.tolist() == [False, True, True]
    total, error, magnitude = derivative.against(np.array([1.0, 2.0, 5.0]))
    assert (total, magnitude) == pytest.approx((6.0, 6.0))
    assert error < 1e-9


def test_a_derivative_of_single_precision_is_none() -> None:
    (derivative,) = numeric_derivatives(lambda t: [np.array([np.float32(0.3 + t) ** 2], np.float64)])
    assert not derivative.is_smooth.any()

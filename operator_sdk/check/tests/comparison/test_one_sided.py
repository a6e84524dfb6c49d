"""One-sided derivatives are found at kinks, and nothing is said where there is no kink or no derivative."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from operad_check.comparison.one_sided import may_bend, one_sided_slopes

KINKS = {
    "magnitude": (abs, 0.0, (-1.0, 1.0)),
    "larger of two": (lambda t: np.maximum(t, 3.0), 3.0, (0.0, 1.0)),
    "beside curvature": (lambda t: np.exp(t) + 0.25 * abs(t), 0.0, (0.75, 1.25)),
    "small beside the slope": (lambda t: t + 0.05 * abs(t), 0.0, (0.95, 1.05)),
    "on a large offset": (lambda t: 1e4 + abs(t), 0.0, (-1.0, 1.0)),
}
NONE = {
    "smooth": lambda t: np.exp(t),
    "flat in the middle": lambda t: t * t,
    "smooth, by two curves": lambda t: t * abs(t),
    "jump": np.sign,
    "jump with a slope": lambda t: t - np.floor(t),
    "jump to one side": lambda t: t + (t > 0),
    "point beside the rest": lambda t: 1.0 * (t == 0),
    "infinite slope": lambda t: abs(t) ** 0.5,
    "edge of the domain": np.sqrt,
    "pole": lambda t: 1 / t,
    "infinite there": lambda t: np.log(abs(t)),
    "slope that grows like a logarithm": lambda t: t * np.log(abs(t)) if t else t,
    "rounding": lambda t: np.float64(1e12) + 1e-3 * abs(t),
    "nowhere a number": lambda t: t * np.nan,
}


def _slopes(function: Callable[[np.float64], np.float64], at: float = 0.0):
    with np.errstate(all="ignore"):
        (found,) = one_sided_slopes(lambda t: [np.array([function(np.float64(at + t))])])
    return found


@pytest.mark.parametrize("name", KINKS)
def test_slopes_are_within_their_errors(name: str) -> None:
    function, at, expected = KINKS[name]
    found = _slopes(function, at)
    assert found.is_kink.all()
    error = found.errors[0]
    assert (found.left[0], found.right[0]) == pytest.approx(expected, abs=error)
    assert error < 1e-3


@pytest.mark.parametrize("name", NONE)
def test_there_is_no_kink_in(name: str) -> None:
    assert not _slopes(NONE[name]).is_kink.any()


def test_elements_are_judged_one_by_one() -> None:
    (found,) = one_sided_slopes(lambda t: [np.array([abs(t), 3 * t, np.sign(t), min(t, 0.0)])])
    assert found.is_kink.tolist() == [True, False, False, True]
    assert (found.left[3], found.right[3]) == (1, 0)


def test_kinks_and_jumps_to_one_side_bend() -> None:
    (found,) = may_bend(lambda t: [np.array([abs(t), 3 * t, t > 0, np.exp(t), np.nan])])
    assert found.tolist() == [True, False, True, False, False]


def test_a_function_that_does_not_bend_is_called_three_times() -> None:
    calls = []
    one_sided_slopes(lambda t: [np.array(calls.append(t) or 2 * t)])
    assert len(calls) == 3

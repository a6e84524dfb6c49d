from __future__ import annotations

import numpy as np
import pytest

from operad_sdk.quotients import divide_integers, remainder, slope_of_base, slope_of_exponent, slope_of_length


def test_integers_are_divided_towards_zero_and_by_zero_give_zero() -> None:
    lhs, rhs = np.array([7, -7, 7, -7, 5]), np.array([2, 2, -2, -2, 0])
    output = np.empty_like(lhs)
    divide_integers(lhs, rhs, output)
    assert output.tolist() == [3, -3, -3, 3, 0]
    remainder(lhs, rhs, output)
    assert output.tolist() == [1, 1, -1, -1, 0]


@pytest.mark.parametrize(("base", "exponent"), [(2.0, 3.0), (0.5, 2.0**-12), (1.5, -2.0)])
def test_slopes_of_powers_are_those_of_the_formulas(base: float, exponent: float) -> None:
    lhs, rhs = np.array([base]), np.array([exponent])
    np.testing.assert_allclose(slope_of_base(2.0, lhs, rhs), 2 * exponent * base ** (exponent - 1))
    found = slope_of_exponent(2.0, lhs, lhs**rhs)
    np.testing.assert_allclose(found, 2 * base**exponent * np.log(base))


def test_what_has_no_slope_gets_zero() -> None:
    zero = np.zeros(1)
    assert slope_of_base(1.0, zero, zero) == 0
    assert slope_of_exponent(1.0, zero, zero**2) == 0
    assert slope_of_length(1.0, zero, zero) == 0

"""The quadratic function: its values and slopes."""

from __future__ import annotations

import numpy as np

import operad as od
from operad_check.testing import gradient_check
from operad_quadratic import quadratic


def test_it_is_0_at_its_roots() -> None:
    out = od.nd._contrib_quadratic(od.nd.array([2, 5]), a=1, b=-7, c=10)
    np.testing.assert_array_equal(out.asnumpy(), [0, 0])


def test_integers_are_computed_and_rounded_towards_0() -> None:
    out = od.nd._contrib_quadratic(od.nd.array([3, -3], dtype="int32"), a=0.5, c=0.25)
    np.testing.assert_array_equal(out.asnumpy(), np.array([4, 4], "int32"), strict=True)


def test_the_gradient_is_the_derivative() -> None:
    gradient_check(quadratic, [np.linspace(-2, 2, 5)], a=1.5, b=-2.0, c=0.5)

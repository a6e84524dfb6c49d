"""Derivatives are looked for at the case itself, and then where there are no ties and no edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from operad_check import Violation, verify
from operad_check.comparison.sample_points import sample_points
from operad_check.trials.case import Case
from operad_check.trials.subject import subject_of
from operad_check.trials.trial import Trial
from operad_sdk import Contract, binary, unary
from operad_sdk.domains import Integers, Real


@binary("sample_points_larger", contract=Contract(inputs={"rhs": Real(-0.25, 0.25)}))
def larger(lhs, rhs):
    """The larger of two."""
    return np.maximum(lhs, rhs)


@unary("sample_points_class", contract=Contract(inputs={"data": Integers(0, 3)}))
def one_of(x):
    """A class."""
    return x


def _sample_points(operator, **inputs):
    return list(sample_points(Trial(subject_of(operator), Case(inputs=inputs))))


def test_the_first_point_is_the_case() -> None:
    lhs, rhs = np.zeros((2, 3)), np.full((2, 3), 0.125)
    first = _sample_points(larger, lhs=lhs, rhs=rhs)[0]
    np.testing.assert_array_equal(first, [lhs, rhs])


def test_the_second_has_no_zeros_and_stays_near() -> None:
    lhs, rhs = np.zeros((4, 5)), np.zeros((4, 5))
    second = _sample_points(larger, lhs=lhs, rhs=rhs)[1]
    assert all((array != 0).all() and (abs(array) < 0.0625).all() for array in second)


@pytest.mark.parametrize("length", [3, 40])
def test_equal_numbers_are_moved_apart(length: int) -> None:
    equal = np.zeros((2, length))
    second = _sample_points(larger, lhs=equal, rhs=equal)[1]
    assert len(np.unique(np.concatenate(second))) == 4 * length


def test_others_look_between_0_and_1_and_above_1_where_nothing_is_declared() -> None:
    rng = np.random.default_rng(0)
    lhs, rhs = rng.integers(-16, 17, (8, 8)) / 8, rng.integers(-1, 2, (8, 8)) / 8
    _, _, unit, above = _sample_points(larger, lhs=lhs, rhs=rhs)
    assert ((unit[0] > 0) & (unit[0] < 1)).all()
    assert (above[0] > 1).all()
    assert all((abs(point[1]) < 0.25).all() for point in (unit, above))


def test_declared_bounds_hold() -> None:
    edge = np.full((5, 5), 0.1875)
    for _, rhs in _sample_points(larger, lhs=edge, rhs=edge):
        assert (abs(rhs) < 0.25).all()


def test_whole_numbers_stay() -> None:
    data = np.array([0.0, 3.0])
    for (moved,) in _sample_points(one_of, data=data):
        np.testing.assert_array_equal(moved, data)


def test_a_finding_names_the_point_to_which_an_argument_was_moved() -> None:
    @unary("moved_to_a_point", accepts="floating")
    def operator(x: Any) -> Any:
        """Two times x, and at a number of eighths x, where no derivative is."""
        return np.where(x * 8 == np.rint(x * 8), x, 2 * x + 1)

    @operator.gradient
    def _(output_grad: Any) -> Any:
        return 3 * output_grad

    case = Case(inputs={"data": np.array([1.0])}, is_train=True, seed=0)
    with pytest.raises(Violation, match=r"numeric derivative is 3.*, where data was moved to \[[\d.]+\]$"):
        verify("B301", operator, case)

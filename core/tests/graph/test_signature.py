"""Equal signatures promise that operators act alike."""

from __future__ import annotations

from functools import cached_property

import pytest

from core.tests.graph.operators import Dense, Tanh
from operad.graph.signature import signature
from operad.op import OperatorProperty, param


class Scaled(OperatorProperty):
    factor: float | int | bool | tuple | None = param(float, default=1.0)

    @cached_property
    def twice(self):
        return 2 * self.factor

    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]], []


def with_factor(value):
    made = Scaled()
    made.factor = value
    return made


def test_of_equal_class_and_parameters_are_equal():
    assert signature(Dense(hidden=3)) == signature(Dense(hidden=3))
    assert signature(Dense(hidden=3)) != signature(Dense(hidden=4))
    assert signature(Tanh()) != signature(type("Tanh", (Tanh,), {})())


@pytest.mark.parametrize(
    ("one", "other"), [(0.0, -0.0), (1, True), (1, 1.0), ((0.0,), (-0.0,)), ((1,), (True,)), ("1", 1)]
)
def test_of_values_that_are_equal_and_act_differently_differ(one, other):
    assert signature(with_factor(one)) != signature(with_factor(other))


def test_tells_values_without_equality_apart_by_identity():
    one, other = object(), object()
    assert signature(with_factor(one)) == signature(with_factor(one))
    assert signature(with_factor(one)) != signature(with_factor(other))


def test_does_not_change_when_something_is_worked_out_and_kept():
    one, other = with_factor(2.0), with_factor(2.0)
    assert one.twice == 4
    assert signature(one) == signature(other)

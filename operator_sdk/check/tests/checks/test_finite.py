"""Of arguments at the ends of their types a NaN in one mode is no fault where a product overflows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from operad_check import verify
from operad_check.trials.case import Case
from operad_check.trials.violation import Violation
from operad_sdk import OperatorProperty, operator

NAN_IN_ONE_MODE = "NaN throughout in training, and finite in the other mode"


def saturating(term: Callable[..., np.ndarray]) -> type[OperatorProperty]:
    """The hyperbolic tangent of a term, whose mean is taken off in training."""

    @operator("finite_saturating")
    class Saturating(OperatorProperty):
        spec = "data:(N), weight:(1) -> output:(N)"
        accepts = "floating"

        def forward(data, weight, is_train):
            found = term(data, weight)
            return np.tanh(found - found.mean() if is_train else found)

    return Saturating


def case(data: float, weight: float) -> Case:
    values = {"data": [data] * 4, "weight": [weight]}
    return Case(inputs={name: np.array(value, "float32") for name, value in values.items()}, is_train=True)


def test_a_product_of_two_arguments_may_overflow() -> None:
    assert verify("F219", saturating(lambda data, weight: data * weight), case(1e30, 1e30))


@pytest.mark.parametrize(
    ("term", "data", "weight"),
    [
        (lambda data, weight: data * data + weight, 1e30, 1.0),
        (lambda data, weight: data * weight * np.float32(3e38), 2.0, 2.0),
    ],
    ids=["the square of one argument", "a product of ordinary arguments"],
)
def test_nothing_else_may(term: Callable[..., np.ndarray], data: float, weight: float) -> None:
    with pytest.raises(Violation, match=NAN_IN_ONE_MODE):
        verify("F219", saturating(term), case(data, weight))

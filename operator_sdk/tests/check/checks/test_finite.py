"""Of arguments at the ends of their types a NaN in one mode is no fault where a product overflows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import operad as od
from operad_sdk import OperatorProperty, composed, operator
from operad_sdk.check import verify
from operad_sdk.check.trials.case import Case
from operad_sdk.check.trials.violation import Violation

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


@composed("finite_layer", accepts="floating")
def layer(data: od.Symbol) -> od.Symbol:
    hidden = od.sym.FullyConnected(data, num_hidden=2, no_bias=True, name="fc")
    return od.sym.tanh(od.sym.BatchNorm(hidden, name="norm"))


def test_a_product_of_two_arguments_may_overflow() -> None:
    assert verify("F219", saturating(lambda data, weight: data * weight), case(1e30, 1e30))


def test_a_sum_that_overflows_between_parts_may() -> None:
    values = {"data": np.full((2, 2), 1e20), "fc_weight": np.full((2, 2), 1e20)}
    gammas = {"norm_gamma": np.ones(2), "norm_beta": np.ones(2)}
    inputs = {name: np.asarray(array, "float32") for name, array in {**values, **gammas}.items()}
    aux = {name: np.ones(2, "float32") for name in ("norm_moving_mean", "norm_moving_var")}
    assert verify("F219", layer, Case(inputs=inputs, aux=aux, is_train=True))


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


def test_a_part_that_is_nan_of_finite_numbers_is_red_at_the_ends_too() -> None:
    @operator("finite_part")
    class Part(OperatorProperty):
        spec = "data:(N) -> output:(N)"
        accepts = "floating"

        def forward(data, is_train):
            return data - data + (np.nan if is_train else 0)

    od.registry.register(Part)
    try:

        @composed("finite_of_part", accepts="floating")
        def op(data: od.Symbol) -> od.Symbol:
            return od.sym.tanh(od.sym.finite_part(data))

        given = Case(inputs={"data": np.full(4, 1e30, "float32")}, is_train=True)
        with pytest.raises(Violation, match=NAN_IN_ONE_MODE):
            verify("F219", op, given)
    finally:
        od.registry.unregister("finite_part")

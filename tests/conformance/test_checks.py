"""First-party operators as the contract checks see them: by package, with nothing red in what is right."""

from __future__ import annotations

import pytest

from operad_check import check_operator
from operad_check.running.register import all_checks
from operad_check.running.suite import named_operators
from operator_sdk.check.tests.zoo.plain_gradient_check import plain_gradient_check

BACKWARD = [id for id in all_checks() if id[0] == "B"]

CORRECT = (
    *("tanh", "relu", "_mod", "broadcast_maximum", "max", "norm", "FullyConnected", "Pooling", "Dropout"),
    *("LeakyReLU", "SoftmaxOutput", "MakeLoss", "BlockGrad", "linalg_potrf", "softmax", "add_n", "dot"),
)
"""Of each kind one: kinks, ties, edges of domains, losses, random draws, symmetric arguments."""


@pytest.mark.more
@pytest.mark.parametrize("name", CORRECT)
def test_no_check_of_gradients_is_red_in_an_operator_that_is_right(name: str) -> None:
    report = check_operator(name, checks=BACKWARD, profile="dev")
    assert {
        outcome.check_id: outcome.failure or outcome.reason for outcome in report.outcomes if outcome.red_id
    } == {}


@pytest.mark.parametrize("name", ["tanh", "relu", "FullyConnected", "Dropout"])
def test_a_plain_gradient_check_passes_what_is_right(name: str) -> None:
    assert not plain_gradient_check(name)


def test_a_package_and_a_distribution_mean_their_operators() -> None:
    package, distribution = named_operators("operad_loss"), named_operators("operad-loss")
    assert package == distribution
    assert "SoftmaxOutput" in package


def test_aliases_are_left_out() -> None:
    found = named_operators("operad_shape")
    assert "Reshape" in found
    assert "reshape" not in found

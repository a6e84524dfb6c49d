"""At a kink every slope between the two is accepted, every other is not, and of jumps nothing is said."""

from __future__ import annotations

import numpy as np
import pytest

from operad_check import Profile, check_operator, verify
from operad_check.checks import kinks
from operad_check.reporting.outcome import Status
from operad_check.trials.case import Case
from operad_check.trials.violation import Violation
from operad_sdk import Contract, OperatorProperty, operator, unary
from operad_sdk.domains import Probabilities, Real
from operator_sdk.check.tests.zoo.right.kinks import Units

FEW = Profile("few", examples=30, seconds=1.0)
AT_ZERO = Case(inputs={"data": np.zeros(1)})


def rectified(at_zero: float, contract: Contract | None = None, name: str = "kinks_rectified"):
    @unary(name, accepts="floating", contract=contract or Contract())
    def op(x):
        return np.maximum(x, 0)

    @op.gradient
    def _(output_grad, x):
        return output_grad * np.heaviside(x, at_zero)

    return op


def only(op):
    """The outcome of the check on an operator."""
    outcomes = check_operator(op, checks=["B313"], profile=FEW).outcomes
    (found,) = (one for one in outcomes if one.check_id == "B313")
    return found


@pytest.mark.parametrize("at_zero", [0.0, 0.25, 1.0])
def test_every_slope_between_the_two_is_accepted(at_zero: float) -> None:
    assert only(rectified(at_zero)).status is Status.PASSED


@pytest.mark.parametrize("at_zero", [-0.01, 1.01, 2.0, np.inf])
def test_every_other_is_not(at_zero: float) -> None:
    with pytest.raises(Violation, match="where the derivative is 0 to the left and 1 to the right"):
        verify("B313", rectified(at_zero), AT_ZERO)


def test_a_gradient_that_is_nan_is_left_to_another_check() -> None:
    verify("B313", rectified(np.nan), AT_ZERO)
    with pytest.raises(Violation, match="nan"):
        verify("F219", rectified(np.nan), AT_ZERO)


def test_the_message_names_element_value_slopes_and_gradient() -> None:
    with pytest.raises(
        Violation,
        match=r"gradient of data\[1\] from output\[1\] is 2 at the kink data\[1\] = 0, "
        "where the derivative is 0 to the left and 1 to the right",
    ):
        verify("B313", rectified(2.0), Case(inputs={"data": np.array([0.5, 0.0])}))


def test_numbers_are_rounded_to_find_kinks() -> None:
    with pytest.raises(Violation, match=r"data\[0\] = 0"):
        verify("B313", rectified(2.0), Case(inputs={"data": np.array([0.125, 1.5])}))


def test_errors_of_two_outputs_do_not_cancel() -> None:
    @operator("kinks_two")
    class Two(OperatorProperty):
        """The larger of an element and 0, and the smaller."""

        accepts = "floating"
        spec = "data:(*S) -> upper:(*S), lower:(*S)"

        def forward(data):
            return np.maximum(data, 0), np.minimum(data, 0)

        def data_grad(upper_grad, lower_grad, data):
            return upper_grad * np.heaviside(data, 2) + lower_grad * np.heaviside(-data, -1)

    with pytest.raises(Violation, match=r"from upper\[0\] is 2 "):
        verify("B313", Two, AT_ZERO)


@pytest.mark.parametrize(
    "function", [np.sign, np.rint, lambda x: x - np.floor(x)], ids=["sign", "round", "saw"]
)
def test_nothing_is_said_of_jumps(function) -> None:
    @unary("kinks_jump", accepts="floating")
    def op(x):
        return function(x)

    @op.gradient
    def _(output_grad, x):
        return output_grad * np.where(x == np.rint(x), 7, 0)

    assert only(op).status is Status.PASSED


def test_where_kinks_meet_a_slope_close_by_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    # two units that are both 0: along the data the slopes are 1/2 and 1, and with both off there is none
    inputs = {"data": [[0.0]], "weight": [[1.0, -1.0]], "bias": [0.0, 0.0], "scale": [1.0, -0.5]}
    case = Case(inputs={name: np.array(values) for name, values in inputs.items()})
    verify("B313", Units, case)
    monkeypatch.setattr(kinks, "_CLOSE_BY", 0)
    with pytest.raises(
        Violation, match=r"gradient of data\[0, 0\] .* is 0 at .* 0.5 to the left and 1 to the right"
    ):
        verify("B313", Units, case)


@pytest.mark.parametrize(
    "contract",
    [
        Contract(no_numeric_gradient="it trains what is dead"),
        Contract(inputs={"data": Probabilities()}),
        Contract(ignores_head_gradient="a head"),
    ],
    ids=["another gradient", "elements that do not move alone", "a head without a loss"],
)
def test_it_does_not_apply_where_no_element_has_a_derivative(contract: Contract) -> None:
    assert only(rectified(2.0, contract)).status is Status.INAPPLICABLE


def test_it_applies_to_declared_losses() -> None:
    def loss(data):
        return np.maximum(data, 0).sum()

    @unary("kinks_loss", accepts="floating", contract=Contract(ignores_head_gradient="a loss", loss=loss))
    def op(x):
        return x * 1

    @op.gradient
    def _(x):
        return np.heaviside(x, 2)

    found = only(op)
    assert found.failure is not None
    assert "from loss is 2 at the kink" in found.failure.message


def test_another_custom_is_declared() -> None:
    contract = Contract(expected_failures={"B313": "dead units are to wake up"})
    assert only(rectified(2.0, contract)).status is Status.EXPECTED


def test_domains_keep_kinks_out() -> None:
    assert only(rectified(2.0, Contract(inputs={"data": Real(nonzero=True)}))).status is Status.PASSED


def test_gradients_that_cancel_are_compared_within_their_roundings() -> None:
    """The slopes of two arguments that move together are 0 and 0; the gradients' sum is 5e-17."""

    @operator("kinks_cancel")
    class Cancel(OperatorProperty):
        """The distance of two numbers from one another."""

        accepts = "floating"
        spec = "lhs:(*S), rhs:(*S) -> output:(*S)"

        def forward(lhs, rhs):
            return np.maximum(0, lhs - rhs)

        def lhs_grad(output_grad, lhs, rhs):
            return output_grad * (lhs >= rhs) * (0.1 + 0.2)

        def rhs_grad(output_grad, lhs, rhs):
            return -output_grad * (lhs >= rhs) * 0.3

    case = Case(inputs={"lhs": np.ones(1), "rhs": np.ones(1)})
    verify("B313", Cancel, case)

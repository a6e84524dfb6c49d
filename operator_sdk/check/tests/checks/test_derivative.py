"""Gradients of arguments that cannot be moved are compared, and the smallest numbers are not."""

from __future__ import annotations

import numpy as np
import pytest

from operad.errors import OperadError
from operad_check import verify
from operad_check.trials.case import Case
from operad_check.trials.violation import Violation
from operad_sdk import Contract, OperatorProperty, operator, unary
from operad_sdk.domains import Integers, OneHot
from operator_sdk.check.tests.zoo.bases import Floating

LABELS = Case(inputs={"data": np.array([[1.5, -2.0, 0.5]] * 4), "label": np.eye(3)[[0, 1, 2, 0]]})


def scored(name: str, factor: float, domain=None, refuses: bool = False) -> type[OperatorProperty]:
    @operator(name)
    class Scored(Floating):
        """Scores of labels, and so many times the gradient of the labels."""

        spec = "data:(N, K), label:(N, K) -> output:(N)"
        contract = Contract(inputs={"label": domain or OneHot()})

        def forward(data, label):
            if refuses and not np.isin(label, (0, 1)).all():
                raise OperadError("expected labels of 0 and 1")
            return (data * label).sum(1)

        def data_grad(output_grad, label):
            return output_grad[:, None] * label

        def label_grad(output_grad, data):
            return factor * output_grad[:, None] * data

    return Scored


def test_a_right_gradient_of_labels_passes() -> None:
    verify("B302", scored("scored_rightly", 1), LABELS)


@pytest.mark.parametrize("factor", [2, -1, 0.5])
def test_a_wrong_one_does_not(factor: float) -> None:
    with pytest.raises(Violation, match="gradient of label along a random direction"):
        verify("B302", scored("scored_wrongly", factor), LABELS)


def test_a_gradient_of_zeros_is_none() -> None:
    verify("B302", scored("scored_flatly", 0), LABELS)


def test_integers_have_nothing_between_them() -> None:
    verify("B302", scored("scored_by_integers", 2, Integers(0, 1)), LABELS)


def test_labels_that_are_refused_between_two_prove_nothing() -> None:
    verify("B302", scored("scored_strictly", 2, refuses=True), LABELS)


@pytest.mark.parametrize(("lowest", "is_negligible"), [(-80.0, True), (-60.0, False)])
def test_a_gradient_may_be_held_off_the_end_of_single_precision(lowest: float, is_negligible: bool) -> None:
    @unary("exponential_of_limited", accepts="floating")
    def op(x):
        return np.exp(x)

    @op.gradient
    def _(output_grad, x):
        return output_grad * np.exp(np.maximum(x, lowest))

    case = Case(inputs={"data": np.array([lowest - 1])})
    if is_negligible:
        verify("B301", op, case)
    else:
        with pytest.raises(Violation, match="numeric derivative"):
            verify("B301", op, case)

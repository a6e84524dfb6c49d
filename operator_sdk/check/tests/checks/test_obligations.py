"""What is declared is compared by some check, or red with the declaration that is missing."""

from __future__ import annotations

import os

import numpy as np
import pytest

from operad_check import Profile, check_operator
from operad_check.cases.kinds import BULK, EXTREME, ORDINARY, SMOOTH
from operad_check.running.session import Session
from operad_check.trials.subject import subject_of
from operad_sdk import Contract, OperatorProperty, operator, param, unary
from operad_sdk.domains import Integers

FEW = Profile("few", examples=5, seconds=1.0)


def place(name, **declared):
    @operator(name)
    class Place(OperatorProperty):
        """Where the largest of each row is."""

        accepts = "number"
        spec = "data:(N, D + 1) -> output:int64(N)"
        contract = Contract(**declared)

        def forward(data):
            return data.argmax(1)

    return Place


def missing(op):
    (outcome,) = check_operator(op, checks=["X805"], profile=FEW).outcomes
    return outcome.failure.message if outcome.failure else ""


def test_an_output_without_derivative_wants_a_reference():
    assert missing(place("obligation_place")) == "nothing compares the output"
    assert missing(place("obligation_sure_place", reference=lambda data: data.argmax(1))) == ""


def test_a_derivative_is_a_comparison_of_its_output():
    @unary("obligation_square", accepts="floating")
    def square(x):
        """The square."""
        return x * x

    @square.gradient
    def _(output_grad, x):
        return 2 * output_grad * x

    assert missing(square) == ""


@pytest.mark.parametrize(
    ("declared", "found"),
    [
        ({}, "nothing compares another value of mode than 'plain'"),
        ({"params": {"mode": ["plain", "twice"]}}, ""),
    ],
)
def test_texts_that_nobody_can_guess_are_declared(declared, found):
    @operator("obligation_text")
    class Text(OperatorProperty):
        """The data once or twice."""

        mode = param(str, "plain", doc="Plain or twice.")
        spec = "data:(*S) -> output:(*S)"
        contract = Contract(reference=lambda data, mode: data * (1 + (mode == "twice")), **declared)

        def forward(data, mode):
            return data * (2 if mode == "twice" else 1)

    assert missing(Text) == found


def test_what_an_operator_sets_once_shows_though_other_checks_run_it_first(monkeypatch):
    monkeypatch.delenv("OPERAD_TESTED_ONCE", raising=False)

    @unary("obligation_once", accepts="floating")
    def once(x):
        """The data."""
        os.environ["OPERAD_TESTED_ONCE"] = "1"
        return x + 0

    assert "R507" in check_operator(once, checks=["F201", "F202", "R507"], profile=FEW).red_ids
    os.environ.pop("OPERAD_TESTED_ONCE", None)


@operator("obligation_masked")
class Masked(OperatorProperty):
    """Sums of what a mask admits."""

    accepts = {"data": "floating", "mask": ("bool",)}  # noqa: RUF012 - a declaration
    spec = "data:(N, D), mask:any(N, D) -> output:(N)"
    contract = Contract(inputs={"mask": Integers(0, 1)}, reference=lambda data, mask: (data * mask).sum(1))

    def forward(data, mask):
        return (data * mask).sum(1)


def test_arguments_of_different_types_stand_beside_each_other():
    session = Session(subject_of(Masked), FEW)
    types = {tuple(a.dtype.name for a in case.inputs.values()) for case in session.pool(ORDINARY)}
    assert types == {("float32", "bool"), ("float64", "bool")}


def test_whole_numbers_of_a_domain_are_also_all_alike():
    masks = [case.inputs["mask"] for case in Session(subject_of(Masked), FEW).pool(EXTREME)]
    assert any(mask.all() for mask in masks if mask.size > 4)
    assert any(not mask.any() for mask in masks if mask.size > 4)


def test_derivatives_are_taken_beside_zeros_among_others():
    cases = Session(subject_of(Masked), FEW).pool(SMOOTH)
    assert any(0 in case.inputs["data"] and case.inputs["data"].any() for case in cases)


def test_a_long_axis_stands_beside_the_shortest():
    shapes = [case.inputs["data"].shape for case in Session(subject_of(Masked), FEW).pool(BULK)]
    assert {(1030, 1), (1, 1030)} <= set(shapes)


def test_large_whole_numbers_are_compared_where_the_reference_does_not_overflow():
    @unary("obligation_half", accepts=("int64",), contract=Contract(reference=lambda data: data // 2))
    def half(data):
        """Half, by way of double precision."""
        return np.floor(data / 2).astype(data.dtype)

    assert check_operator(half, checks=["F213"], profile=FEW).red_ids == ["F213"]


def keeping_means(name, **declared):
    """An operator that keeps the means of columns."""

    @operator(name)
    class Mean(OperatorProperty):
        spec = "data:(N, C), state mean:(C) -> output:(N, C)"
        accepts = "floating"
        contract = Contract(**declared)

        def forward(data, mean, is_train):
            if is_train and len(data):
                mean[...] = data.mean(0)
            return data

        def data_grad(output_grad):
            return output_grad

    return Mean


@pytest.mark.parametrize("has_reference", [False, True])
def test_a_state_is_compared_with_a_reference(has_reference):
    def reference(data, mean, is_train):
        return data, data.mean(0) if is_train and len(data) else mean

    op = keeping_means("obligation_mean", **({"reference": reference} if has_reference else {}))
    assert missing(op) == ("" if has_reference else "nothing compares state mean")

"""What is declared is compared by some check, or red with the declaration that is missing."""

from __future__ import annotations

import os

import numpy as np
import pytest

import operad as od
from operad_sdk import Contract, OperatorProperty, composed, operator, param, unary
from operad_sdk.check import Profile, check_operator
from operad_sdk.check.cases.kinds import BULK, EXTREME, ORDINARY, SMOOTH
from operad_sdk.check.running.session import Session
from operad_sdk.check.trials.subject import subject_of
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


def mean_part(name, **declared):
    """A part that keeps the means of columns, which the next reads where it predicts."""

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


@pytest.fixture
def parts():
    def kept(data, mean, is_train):
        return data, data.mean(0) if is_train and len(data) else mean

    made = [mean_part("obligation_mean"), mean_part("obligation_kept_mean", reference=kept), two_outputs]
    for each in made:
        od.registry.register(each)
    yield
    for each in made:
        od.registry.unregister(each.name)


def of_two(data: od.Symbol) -> od.Symbol:
    """Two parts of one kind, each with a state of its own."""
    first = od.sym.obligation_kept_mean(data, name="first")
    return od.sym.obligation_kept_mean(od.sym.square(first), name="second")


@composed("obligation_two_outputs", accepts="floating")
def two_outputs(data: od.Symbol) -> list[od.Symbol]:
    kept = od.sym.obligation_kept_mean
    return [kept(data, name="first"), kept(od.sym.square(data), name="second")]


def of_whole(data: od.Symbol) -> od.Symbol:
    """A part that is made of others, and stays whole since one of its outputs is not used."""
    return od.sym.tanh(od.sym.obligation_two_outputs(data, name="inner")[0])


def of_unchecked(data: od.Symbol) -> od.Symbol:
    """A part whose own checks have nothing to compare its state with."""
    return od.sym.tanh(od.sym.obligation_mean(data, name="part"))


def of_one_state(data: od.Symbol) -> od.Symbol:
    """Two parts that update one state: the later one decides."""
    mean = od.sym.var("mean")
    first = od.sym.obligation_kept_mean(data, mean=mean, name="first")
    return od.sym.obligation_kept_mean(od.sym.square(first), mean=mean, name="second")


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize(
    ("graph", "states", "found"),
    [
        (of_two, ["first_mean", "second_mean"], ""),
        (of_whole, ["inner_first_mean", "inner_second_mean"], ""),
        (of_unchecked, ["part_mean"], "nothing compares state part_mean"),
        (of_one_state, ["mean"], "nothing compares state mean"),
    ],
)
def test_a_state_is_compared_by_the_checks_of_the_one_part_that_updates_it(graph, states, found):
    op = composed(f"obligation_{graph.__name__}", accepts="floating")(graph)
    assert op().list_auxiliary_states() == states
    assert missing(op) == found


@pytest.mark.usefixtures("parts")
def test_a_state_of_several_parts_is_compared_with_a_reference():
    def reference(data, mean, is_train):
        return data**2, (data**2).mean(0) if is_train and len(data) else mean

    declared = Contract(reference=reference)
    op = composed("obligation_last_mean", accepts="floating", contract=declared)(of_one_state)
    assert missing(op) == ""
    assert check_operator(op, checks=["F213"], profile=FEW).red_ids == []


def test_a_part_of_another_package_has_checks_of_its_own():
    @composed("obligation_normalized", accepts=("float32", "float64"))
    def normalized(data: od.Symbol) -> od.Symbol:
        return od.sym.relu(od.sym.BatchNorm(data, name="norm"))

    assert missing(normalized) == ""

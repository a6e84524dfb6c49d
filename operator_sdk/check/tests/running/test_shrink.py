from __future__ import annotations

from dataclasses import replace

import numpy as np

from operad_check.cases.kinds import ORDINARY
from operad_check.plan.profile import Profile
from operad_check.running.session import Session
from operad_check.running.shrink import smallest
from operad_check.running.shrink_arrays import is_accepted
from operad_check.trials.subject import subject_of
from operad_sdk import Contract, OperatorProperty, binary, operator, param
from operad_sdk.domains import Drawn, Index


@binary("shrink_add")
def add(lhs, rhs):
    """Sum."""
    return lhs + rhs


def smallest_with(fails):
    session = Session(subject_of(add), Profile("test", 60, 9.0))
    first = next(case for case in session.pool(ORDINARY) if fails(case))
    return smallest(session, session.goal_of(first), first, fails)


def test_axes_become_as_few_and_short_as_the_failure_allows():
    case = smallest_with(lambda case: case.inputs["lhs"].size >= 6)
    assert case.inputs["lhs"].size in (6, 8)
    assert case.inputs["lhs"].shape == case.inputs["rhs"].shape


def test_a_failure_whatever_the_case_gives_the_smallest_case_there_is():
    case = smallest_with(lambda case: True)
    assert case.inputs["lhs"].shape == (1,)
    assert case.inputs["lhs"].tolist() == case.inputs["rhs"].tolist() == [1.0]
    assert (case.is_train, case.seed) == (True, 0)


def test_values_become_simple_where_the_failure_does_not_need_them():
    case = smallest_with(lambda case: bool((case.inputs["lhs"] < 0).any()))
    values = [case.inputs[name] for name in ("lhs", "rhs")]
    assert np.isin(np.concatenate([value.ravel() for value in values]), (1.0, 0.5, 2.0, 0.0, -1.0)).all()
    assert (values[1] == 1.0).all()


def test_a_failure_that_does_not_come_again_keeps_the_case_that_showed_it():
    session = Session(subject_of(add), Profile("test", 20, 9.0))
    first = session.pool(ORDINARY)[3]
    assert smallest(session, session.goal_of(first), first, lambda case: False) is first


@operator("shrink_dense")
class Dense(OperatorProperty):
    """A matrix product."""

    factor = param(float, 1.0, doc="What to multiply with.")
    spec = "data:(N, D), weight:(H, D), bias:(H) -> output:(N, H)"

    def forward(data, weight, bias, factor):
        return factor * data @ weight.T + bias


@operator("shrink_rows")
class Rows(OperatorProperty):
    """Rows by number."""

    spec = "index:any(N), table:(V, D) -> output:(N, D)"
    contract = Contract(inputs={"index": Index("table")})

    def forward(index, table):
        return table[index.astype(int)]


def shrunk(op, fails):
    session = Session(subject_of(op), Profile("test", 60, 9.0))
    first = next(case for case in session.pool(ORDINARY) if fails(case))
    return smallest(session, session.goal_of(first), first, fails)


def test_what_only_one_value_shows_is_cut_down_to_it():
    case = shrunk(add, lambda case: bool((case.inputs["lhs"] == 1.375).any()))
    assert case.inputs["lhs"].tolist() == [1.375]
    assert case.inputs["rhs"].tolist() == [1.0]


def test_axes_that_belong_together_are_cut_together():
    case = shrunk(Dense, lambda case: bool((case.inputs["weight"] == -1.625).any()))
    assert {name: array.shape for name, array in case.inputs.items()} == {
        "data": (1, 1), "weight": (1, 1), "bias": (1,)
    }  # fmt: skip
    assert case.inputs["weight"].tolist() == [[-1.625]]


def test_parameters_mode_and_seed_that_came_with_the_values_go():
    def fails(case):
        return bool((case.inputs["data"] == 1.375).any())

    case = shrunk(Dense, fails)
    assert (case.params, case.is_train, case.seed) == ({}, True, 0)


def test_an_index_stays_within_what_it_indexes():
    case = shrunk(Rows, lambda case: bool((case.inputs["index"] == 2).any()))
    assert case.inputs["index"].tolist() == [2.0]
    assert case.inputs["table"].shape == (3, 1)


def test_values_of_a_domain_that_only_its_author_knows_are_not_cut():
    def drawn(rng, shape, prop, shapes):
        return np.full(shape, float(np.prod(shape)))

    @binary("shrink_drawn", contract=Contract(inputs={"lhs": Drawn(drawn)}))
    def op(lhs, rhs):
        return lhs + rhs

    case = shrunk(op, lambda case: bool((case.inputs["rhs"] == 1.375).any()))
    assert (case.inputs["lhs"] == case.inputs["lhs"].size).all()


def test_a_case_that_inference_refuses_is_no_smaller_case():
    case = next(iter(Session(subject_of(Dense), Profile("test", 5, 9.0)).pool(ORDINARY)))
    assert is_accepted(subject_of(Dense), case)
    other = replace(case, inputs={**case.inputs, "bias": np.ones(99, np.float32)})
    assert not is_accepted(subject_of(Dense), other)

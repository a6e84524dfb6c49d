from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operad.operator import param
from operad_check.cases.params import candidates, parameters, planned_values
from operad_check.trials.subject import subject_of
from operad_sdk import Contract, OperatorProperty, operator


@operator("params_many")
class Many(OperatorProperty):
    """Has parameters of every sort."""

    num_hidden = param(int, ge=1, doc="Required.")
    rate = param(float, 0.5, ge=0, lt=1, doc="Half open.")
    scale = param(float, 1.0, gt=0, doc="Positive.")
    mode = param(str, "valid", choices=("valid", "full"), doc="One of two.")
    flag = param(bool, False, doc="A flag.")
    kernel = param("shape", ge=1, doc="Required tuple.")
    stride = param("shape", (), ge=1, doc="Tuple.")
    axis = param(int, None, doc="Optional.")
    shift = param(int, 0, ge=-9, le=9, doc="Declared values only.")
    spec = "data:(N) -> output:(N)"
    contract = Contract(params={"shift": [0, 7]})

    def forward(data):
        return data


SUBJECT = subject_of(Many)


@given(parameters(SUBJECT, None))
def test_parameters_drawn_are_accepted(params):
    assert Many(**params).num_hidden == params["num_hidden"]


@given(parameters(SUBJECT, None))
def test_tuples_of_one_draw_have_one_length(params):
    lengths = {len(value) for value in params.values() if isinstance(value, tuple)}
    assert len(lengths) == 1


@given(parameters(SUBJECT, None))
def test_parameters_at_their_defaults_are_left_out(params):
    assert all(value != Many.params[name].default for name, value in params.items())


@pytest.mark.parametrize("name", list(Many.params))
def test_every_candidate_is_accepted_by_its_declaration(name):
    declared = Many.params[name]
    values = candidates(SUBJECT, declared, 2)
    assert [declared.parse(value) for value in values] == list(values)


def test_candidates_reach_the_bounds_that_are_included():
    assert 0.0 in candidates(SUBJECT, Many.params["rate"], 0)
    assert all(value > 0 for value in candidates(SUBJECT, Many.params["scale"], 0))
    assert candidates(SUBJECT, Many.params["mode"], 0) == ["valid", "full"]
    assert candidates(SUBJECT, Many.params["flag"], 0) == [False, True]


def test_declared_values_replace_those_derived():
    assert candidates(SUBJECT, Many.params["shift"], 0) == [0, 7]


@given(st.data())
def test_an_operator_without_parameters_draws_nothing(data):
    @operator("params_none")
    class Plain(OperatorProperty):
        """Has none."""

        spec = "data:(N) -> output:(N)"

        def forward(data):
            return data

    assert data.draw(parameters(subject_of(Plain), None)) == {}


def test_an_upper_bound_of_whole_numbers_is_planned():
    @operator("params_bounded")
    class Bounded(OperatorProperty):
        """Has a bound that no drawn case meets."""

        count = param(int, 1, ge=1, le=8, doc="At most 8.")
        place = param(int, 0, ge=0, lt=40, doc="Less than 40.")
        huge = param(int, 0, ge=0, le=10**9, doc="No length.")
        spec = "data:(N) -> output:(N)"

        def forward(data):
            return data

    subject = subject_of(Bounded)
    planned = {name: planned_values(subject, one, 2) for name, one in Bounded.params.items()}
    assert 8 in planned["count"]
    assert 8 not in candidates(subject, Bounded.params["count"], 2)
    assert 39 in planned["place"]
    assert 10**9 not in planned["huge"]


def test_element_types_are_planned_narrow_and_whole_too() -> None:
    @operator("params_typed")
    class Typed(OperatorProperty):
        """Has a type that a caller chooses."""

        dtype = param("dtype", "float32", doc="Type of the output.")
        spec = "data:(N) -> output:dtype(N)"

        def forward(data):
            return data

    planned = planned_values(subject_of(Typed), Typed.params["dtype"], 2)
    assert list(planned) == ["float32", "float64", "float16", "int32"]

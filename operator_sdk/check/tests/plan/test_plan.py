from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from operad.errors import ShapeError
from operad_check import case_plan
from operad_check.cases.kinds import BULK, EDGES, EXTREME, LARGE, LONG, ORDINARY, PARTS, SPECIAL, WIDE
from operad_check.cases.values import Values
from operad_check.plan.profile import Profile
from operad_check.running.session import Session
from operad_check.trials.subject import subject_of
from operad_sdk import Contract, OperatorProperty, Real, operator, param, unary

FEW = Profile("few", examples=5, seconds=1.0)


@operator("plan_scaled")
class Scaled(OperatorProperty):
    """A product with a number, in one of two modes."""

    factor = param(float, 1.0, ge=0, le=4, doc="What to multiply with.")
    mode = param(str, "plain", choices=("plain", "other"), doc="How.")
    spec = "data:(N, D) -> output:(N, D)"

    def forward(data, factor):
        return factor * data


@Scaled.kernel("cpu", when=lambda call: call.in_shapes[0][0] >= 1024 and call.in_types[0] == np.float32)
def many_rows(data, factor):
    """For more rows than a drawn case has."""
    return factor * data


def pool(kind):
    return Session(subject_of(Scaled), FEW).pool(kind)


def test_each_value_of_a_parameter_is_in_a_case():
    cases = pool(ORDINARY)
    assert {0.0, 4.0} <= {case.params.get("factor") for case in cases}, "the bounds"
    assert {case.params.get("mode", "plain") for case in cases} == {"plain", "other"}


def test_one_axis_at_a_time_is_long():
    longest = sorted(max(case.inputs["data"].shape) for case in pool(LARGE))
    assert longest[-1] == 5000
    assert all(min(case.inputs["data"].shape) <= 4 for case in pool(LARGE))


def test_each_size_is_empty_in_a_case():
    shapes = [case.inputs["data"].shape for case in pool(EDGES)]
    assert any(rows == 0 and columns for rows, columns in shapes)
    assert any(columns == 0 and rows for rows, columns in shapes)


def test_values_reach_the_ends_of_each_type():
    largest = {str(case.inputs["data"].dtype): 0.0 for case in pool(EXTREME)}
    for case in pool(EXTREME):
        array = case.inputs["data"].astype(np.float64)
        largest[str(case.inputs["data"].dtype)] = max(
            largest[str(case.inputs["data"].dtype)], float(np.abs(array).max())
        )
    assert largest["float16"] > 5_000
    assert largest["float32"] > 1e33
    assert largest["int8"] > 100


def test_the_condition_of_a_kernel_is_met():
    (case,) = pool(SPECIAL)
    assert case.inputs["data"].shape[0] >= 1024
    assert case.inputs["data"].dtype == np.float32


def test_an_array_of_more_than_two_parts_is_tried_where_parts_are_declared():
    @unary("plan_parts", accepts="floating", contract=Contract(computed_at_once=30_000))
    def in_parts(data):
        """The root."""
        return np.sqrt(data)

    cases = Session(subject_of(in_parts), FEW).pool(PARTS)
    assert {str(case.inputs["data"].dtype) for case in cases} == {"float32", "float64"}
    assert all(case.inputs["data"].size > 60_000 for case in cases)
    assert sum(case.inputs["data"].size == 60_003 for case in cases) == 2


def test_places_beyond_two_bytes_are_tried_where_memory_follows_the_arrays():
    @unary("plan_of_pairs", accepts="floating")
    def of_pairs(data):
        """The sum of the distances from all others."""
        return np.abs(data[..., None] - data[..., None, :]).sum(-1) if data.ndim else data

    assert max(array.size for case in pool(PARTS) for array in case.inputs.values()) > 2**16
    assert not Session(subject_of(of_pairs), FEW).pool(PARTS)


def test_places_beyond_two_bytes_are_not_tried_where_memory_does_not_show_or_a_reference_takes_much():
    @unary(
        "plan_cheap",
        accepts="floating",
        contract=Contract(reference=lambda data: np.abs(data[..., None] - data[..., None, :]).sum(-1)),
    )
    def cheap(data):
        """The sum of the distances from all others, as some sorted way has it."""
        return data

    assert not Session(subject_of(cheap), FEW).pool(PARTS)
    foreign = replace(subject_of(Scaled), writer=lambda *_: "")
    assert not Session(foreign, FEW).pool(PARTS)


def test_values_stay_within_a_declared_interval():
    @unary("plan_bounded", accepts="floating", contract=Contract(inputs={"data": Real(0.0, 1.0)}))
    def bounded(data):
        """The root of the complement."""
        return np.sqrt(1 - data)

    session = Session(subject_of(bounded), FEW)
    for case in [*session.pool(EXTREME), *session.pool(LARGE)]:
        assert ((case.inputs["data"] > 0) & (case.inputs["data"] < 1)).all()


def test_the_plan_says_what_the_operator_refuses():
    refused = [each.goal for each in case_plan(Scaled, profile=FEW).coverage if not each.cases]
    assert all("bool" in goal or "sizes of 0" in goal for goal in refused), refused
    assert all(each.reason for each in case_plan(Scaled, profile=FEW).coverage)


@operator("plan_three_sizes")
class ThreeSizes(OperatorProperty):
    """Products with a parameter that matters."""

    count = param(int, 1, ge=1, le=6, doc="How many.")
    spec = "lhs:(N, K), rhs:(K, M) -> output:(N, M)"

    def forward(lhs, rhs):
        return lhs @ rhs


def test_each_size_is_long_once_in_double_precision():
    session = Session(subject_of(ThreeSizes), FEW)
    long = [case.inputs for case in session.pool(LONG)]
    assert sum(max(size for a in inputs.values() for size in a.shape) > 1024 for inputs in long) == 3
    assert all(array.dtype == np.float64 for inputs in long for array in inputs.values())
    sizes = [{"N": a.shape[0], "K": a.shape[1], "M": b.shape[1]} for a, b in (x.values() for x in long)]
    assert {name for each in sizes for name, size in each.items() if size > 1024} == {"N", "K", "M"}


@pytest.mark.parametrize(("kind", "lengths"), [(BULK, (70, 75)), (LONG, (66, 69))])
def test_neighbouring_sizes_are_long_together(kind, lengths):
    shapes = [array.shape for case in pool(kind) for array in case.inputs.values()]
    assert any(set(shape) == set(lengths) for shape in shapes)


def test_cases_of_a_parameters_value_have_numbers_of_both_signs():
    session = Session(subject_of(ThreeSizes), FEW)
    pool = [case for case in session.pool(ORDINARY) if case.params.get("count") == 6]
    assert pool
    for case in pool:
        several = [array for array in case.inputs.values() if array.size > 1 and array.dtype.kind == "f"]
        assert all(array.min() < 0 < array.max() for array in several if array.any())


def test_rows_that_are_multiples_of_one_are_planned():
    values = [goal.values.name for goal in Session(subject_of(ThreeSizes), FEW).plan.goals]
    assert values.count("MULTIPLES") == 3


def test_other_values_of_parameters_meet_a_long_axis():
    long = [case for case in pool(BULK) if max(case.inputs["data"].shape) == 300]
    assert {"other"} <= {case.params.get("mode") for case in long}
    assert {0, 1} == {case.inputs["data"].shape.index(300) for case in long if case.params}


def test_a_sum_overflows_in_half_precision_whose_mean_does_not():
    halves = [array for case in pool(BULK) if (array := case.inputs["data"]).dtype == np.float16]
    sums = [array.sum(axis, np.float64) for array in halves if np.abs(array).max() < 128 for axis in (0, 1)]
    assert any(result.max() > np.finfo(np.float16).max for result in sums)


def test_a_row_overflows_beside_one_of_zeros_and_ordinary_ones():
    rng = np.random.default_rng(0)
    rows = Values.MIXED.draw(rng, (4, 3), np.dtype("float32"))
    with np.errstate(over="ignore"):
        assert np.isinf(rows.astype(np.float32)[0] ** 2).any()
    assert not rows[1].any()
    assert np.abs(rows[2:]).max() <= 2


def test_axes_of_any_number_are_all_left_out_once():
    @unary("plan_outer", "lhs:(*L, K), rhs:(K, *R) -> output:(*L, *R)")
    def outer(lhs, rhs):
        return np.tensordot(lhs, rhs, 1)

    shapes = [
        [array.ndim for array in case.inputs.values()] for case in Session(subject_of(outer), FEW).pool(EDGES)
    ]
    assert [1, 1] in shapes


FORWARD = {
    1: lambda arg0: arg0 * 1,
    2: lambda arg0, arg1: arg0 + arg1,
    3: lambda arg0, arg1, arg2: arg0 + arg1 + arg2,
    4: lambda arg0, arg1, arg2, arg3: arg0 + arg1 + arg2 + arg3,
}


def sum_of(rank, arrays):
    """An operator of several arrays of many axes."""
    sizes = ", ".join("ABCDEF"[:rank])
    names = [f"arg{i}" for i in range(arrays)]

    body = {
        "name": f"plan_sum_{rank}_{arrays}",
        "spec": f"{', '.join(f'{name}:({sizes})' for name in names)} -> output:({sizes})",
        "accepts": "floating",
        "forward": staticmethod(FORWARD[arrays]),
    }
    return type(body["name"], (OperatorProperty,), body)


@pytest.mark.parametrize(("rank", "arrays"), [(1, 1), (2, 4), (3, 3), (4, 3), (5, 2), (6, 3)])
def test_an_operator_of_any_rank_and_number_of_arrays_sees_each_sort_of_extreme_values(rank, arrays):
    session = Session(subject_of(sum_of(rank, arrays)), FEW)
    cases = session.pool(EXTREME)
    lacking = [goal for goal in session.coverage() if not goal.cases]
    assert {goal.lack for goal in lacking} == {"refused"}
    assert all("DTypeError" in goal.words and ("int" in goal.goal or "bool" in goal.goal) for goal in lacking)
    most = max(array.size for case in cases for array in case.inputs.values())
    assert most <= EXTREME.each_at_most
    # Sizes of 1 alone would show nothing of rows, sums and ties.
    assert all(max(array.size for array in case.inputs.values()) > 1 for case in cases if rank > 1)


def test_what_the_operator_was_not_asked_for_is_not_called_refused():
    @operator("plan_wide")
    class Wide(OperatorProperty):
        """Rows of more elements than extreme cases have."""

        spec = "data:(N, D) -> output:(N, D)"
        accepts = "floating"
        contract = Contract(shapes=lambda prop, choose: [(choose((1, 2)), 1000)])

        def forward(data):
            return data * 1

    session = Session(subject_of(Wide), FEW)
    assert (len(session.pool(WIDE)) > 0, session.pool(EXTREME)) == (True, [])
    lacks = {goal.goal: goal.lack for goal in session.coverage() if goal.kind == "extreme"}
    assert lacks["zeros (float32)"] == "too large"
    assert lacks["numbers with all their digits (int8)"] == "refused"
    (one,) = [each for each in session.unproved() if each.name == "extreme"]
    assert (one.kind, one.is_accepted) == ("untried", False)


def test_a_size_that_shapes_do_not_have_is_no_refusal():
    one_size = Contract(shapes=lambda prop, choose: [(choose((1, 2)),)])

    @unary("plan_flat", "data:(N) -> output:(N)", accepts="floating", contract=one_size)
    def flat(data):
        """The same."""
        return data * 1

    session = Session(subject_of(flat), FEW)
    session.pool(EDGES)
    lacks = {goal.goal: goal.lack for goal in session.coverage() if not goal.cases}
    assert lacks["size 1 is 0"] == "no such size"


def test_the_plan_has_the_words_with_which_the_operator_refuses():
    session = Session(subject_of(Wordy), FEW)
    session.pool(LARGE)
    words = {goal.words for goal in session.coverage() if goal.lack == "refused"}
    assert any("at most 100 rows, please" in each for each in words)


@operator("plan_wordy")
class Wordy(OperatorProperty):
    """Few rows."""

    spec = "data:(N) -> output:(N)"

    def infer_shape(self, in_shapes):
        (shape,) = in_shapes
        if shape and (shape[0] or 0) > 100:
            raise ShapeError(f"plan_wordy: data has shape {shape}, expected at most 100 rows, please")
        return super().infer_shape(in_shapes)

    def forward(data):
        return data

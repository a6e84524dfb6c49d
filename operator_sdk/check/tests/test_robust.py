"""Whatever raises, in the operator, its declarations or a check, is reported and the rest goes on."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from operad.errors import DTypeError
from operad.operator import Operator
from operad.operator import OperatorProperty as CoreProperty
from operad_check import Status, Violation, check_operator, verify
from operad_check.plan.profile import PROFILES
from operad_check.register import find_check
from operad_check.running.runner import run_check
from operad_check.running.session import Session
from operad_check.trials.case import Case
from operad_check.trials.subject import subject_of
from operad_sdk import Contract, Distribution, OperatorProperty, ResourceRequest, operator, unary
from operad_sdk.domains import Drawn


def explode(*args, **keywords):
    raise KeyError("exploded")


def leave(*args, **keywords):
    sys.exit(3)


def square(name, contract):
    @unary(name, accepts="floating", contract=contract)
    def forward(x):
        return x * x

    @forward.gradient
    def _(output_grad, x):
        return 2 * output_grad * x

    return forward


def outcomes(op, *ids):
    return check_operator(op, checks=ids).outcomes


@pytest.mark.parametrize("function", [explode, leave], ids=["an exception", "an exit"])
def test_a_reference_that_raises_is_red_and_says_how_it_was_called(function):
    (found,) = outcomes(square("robust_reference", Contract(reference=function)), "F213")
    assert (found.status, found.red_id) == (Status.FAILED, "F213")
    assert "called as f(data), raised" in found.failure.message
    assert "test_robust.py:" in found.failure.message
    assert "data=float32(1,)" in found.failure.case, "the case is not the smallest"
    assert "at the line named" in found.failure.fix


def test_a_reference_that_cannot_be_called_is_told_the_names_that_it_may_ask_for():
    (found,) = outcomes(square("robust_called", Contract(reference=lambda data, beta: data * data)), "F213")
    assert "missing 1 required positional argument: 'beta'" in found.failure.message
    assert found.failure.fix.endswith("by keyword: is_train.")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (lambda x: (x, x), "gives 2 arrays, and there are 1 outputs"),
        (lambda x: "no", "gives 'no', expected an array of numbers"),
        (lambda x: None, "gives None, expected an array of numbers"),
        (lambda x: ([[1.0], [1.0, 2.0]],), "expected an array of numbers"),
        (lambda x: x.sum(), r"and the reference gives \(\)"),
    ],
    ids=["too many", "a string", "nothing", "ragged", "another shape"],
)
def test_a_reference_that_gives_something_odd_is_red(reference, message):
    op = square("robust_odd_reference", Contract(reference=reference))
    with pytest.raises(Violation, match=message):
        verify("F213", op, Case(inputs={"data": np.array([1.0])}))


def test_a_loss_that_raises_is_red_where_it_is_used():
    contract = Contract(loss=explode, ignores_head_gradient="it is a loss")
    (found,) = outcomes(square("robust_loss", contract), "B301")
    assert found.status is Status.FAILED
    assert "raised KeyError: 'exploded'" in found.failure.message


def test_a_loss_is_a_number():
    contract = Contract(loss=lambda data: None, ignores_head_gradient="it is a loss")
    op = square("robust_no_loss", contract)
    with pytest.raises(Violation, match="gives None, expected a number"):
        verify("B301", op, Case(inputs={"data": np.array([1.0, 2.0])}))


def test_a_distribution_that_raises_is_red():
    @operator("robust_noise")
    class Noise(OperatorProperty):
        spec = "data:(N) -> output:(N)"
        contract = Contract(distribution=Distribution(mean=explode, variance=explode))

        def forward_resource(self, in_shapes):
            return [ResourceRequest.RANDOM]

        def forward(op_ctx, data):
            return op_ctx.requested[0].generator.normal(size=data.shape)

    (found,) = outcomes(Noise, "F218")
    assert found.status is Status.FAILED
    assert found.failure.message.startswith("the declared variance raised KeyError: 'exploded'")


@pytest.mark.parametrize(
    "contract",
    [Contract(shapes=explode), Contract(inputs={"data": Drawn(explode)}), Contract(shapes=leave)],
    ids=["shapes", "a domain", "an exit"],
)
def test_declarations_without_which_there_is_no_case_are_red_once(contract):
    first, second, third = outcomes(square("robust_cases", contract), "B306", "F201", "F209")
    assert (first.status, second.status, third.status) == (Status.BLOCKED, Status.FAILED, Status.BLOCKED)
    assert "making a case raised" in second.failure.message
    assert "test_robust.py:" in second.failure.message
    assert second.failure.message == first.reason


@pytest.mark.parametrize("function", [explode, leave], ids=["an exception", "an exit"])
def test_a_constructor_that_raises_is_red(function):
    @operator("robust_constructor")
    class Broken(OperatorProperty):
        spec = "data:(N) -> output:(N)"

        def __init__(self, **params):
            super().__init__(**params)
            function()

        def forward(data):
            return data

    report = check_operator(Broken)
    assert "F201" in report.red_ids
    assert len(report.outcomes) > 60


@pytest.mark.parametrize("function", [explode, leave], ids=["an exception", "an exit"])
def test_a_forward_pass_that_raises_is_red_and_blocks_others(function):
    @unary("robust_forward", accepts="floating")
    def op(x):
        function()

    first, second = outcomes(op, "F201", "F209")
    assert (first.status, second.status) == (Status.FAILED, Status.BLOCKED)


def test_a_function_of_the_contract_that_raises_blocks_and_is_no_pass():
    report = check_operator(square("robust_reason", Contract(no_numeric_gradient=explode)), checks=["B301"])
    assert report.red_ids == ["X801"]
    assert "test_robust.py:" in report.outcomes[0].reason


def test_a_check_that_breaks_is_not_red_and_says_that_it_is_at_fault():
    broken = replace(find_check("F207"), run=partial(divmod, 1))
    session = Session(subject_of(square("robust_check", Contract())), PROFILES["dev"])
    found = run_check(session, broken)
    assert (found.status, found.red_id) == (Status.BROKEN, None)
    assert found.reason.startswith("operad's own fault: the check raised TypeError")
    assert found.failure is None


def twice(data):
    return np.add(data, data)


def only_of(kinds, name):
    @operator(name)
    class Doubled(OperatorProperty):
        spec = "data:(N, D) -> output:(N, D)"
        contract = Contract(reference=twice)

        def infer_type(self, in_types):
            if in_types[0] is not None and in_types[0].name not in kinds:
                raise DTypeError(f"{self.name}: data is {in_types[0]}, expected {kinds}")
            return [in_types[0]], [in_types[0]], []

        def forward(data):
            return data * 2

        def data_grad(output_grad):
            return output_grad * 2

    return Doubled


@pytest.mark.more
def test_checks_of_gradients_do_not_apply_to_an_operator_of_whole_numbers():
    report = check_operator(only_of(("int32", "int64"), "robust_integers"))
    assert [id for id in report.red_ids if id not in ("S107", "S108")] == []


@pytest.mark.more
def test_an_operator_of_single_precision_is_told_what_derivatives_need():
    op = only_of(("float32",), "robust_single")
    derivative, requests, linear = outcomes(op, "B301", "B305", "B303")
    assert derivative.red_id == "X801"
    assert "derivatives are taken in float64, which type inference refuses" in derivative.reason
    assert (requests.status, linear.status) == (Status.PASSED, Status.PASSED)
    reason = "the library computes in single precision only"
    op.contract = Contract(no_numeric_gradient=reason, reference=twice)
    report = check_operator(op)
    assert [id for id in report.red_ids if id not in ("S107", "S108")] == []


def test_what_blocks_is_said_where_there_is_no_evidence():
    @operator("robust_by_layout")
    class ByLayout(OperatorProperty):
        spec = "data:(...) -> output:(...)"

        def forward(data):
            if data.size > 1:
                raise RuntimeError("several")
            return data

    (found,) = outcomes(ByLayout, "F211")
    assert "forward raised RuntimeError: several" in found.reason


def test_the_layout_of_outputs_without_axes_is_looked_at():
    @operator("robust_total")
    class Total(OperatorProperty):
        spec = "data:(...) -> output:()"

        def forward(data):
            return data.sum()

    (found,) = outcomes(Total, "F211")
    assert found.status is Status.PASSED


def test_an_output_of_truth_values_that_ignores_add_is_red():
    class Computes(Operator):
        def forward(self, op_ctx, arrays):
            if arrays.out_data[0] is not None:
                arrays.out_data[0][...] = arrays.in_data[0] > 1

    class IsLarge(CoreProperty):
        name = "robust_is_large"
        has_gradient = False

        def infer_shape(self, in_shapes):
            return in_shapes, in_shapes, []

        def infer_type(self, in_types):
            return in_types, [np.dtype(bool)], []

        def create_operator(self, ctx, in_shapes, in_types):
            return Computes()

    (found,) = outcomes(IsLarge, "F214")
    assert found.red_id == "F214"

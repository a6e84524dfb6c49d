from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from operad.errors import ArgumentError
from operad_check import check_operator
from operad_check.plan.profile import PROFILES, Profile, profile_of
from operad_check.register import all_checks
from operad_check.reporting.outcome import OperatorReport, Outcome, Status
from operad_check.running import check_run
from operad_sdk import Contract, OperatorProperty, operator, param, unary
from operad_sdk.domains import Real


def doubled(name, contract=None, factor=2.0):
    """An operator, correct for factor 2."""

    @unary(name, contract=contract)
    def forward(x):
        return x * 2

    @forward.gradient(inplace="output_grad")
    def _(output_grad):
        return output_grad * factor

    return forward


def only(op, check_id, **keywords):
    (outcome,) = check_operator(op, checks=[check_id], **keywords).outcomes
    return outcome


def test_a_correct_operator_passes_with_evidence():
    outcome = only(doubled("runner_correct"), "B301")
    assert (outcome.status, outcome.red_id) == (Status.PASSED, None)
    assert outcome.examples >= 10
    assert sum(outcome.evidence.values()) > 0


def test_a_failure_comes_with_the_smallest_case_a_fix_and_a_program():
    outcome = only(doubled("runner_tripled", factor=3.0), "B301")
    assert (outcome.status, outcome.red_id) == (Status.WRONG, "B301")
    failure = outcome.failure
    assert failure is not None
    assert "data=float64(1,)" in failure.case
    assert failure.fix
    assert "array([1.0]" in failure.script


def test_an_expected_failure_is_reported_and_is_not_red():
    contract = Contract(expected_failures={"B301": "the slope is approximate"})
    outcome = only(doubled("runner_expected", contract, factor=3.0), "B301")
    assert (outcome.status, outcome.red_id) == (Status.EXPECTED, None)
    assert outcome.reason == "the slope is approximate"
    assert outcome.failure is not None


def test_an_unexpected_pass_is_red():
    contract = Contract(expected_failures={"B301": "the slope is approximate"})
    outcome = only(doubled("runner_unexpected", contract), "B301")
    assert (outcome.status, outcome.red_id) == (Status.UNEXPECTED_PASS, "X803")


def test_an_expected_failure_without_a_reason_is_red():
    contract = Contract(expected_failures={"B301": " "})
    outcome = only(doubled("runner_no_reason", contract, factor=3.0), "X802")
    assert outcome.red_id == "X802"


def test_a_check_that_never_compares_anything_is_red():
    @unary("runner_dead", contract=Contract(inputs={"data": Real(-3.0, -1.0)}))
    def dead(x):
        return np.maximum(x, 0)

    @dead.gradient
    def _(output_grad, x):
        return output_grad * (x > 0)

    outcome = only(dead, "B301")
    assert (outcome.status, outcome.red_id) == (Status.NO_EVIDENCE, "X801")
    assert "data" in outcome.reason


@operator("runner_seldom")
class Seldom(OperatorProperty):
    """The data, less a weight where they are negative, in one mode of many."""

    accepts = "floating"
    mode = param(str, "a", choices=("a", "b", "c", "d", "e", "f", "g", "weighted"), doc="Which.")
    spec = "data:(*S, C), weight:(C) if mode == 'weighted' -> output:(*S, C)"

    def forward(data, weight):
        return data if weight is None else data - weight * (data < 0)

    def data_grad(output_grad):
        return output_grad

    def weight_grad(output_grad, data, weight_grad):
        slope = -(output_grad * (data < 0))
        weight_grad[...] = slope.reshape(-1, slope.shape[-1]).sum(0)


@pytest.mark.parametrize("seed", range(6))
def test_what_few_cases_say_something_of_gets_more_of_them(seed):
    report = check_operator(Seldom, checks=["B301"], profile=Profile("few", 10, 1.0, seed=seed))
    (outcome,) = report.outcomes
    assert (outcome.status, outcome.reason) == (Status.PASSED, "")
    assert outcome.evidence["gradient of weight"] > 0


def test_a_check_of_what_an_operator_does_not_have_does_not_apply():
    @unary("runner_sign")
    def sign(x):
        return np.sign(x)

    assert only(sign, "B301").status is Status.INAPPLICABLE
    assert only(sign, "F216").status is Status.INAPPLICABLE


def test_an_operator_for_which_no_case_is_found_is_red():
    def hundredth(shape):
        return (shape[99],)

    @unary("runner_unusable", "data:(*S) -> output:(*hundredth(S))", functions={"hundredth": hundredth})
    def unusable(x):
        return x

    outcome = only(unusable, "F207")
    assert (outcome.status, outcome.red_id) == (Status.NO_EVIDENCE, "X801")
    assert "declare Contract" in outcome.reason


def test_code_that_raises_is_red_once_and_blocks_the_rest():
    @unary("runner_raises")
    def raises(x):
        raise KeyError("inside")

    assert only(raises, "F201").red_id == "F201"
    blocked = only(raises, "F209")
    assert (blocked.status, blocked.red_id) == (Status.BLOCKED, None)
    assert "KeyError" in blocked.reason


def test_two_runs_find_the_same():
    op = doubled("runner_same", factor=3.0)
    first, second = (only(op, "B301") for _ in range(2))
    assert first.failure == second.failure
    assert first.examples == second.examples


def test_a_profile_decides_how_many_cases_are_tried():
    op = doubled("runner_profiles")
    assert only(op, "F206", profile=Profile("few", 7, 9.0)).examples == 7
    assert only(op, "F206", profile=Profile("slow", 30, 0.0, least=4)).examples == 4
    assert [profile.examples for profile in PROFILES.values()] == [50, 200, 2000]
    with pytest.raises(ArgumentError, match="'hasty' is unknown"):
        profile_of("hasty")


def test_a_report_is_plain_data():
    report = check_operator(doubled("runner_json", factor=3.0), checks=["F207", "B301"])
    data = json.loads(json.dumps(report.to_json()))
    assert data["operator"] == "runner_json"
    assert data["red_ids"] == ["B301"]
    assert [outcome["status"] for outcome in data["outcomes"]] == ["passed", "wrong"]


def test_progress_is_told_after_each_check():
    told: list[Outcome] = []
    check_operator(doubled("runner_progress"), checks=["F207", "B301"], progress=told.append)
    assert [outcome.check_id for outcome in told] == ["B301", "F207"]


def test_an_unknown_check_is_refused_with_the_ids_there_are():
    with pytest.raises(ArgumentError, match="'F999' is unknown; expected one of"):
        check_operator(doubled("runner_unknown"), checks=["F999"])


def test_ids_are_in_order_and_each_is_registered_once():
    ids = list(all_checks())
    assert ids == sorted(set(ids))


def test_the_toolkit_itself_imports_neither_pytest_nor_hypothesis():
    code = "import operad_sdk, sys; print([m for m in ('hypothesis', 'pytest', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_blocked_operator_with_nothing_red_is_still_no_pass():
    outcome = Outcome("F209", Status.BLOCKED, reason="forward raised")
    report = OperatorReport("runner_blocked", "this process", "", "dev", 0, [outcome])
    assert not report.passed


def test_a_slow_machine_is_no_reason_to_miss_evidence():
    @unary("runner_rarely_steep", accepts="floating", contract=Contract(inputs={"data": Real(-16.0, 1.0)}))
    def ramp(x):
        """A ramp that starts near the end of its domain."""
        return np.maximum(x, 0)

    @ramp.gradient
    def _(output_grad, x):
        return output_grad * (x > 0)

    hurried = Profile("hurried", examples=100, seconds=0.0, least=1)
    outcome = only(ramp, "B301", profile=hurried)
    assert outcome.status is Status.PASSED
    assert 1 < outcome.examples < 50


def test_what_is_imported_or_compiled_for_one_case_is_no_reason_to_see_fewer(monkeypatch):
    times = iter([0.0])
    monkeypatch.setattr(
        check_run, "process_time", lambda: next(times, 1000.0)
    )  # the first case takes 1,000 s
    few = Profile("few", examples=20, seconds=0.1, least=1)
    assert only(doubled("runner_compiled"), "F201", profile=few).examples >= 20

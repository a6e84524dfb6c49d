"""Checks that break: whose code raised decides, and nothing of it counts for or against the operator."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from operad_check import check_numpy, check_operator
from operad_check.cases import strategies
from operad_check.cases.kinds import ORDINARY
from operad_check.foreign.checking import check_foreign
from operad_check.foreign.numpy_backend import NumpyBackend
from operad_check.plan.profile import Profile
from operad_check.register import Check, find_check
from operad_check.reporting.html import page
from operad_check.reporting.outcome import OperatorReport, Status
from operad_check.running import check_run, runner, shrink
from operad_sdk import Contract, OperatorProperty, unary

FEW = Profile("few", 5, 1.0)
LINE = "x:(...) -> y:(...)"


def twice(name="broken_twice", contract=None):
    return unary(name, accepts="floating", contract=contract)(lambda x: 2 * x)


def planted(source: str, module: str = "operad_check.planted") -> dict[str, Any]:
    """What source defines, as a module of the harness's."""
    names = {"__name__": module, "np": np, "NumpyBackend": NumpyBackend}
    exec(source, names)  # noqa: S102 - a module made here
    return names


def check_of(source: str, *kinds: Any, id: str = "F202") -> Check:
    """A check whose code is `source`, which defines `run`."""
    run = planted(source)["run"]
    return Check(id, run, kinds)


BREAKS = "def run(trial):\n    assert trial is None, 'it was not expected'"


@pytest.mark.parametrize("kinds", [(), (ORDINARY,)], ids=["of the operator", "of cases"])
def test_a_check_that_raises_is_broken_and_neither_red_nor_passed(kinds):
    report = check_operator(twice(), checks=[check_of(BREAKS, *kinds)], profile=FEW)

    (outcome,) = report.outcomes
    assert (outcome.status, outcome.red_id, outcome.failure) == (Status.BROKEN, None, None)
    assert outcome.reason.startswith(
        "operad's own fault: the check raised AssertionError: it was not expected"
    )
    assert "in run" in outcome.traceback
    assert (report.red_ids, report.broken_ids, report.passed) == ([], ["F202"], False)


def test_the_first_line_of_a_report_and_its_data_say_so():
    report = check_operator(twice(), checks=[check_of(BREAKS), "F207"], profile=FEW)

    first, *rest = repr(report).splitlines()
    assert first.startswith("<report on broken_twice: F202 broken, operad's own fault; 1 checks passed")
    assert "        Traceback (most recent call last):" in rest
    data = report.to_json()
    assert data["broken_ids"] == ["F202"]
    assert [one["traceback"] != "" for one in data["outcomes"]] == [True, False]


def test_a_page_says_so_with_the_traceback():
    report = check_operator(twice(), checks=[check_of(BREAKS), "F207"], profile=FEW)

    text = page({"operators": [report.to_json()], "unusable": {}})

    assert "No operator was seen to break its contract." in text
    assert "Checks of 1 of 1 operators are broken, operad&#x27;s own fault" in text.replace("'", "&#x27;")
    assert "keeps its contract" not in text
    assert "it was not expected" in text


def test_an_expected_failure_is_not_met_by_a_check_that_breaks():
    contract = Contract(expected_failures={"F202": "it is known to fail"})
    report = check_operator(twice(contract=contract), checks=[check_of(BREAKS)], profile=FEW)
    assert report.broken_ids == ["F202"]


def test_what_code_of_the_operator_raises_is_its_own():
    @unary("broken_not", accepts="floating")
    def raises(x):
        raise KeyError("inside")

    report = check_operator(raises, checks=["F201", "F209"], profile=FEW)
    assert (report.red_ids, report.broken_ids) == (["F201"], [])


def test_a_mistake_below_a_call_of_the_operator_is_not_the_operators():
    source = "class Planted:\n    def forward(self, *given): return [].pop()"
    check = check_of(f"{source}\ndef run(trial): trial.forward(operator=Planted())", ORDINARY)

    (outcome,) = check_operator(twice(), checks=[check], profile=FEW).outcomes

    assert outcome.status is Status.BROKEN
    assert "pop from empty list" in outcome.reason


def test_a_call_that_the_operator_does_not_take_is_the_operators():
    class Odd(twice()):
        def create_operator(self):
            raise AssertionError("it is not reached")

    report = check_operator(Odd, checks=["F201"], profile=FEW)
    assert (report.red_ids, report.broken_ids) == (["F201"], [])


def test_a_kind_of_which_no_case_is_found_though_the_line_says_which_there_are_is_a_break(monkeypatch):
    monkeypatch.setattr(strategies, "argument_shapes", lambda *_: None)

    (outcome,) = check_operator(twice(), checks=["F207"], profile=FEW).outcomes

    assert outcome.status is Status.BROKEN
    assert "no case of kind 'ordinary' was found" in outcome.reason


@pytest.mark.more
def test_a_line_that_no_sizes_fit_is_the_authors():
    class Never(OperatorProperty):
        name = "broken_never"
        spec = "data:(N) -> output:(N); N > 3, N < 3"

        def forward(data):
            return data

    (outcome,) = check_operator(Never, checks=["F207"], profile=FEW).outcomes
    assert (outcome.status, outcome.red_id) == (Status.NO_EVIDENCE, "X801")


def test_what_breaks_while_cases_are_made_is_a_break(monkeypatch):
    broken = planted("def case_of(*given): raise TypeError('planted')")["case_of"]
    monkeypatch.setattr(strategies, "case_of", broken)

    report = check_operator(twice(), checks=["F201", "F207"], profile=FEW)

    assert (report.red_ids, report.broken_ids) == ([], ["F201", "F207"])


def test_what_breaks_while_the_plan_is_made_is_a_break(monkeypatch):
    broken = planted("def made(*given): raise TypeError('planted')")["made"]
    monkeypatch.setattr("operad_check.plan.plan.made", broken)
    assert check_operator(twice(), checks=["F207"], profile=FEW).broken_ids == ["F207"]


def test_a_finding_stands_where_the_check_breaks_on_a_smaller_case(monkeypatch):
    monkeypatch.setattr(
        shrink, "shrink_arrays", planted("def run(*given): raise TypeError('planted')")["run"]
    )
    wrong = unary("broken_wrong", contract=Contract(reference=lambda data: 3 * data))(lambda data: 2 * data)

    report = check_operator(wrong, checks=["F213"], profile=FEW)

    assert (report.red_ids, report.broken_ids) == (["F213"], [])


def test_a_finding_stands_where_no_program_can_be_written(monkeypatch):
    monkeypatch.setattr(check_run, "script", planted("def run(*given): raise TypeError('planted')")["run"])
    wrong = unary("broken_wrong", contract=Contract(reference=lambda data: 3 * data))(lambda data: 2 * data)

    (outcome,) = check_operator(wrong, checks=["F213"], profile=FEW).outcomes

    assert outcome.status is Status.WRONG
    assert outcome.failure is not None
    assert outcome.failure.script == ""


def test_nothing_is_missed_of_an_operator_whose_reference_was_not_compared_for_a_break(monkeypatch):
    check = find_check("F213")
    broken = Check("F213", planted(BREAKS)["run"], check.kinds)
    monkeypatch.setattr(
        "operad_check.checks.obligations.find_check",
        lambda id: broken if id == "F213" else find_check(id),
    )
    floor = unary("broken_floor", accepts="floating", contract=Contract(reference=np.floor))(np.floor)

    report = check_operator(floor, checks=["X805", "F218"], profile=FEW)

    assert report.red_ids == []


CLUMSY = """
class Clumsy(NumpyBackend):
    def call(self, function, arrays):
        return arrays[7]
"""
STRICT = """
class Strict(NumpyBackend):
    def call(self, function, arrays):
        return function(*arrays)
"""


def test_a_mistake_of_an_adapter_is_no_refusal_of_the_function():
    clumsy = planted(CLUMSY, "operad_check_planted.backend")["Clumsy"]()
    report = check_foreign(clumsy, np.tanh, LINE, checks=["F201", "F207"], profile=FEW)
    assert (report.red_ids, report.broken_ids) == ([], ["F201", "F207"])


@pytest.mark.more
def test_what_a_function_refuses_stays_a_refusal():
    strict = planted(STRICT, "operad_check_planted.backend")["Strict"]()

    def refuses(x):
        raise TypeError("no arrays on Sundays")

    report = check_foreign(strict, refuses, LINE, checks=["F201", "F207"], profile=FEW)
    assert report.broken_ids == []


@pytest.mark.parametrize("gradient", [math.hypot, len])
def test_what_a_function_in_c_raises_is_its_own(gradient):
    report = check_numpy(np.tanh, LINE, gradient, checks=["B306"], profile=FEW)
    assert (report.red_ids, report.broken_ids) == (["B306"], [])


def test_a_report_of_nothing_but_a_break_is_no_pass():
    report = runner.broken_report("some_operator", KeyError("planted"))
    assert isinstance(report, OperatorReport)
    assert (report.red_ids, report.broken_ids, report.passed) == ([], ["X806"], False)

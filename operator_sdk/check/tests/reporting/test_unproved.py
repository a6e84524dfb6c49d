"""What an author takes out of the checks stands in the report, and --strict wants a reason."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from operad.cli import main
from operad_check import check_operator
from operad_check.reporting.html import page
from operad_check.reporting.outcome import Coverage
from operad_check.reporting.unproved import unproved
from operad_check.trials.subject import subject_of
from operad_sdk import Contract, OperatorProperty, Tolerance, define, param


def scaled(data, factor):
    return data * factor


def defined(name="unproved_scaled", reference=lambda data, factor: data * factor, **declared):
    """An operator of one parameter with this contract."""
    return define(
        name, "data:(N) -> output:(N)", scaled, summary="Data times a factor.", example=("[1]", "[1.]"),
        params={"factor": param(int, 1, ge=1, le=10, doc="What to multiply with.")},
        contract=Contract(reference=reference, **declared),
    )  # fmt: skip


def found(cls, *args):
    return [(one.kind, one.name, one.is_accepted) for one in unproved(subject_of(cls), *args)]


def test_an_operator_without_exemptions_has_nothing_unproved() -> None:
    assert found(defined()) == []


def test_a_reference_that_is_narrower_than_its_operator_says_so() -> None:
    reason = "factors above 5 want a table that the reference has not"
    assert found(defined(narrowed={"reference": reason})) == [("narrowing", "reference", True)]
    assert found(defined(narrowed={"reference": "no"})) == [("narrowing", "reference", False)]


def single(data, factor):
    return data.astype(np.float64) * factor


def test_a_reference_without_more_digits_is_said() -> None:
    """One that computes in float64 on its own, and not one that goes with its arguments' type."""
    for reference, wanted in (
        (single, [("digits", "reference", True)]),
        (lambda data, factor: factor * data, []),
    ):
        report = check_operator(defined("unproved_digits", reference=reference), checks=["F213"])
        assert [(one.kind, one.name, one.is_accepted) for one in report.unproved] == wanted
        assert ("float64" in str(report.unproved)) == bool(wanted)


def test_what_a_program_completes_takes_no_cases_and_says_so() -> None:
    class Unfinished(OperatorProperty):
        """An operator that computes nothing until a program gives it a table.

        Shapes:
            data: (N).
            output: (N).
        """

        name = "unproved_unfinished"
        spec = "data:(N) -> output:(N)"
        contract = Contract(completed_by_programs="a program gives it the table it reads")

        def forward(data):
            raise NotImplementedError

    report = check_operator(Unfinished, checks=["F201", "F213", "B301", "M402", "X805"])
    assert [outcome.status.name for outcome in report.outcomes] == ["INAPPLICABLE"] * 5
    assert ("exemption", "completed_by_programs", True) in found(Unfinished)


EXEMPTIONS = ("no_numeric_gradient", "nan_policy", "nondeterministic", "assumes_shapes", "undefined", "ties")


@pytest.mark.parametrize("name", EXEMPTIONS)
def test_an_exemption_is_listed_and_accepted_if_its_reason_says_something(name: str) -> None:
    assert found(defined(**{name: "x"})) == [("exemption", name, False)]
    assert found(defined(**{name: "a NaN is hidden on purpose"})) == [("exemption", name, True)]


def test_an_exemption_that_depends_on_parameters_is_listed_if_some_case_had_them() -> None:
    cls = defined(no_numeric_gradient=lambda prop: "it is a step, and no function" if prop.factor > 3 else "")
    assert found(cls, [{}, {"factor": 2}]) == []
    assert found(cls, [{}, {"factor": 7}]) == [("exemption", "no_numeric_gradient", True)]


def test_tolerances_and_expected_failures_are_exemptions() -> None:
    cls = defined(
        tolerances={"float16": Tolerance(0.1, 0.1, "rounded")},
        expected_failures={"F219": "as in MXNet itself"},
    )
    assert found(cls) == [
        ("exemption", "tolerances['float16']", False), ("exemption", "expected_failures['F219']", True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "lacking"),
    [
        ([1], "the bound 10; tried: 1"),
        ([1, 2, 5], "the bound 10; tried: 1, 2, 5"),
        ([10, 4], "the bound 1; tried: 10, 4"),
        ([1, 10], None),
    ],
)
def test_a_parameter_tried_at_fewer_values_is_a_narrowing(values: list[int], lacking: str | None) -> None:
    wanted = [] if lacking is None else [lacking]
    assert [one.what for one in unproved(subject_of(narrowed(values)))] == wanted


def narrowed(values, **declared):
    return defined(params={"factor": values}, **declared)


def test_a_narrowing_may_have_a_reason_or_be_made_good_by_a_set() -> None:
    reason = "nine more are in a test of their own"
    assert found(narrowed([1], narrowed={"factor": reason})) == [("narrowing", "factor", True)]
    assert found(narrowed([1], narrowed={"factor": "slow"})) == [("narrowing", "factor", False)]
    assert found(narrowed([1], param_sets=[{"factor": 10}])) == []


def test_all_choices_and_both_truth_values_have_to_be_tried() -> None:
    choice = param(str, "a", choices=("a", "b", "c"), doc="Which.")
    flag = param(bool, False, doc="Whether.")

    class Chosen(OperatorProperty):
        name = "unproved_chosen"
        spec = "data:(N) -> output:(N)"
        how = choice
        fast = flag
        contract = Contract(params={"how": ["a"], "fast": [True]})

        def forward(data):
            return data

    assert [str(one) for one in unproved(subject_of(Chosen))] == [
        "how: 'b', 'c'; tried: 'a'", "fast: False; tried: True",
    ]  # fmt: skip


def test_a_reference_of_the_operators_own_code_proves_nothing() -> None:
    assert found(defined(reference=scaled)) == [("own reference", "reference", False)]
    assert found(defined(reference=lambda data, factor: scaled(data, factor))) == [
        ("own reference", "reference", False)
    ]


@pytest.mark.parametrize(
    ("goals", "wanted"),
    [
        ([("large", 0, "refused"), ("large", 0, "refused")], [("refused", "large", False)]),
        ([("large", 0, "refused"), ("large", 1, "")], []),
        ([("large", 0, "too large"), ("large", 0, "refused")], [("untried", "large", False)]),
        ([("large", 0, "too large"), ("large", 1, "")], [("untried", "large", True)]),
        ([("large", 0, "too large")] * 3 + [("large", 1, "")], [("untried", "large", False)]),
        ([("extreme", 0, "too large"), ("extreme", 1, "")], [("untried", "extreme", False)]),
        ([("bulk", 0, "no such size"), ("bulk", 1, "")], []),
        ([("ordinary", 0, "too large")], []),
    ],
)
def test_kinds_of_cases_that_are_refused_or_not_tried_are_listed(goals, wanted) -> None:
    plan = [Coverage(kind, "a", "", cases, lack, "no") for kind, cases, lack in goals]
    assert found(defined(), [{"factor": 2}], plan) == wanted


def test_a_reason_may_stand_for_a_kind_that_is_not_tried() -> None:
    plan = [Coverage("extreme", "a", "", 0, "too large")]
    made = defined(narrowed={"extreme": "its tables need a thousand rows"})
    assert found(made, [{"factor": 2}], plan) == [("untried", "extreme", True)]


def test_an_argument_without_elements_in_a_kind_of_cases_is_listed() -> None:
    plan = [Coverage("extreme", "a", "", 1)]
    lines = unproved(subject_of(defined()), [{"factor": 2}], plan, None, {"extreme": ["data"], "large": []})
    assert [(one.kind, one.name, one.is_accepted) for one in lines] == [("untried", "extreme", False)]
    assert "data" in lines[0].what


def test_reports_say_it_in_text_data_and_on_the_page() -> None:
    cls = defined(nan_policy="a NaN is hidden <on purpose>")
    report = check_operator(cls, checks=["F201"])
    assert "not proved: nan_policy: that a NaN in an input shows in the outputs, because a NaN" in repr(
        report
    )
    (one,) = report.to_json()["unproved"]
    assert (one["kind"], one["name"], one["is_accepted"]) == ("exemption", "nan_policy", True)
    text = page({"operators": [report.to_json()], "unusable": {}})
    assert "<h2>Not proved</h2>" in text
    assert "hidden &lt;on purpose&gt;" in text


MODULE = '''
import operad as od
from operad_sdk import Contract, unary


@unary("unproved_strict", accepts="floating", contract=Contract(nan_policy="x"))
def unproved_strict(data):
    """Twice the data.

    >>> print(2 * 1)
    2
    """
    return 2 * data


@unproved_strict.gradient
def _(output_grad):
    return 2 * output_grad


od.registry.register(unproved_strict)
'''


@pytest.mark.more
def test_the_command_fails_under_strict_alone(tmp_path) -> None:
    file = tmp_path / "declaring.py"
    file.write_text(MODULE)
    command = ["check", "unproved_strict", "--module", str(file), "--jobs", "1"]
    plain, strict = (CliRunner().invoke(main, [*command, *more, "--json"]) for more in ([], ["--strict"]))
    (one,) = json.loads(plain.output)["operators"][0]["unproved"]
    assert (one["name"], one["reason"], one["is_accepted"]) == ("nan_policy", "x", False)
    assert [json.loads(run.output)["operators"][0]["red_ids"] for run in (plain, strict)] == [[], []]
    assert (plain.exit_code, strict.exit_code) == (0, 1)
    assert "Not proved" in CliRunner().invoke(main, command).output


def test_what_moves_states_in_every_call_may_say_so() -> None:
    def moved(weight, state):
        state += np.float32(1)
        return weight + state

    def learning(states_move, function=moved):
        return define(
            "unproved_moves", "weight:(N), state total:(N) -> output:(N)", function,
            summary="One step.", example=("[1]", "[2.]"),
            accepts="floating", contract=Contract(states_move=states_move),
        )  # fmt: skip

    assert check_operator(learning("training"), checks=["F216"]).red_ids == ["F216"]
    assert check_operator(learning("always"), checks=["F216"]).red_ids == []

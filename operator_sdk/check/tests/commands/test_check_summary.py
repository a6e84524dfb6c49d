from __future__ import annotations

import pytest

from operad_check.commands.check.records import CheckedOperator, CheckOutcome
from operad_check.commands.check.summary import summary


def operator(name, *outcomes, red=(), seconds=1.0):
    return CheckedOperator(name, "acme-ops", "1.5", "dev", 0, list(outcomes), list(red), seconds)


def outcome(id, status="passed", reason="", seconds=0.1, evidence=None):
    return CheckOutcome(id, status, 50, evidence or {"compared": 7}, reason, None, seconds)


def lines(*operators, unusable=0):
    """What each line of the summary says, by its word."""
    said: dict[str, list[str]] = {}
    for word, cell in summary(operators, unusable):
        said.setdefault(word, []).append(cell if isinstance(cell, str) else cell.text)
    return said


GOOD = operator("good", outcome("F213"))
BAD = operator("bad", outcome("F213"), outcome("B301", "wrong"), red=["B301"])


@pytest.mark.parametrize(
    ("operators", "unusable", "text"),
    [
        ([GOOD], 0, "it passes"),
        ([GOOD, GOOD], 0, "all 2 pass"),
        ([GOOD, BAD], 0, "1 of 2 pass, 1 fail"),
        ([GOOD, BAD], 3, "1 of 5 pass, 1 fail, 3 could not be checked"),
    ],
)
def test_the_verdict_counts_operators(operators, unusable, text):
    assert lines(*operators, unusable=unusable)["operators"] == [text]


def test_checks_are_counted_by_how_they_ended():
    found = [outcome("F201"), outcome("F202"), outcome("F203", "blocked"), outcome("B304", "does not apply")]
    assert lines(operator("one", *found))["checks"] == ["2 passed, 1 blocked, 1 do not apply"]


def test_one_reason_that_several_operators_share_is_said_once():
    odd = outcome("F212", "expected failure", "issue 7")
    said = lines(operator("a", odd), operator("b", odd), operator("c", outcome("F212")))
    assert said["expected"] == ["a, b: F212 fails: issue 7"]


def test_the_self_audit_says_how_many_faults_were_noticed():
    two = [operator(name, outcome("X804", evidence={"compared": 8})) for name in "ab"]
    assert lines(*two)["self-audit"] == ["16 faults were put in, one at a time, and all were noticed"]


def test_an_audit_that_failed_is_no_success():
    (said,) = lines(operator("a", outcome("X804", "wrong"), red=["X804"]))["self-audit"]
    assert said == "of 1 operator the checks say too little; see X804"


@pytest.mark.parametrize("id", ["F213", "F218"])
def test_an_operator_whose_values_nothing_checks_is_named(id):
    blind = [operator(name, outcome(id, "does not apply")) for name in "abcde"]
    (said,) = lines(operator("seen", outcome(id)), *blind)["values"]
    assert said.startswith("a, b, c and 2 more: no Contract(reference=...)")


def test_the_slowest_come_first_with_the_check_that_took_the_time():
    said = lines(
        operator("quick", outcome("F201"), seconds=1.0),
        operator("slow", outcome("A701", seconds=2.5), seconds=5.0),
    )
    assert said["slowest"] == ["slow 5.0 s (A701 2.5 s), quick 1.0 s"]

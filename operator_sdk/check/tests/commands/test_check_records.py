from __future__ import annotations

import pytest

from operad.cli.page import PlainPage, RichPage
from operad_check.commands.check.records import CheckedOperator, CheckOutcome, CheckRun
from operad_check.reporting.outcome import Failure

FAILURE = Failure("gradient is 3.0, expected 6.0", "multiply by 2", "data=[1.5]", "import x\nverify()\n")


def operator(name, *outcomes, red=()):
    return CheckedOperator(name, "acme-ops", "1.5", "dev", 0, list(outcomes), list(red), 1.25)


def outcome(id, status, reason="", failure=None):
    return CheckOutcome(id, status, 50, {"compared": 7}, reason, failure, 0.5)


@pytest.fixture
def shown(capsys):
    def show(*operators, unusable=None):
        run = CheckRun(False, list(operators), unusable or {})
        run.show(PlainPage())
        return capsys.readouterr().out

    return show


def test_a_row_says_what_passed_and_what_is_red(shown):
    text = shown(
        operator(
            "good", outcome("F201", "passed"), outcome("F202", "passed"), outcome("B304", "does not apply")
        ),
        operator("bad", outcome("F201", "passed"), outcome("B301", "failed", failure=FAILURE), red=["B301"]),
    )
    rows = [line.split() for line in text.splitlines()[:3]]
    assert rows[1] == ["good", "acme-ops", "1.5", "passed", "2", "150", "1.2"]
    assert rows[2] == ["bad", "acme-ops", "1.5", "B301", "1", "100", "1.2"]


def test_a_failure_shows_all_that_helps(shown):
    text = shown(operator("bad", outcome("B301", "failed", failure=FAILURE), red=["B301"]))
    assert "B301 failed: bad of acme-ops 1.5\ngradient is 3.0, expected 6.0\n" in text
    assert "case:  data=[1.5]\nfix:   multiply by 2\n" in text
    assert "This program fails in the same way:\n    import x\n    verify()\n" in text
    assert "\nmore: operad explain B301\n" in text


@pytest.mark.parametrize("status", ["no evidence", "unexpected pass"])
def test_what_has_no_case_shows_its_reason(shown, status):
    text = shown(operator("bad", outcome("F212", status, "0 examples"), red=["X801"]))
    assert f"F212 {status}: bad of acme-ops 1.5\n0 examples\n" in text


def test_what_could_not_be_checked_is_said(shown):
    assert "gone could not be checked\nno such operator\n" in shown(unusable={"gone": "no such operator"})


@pytest.mark.parametrize(("passed", "code"), [(True, 0), (False, 1)])
def test_the_exit_code_is_the_verdict(passed, code):
    assert CheckRun(passed, [], {}).exit_code == code


def test_a_failure_fits_a_terminal_of_80_columns(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    message = "output[3, 0] is 0.535879909992218 in float32, and 0.5776267528995946 in float64, which is far"
    case = "data=float32(3, 4), moving_mean=float32(4,), moving_var=float32(4,), momentum=0.9, is_train=True"
    failure = Failure(message, "Declare " + "Contract(inputs=...), " * 6, case, "verify()")
    ids = ("B301", "F213", "D602", "M403", "R501", "X805")
    failed = operator("batch_norm", *[outcome(id, "failed", failure=failure) for id in ids], red=ids)
    CheckRun(False, [failed], {}).show(RichPage())
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    words = " ".join(" ".join(lines).split())
    assert message in words
    assert "momentum=0.9, is_train=True" in words
    assert all(id in words for id in ids)

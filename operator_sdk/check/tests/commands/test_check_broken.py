"""`operad check` where checks break: a status and an exit code of their own."""

from __future__ import annotations

from operad_check.commands.check.jobs import plan_one

PROGRAM = '''
from dataclasses import replace

import operad
from operad_sdk import unary
from operad_check import Violation
from operad_check.register import register

planted = {"__name__": "operad_check.planted"}
exec("def run(subject): raise TypeError('planted')", planted)


def judge(subject):
    if subject.name == "acme_wrong":
        raise Violation("it is wrong", "fix it")
    return 1


for id, check in list(register._checks.items()):  # nothing runs but a check that breaks, and another
    own = {"S102": planted["run"], "S103": judge}.get(id, lambda subject: None)
    register._checks[id] = replace(check, run=own, kinds=(), pooled=False, of_session=False)


@unary("acme_right")
def right(x):
    """The square of every element."""
    return x * x


@unary("acme_wrong")
def wrong(x):
    return x * x


operad.registry.register(right)
operad.registry.register(wrong)
'''


def test_a_broken_check_alone_exits_with_3_and_says_whose_fault_it_is(program, run, tmp_path):
    done = run("check", "acme_right", "--module", program, "--html", tmp_path / "report.html")

    assert done.exit_code == 3, done.output
    assert "S102 broken, operad's own fault" in done.output
    assert "S102 broken, operad's own fault: it says nothing of acme_right" in done.output
    assert "operad's own fault: the check raised TypeError: planted" in done.output
    assert "Traceback (most recent call last):" in done.output
    assert "0 of 1 pass, 1 not judged by all checks: some are broken, operad's own fault" in done.output
    assert "1 passed, 1 broken" in " ".join(done.output.split())
    assert "broken, operad's own fault" in (tmp_path / "report.html").read_text()


def test_beside_what_is_red_it_is_shown_and_the_code_is_1(program, run):
    done = run("check", "acme_wrong", "--module", program)
    assert done.exit_code == 1
    assert "S103, S102 broken, operad's own fault" in done.output


def test_as_data_it_has_its_status_its_traceback_and_a_list_of_its_own(program, run_json):
    data = run_json("check", "acme_right", "--module", program)

    (operator,) = data["operators"]
    assert (data["passed"], operator["red_ids"], operator["broken_ids"]) == (False, [], ["S102"])
    (outcome,) = [one for one in operator["outcomes"] if one["status"] == "broken"]
    assert (outcome["check_id"], outcome["red_id"], outcome["failure"]) == ("S102", None, None)
    assert outcome["traceback"].endswith("TypeError: planted")


def test_an_operator_whose_check_broke_is_checked_again_with_failed(program, run):
    run("check", "acme_right", "--module", program)
    assert run("check", "acme_right", "--module", program, "--failed").exit_code == 3


def test_what_breaks_outside_of_any_check_is_no_operators_fault(monkeypatch):
    broken = {"__name__": "operad_check.planted"}
    exec("def case_plan(*given, **named): raise TypeError('planted')", broken)  # noqa: S102 - made here
    monkeypatch.setattr("operad_check.commands.check.jobs.case_plan", broken["case_plan"])

    found = plan_one("tanh", "dev", lambda told: None)

    assert (found["operator"], found["red_ids"], found["broken_ids"]) == ("tanh", [], ["X806"])
    assert found["outcomes"][0]["traceback"].endswith("TypeError: planted")

from __future__ import annotations

import subprocess
import sys

import pytest

from operad import registry
from operad_check.commands.check.command import check
from operad_check.commands.check.jobs import check_one
from operad_check.commands.check.workers import checked
from operad_check.plan.profile import PROFILES

PLUGIN = '''
"""Two operators, one of which is wrong."""

from operad_sdk import unary


@unary("acme_right")
def right(x):
    """The square of every element.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd.acme_right(od.nd.array([3])).asnumpy()
        array([9.], dtype=float32)
    """
    return x * x


@right.gradient
def _(output_grad, x):
    return 2 * x * output_grad


@unary("acme_wrong")
def wrong(x):
    """The square of every element, with half its gradient."""
    return x * x


@wrong.gradient
def _(output_grad, x):
    return x * output_grad
'''


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """A plugin on the path, as pip would leave it, which processes that are started see as well."""
    info = tmp_path / "site" / "acme_squares-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-squares\nVersion: 1.0\n")
    points = "acme_right = acme_squares:right\nacme_wrong = acme_squares:wrong\n"
    (info / "entry_points.txt").write_text(f"[operad.operators]\n{points}")
    (tmp_path / "site" / "acme_squares.py").write_text(PLUGIN)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    registry.refresh()
    yield
    sys.modules.pop("acme_squares", None)
    monkeypatch.undo()
    registry.refresh()


@pytest.mark.more
def test_a_right_operator_passes(plugin, run, run_json):
    found = run_json("check", "acme_right")
    assert found["passed"] is True
    (checked,) = found["operators"]
    assert (checked["operator"], checked["distribution"], checked["version"]) == (
        "acme_right", "acme-squares", "1.0"
    )  # fmt: skip
    assert checked["red_ids"] == []
    assert sum(outcome["status"] == "passed" for outcome in checked["outcomes"]) > 10


def test_a_wrong_operator_fails_with_a_case_a_fix_and_a_program(plugin, run_json):
    found = run_json("check", "acme_wrong")
    assert found["passed"] is False
    (checked,) = found["operators"]
    assert "B301" in checked["red_ids"]
    (failure,) = [o["failure"] for o in checked["outcomes"] if o["check_id"] == "B301"]
    assert failure["case"]
    assert failure["fix"]
    assert "verify('B301', 'acme_wrong', case)" in failure["script"]


@pytest.mark.more
def test_the_program_fails_in_the_same_way(plugin, run_json, tmp_path):
    (checked,) = run_json("check", "acme_wrong")["operators"]
    (failure,) = [o["failure"] for o in checked["outcomes"] if o["check_id"] == "B301"]
    done = subprocess.run(
        [sys.executable, "-c", failure["script"]],
        env={"PYTHONPATH": str(tmp_path / "site"), "PATH": ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "[B301] acme_wrong" in done.stderr


@pytest.mark.more
def test_text_shows_the_failure_and_exits_with_1(plugin, run):
    done = run("check", "acme_wrong")
    assert done.exit_code == 1
    assert "B301 wrong: acme_wrong of acme-squares 1.0\n" in done.stdout
    assert "operad explain B301\n" in done.stdout


@pytest.mark.more
def test_a_plugin_is_checked_in_several_processes(plugin, run_json):
    found = run_json("check", "--plugin", "Acme_Squares", "--jobs", "2")
    assert [op["operator"] for op in found["operators"]] == ["acme_right", "acme_wrong"]
    assert [bool(op["red_ids"]) for op in found["operators"]] == [False, True]


@pytest.mark.more
def test_several_plugins_are_checked(plugin, run, run_json):
    wanted = ["--plugin", "acme-squares", "--plugin", "operad-smooth-l1"]
    found = run_json("check", *wanted, "--explain-cases", "--jobs", "1")
    assert [op["operator"] for op in found["operators"]] == ["acme_right", "acme_wrong", "smooth_l1"]
    assert run("check", "--plugin", "acme-squares", "--plugin", "nobody").exit_code == 1


@pytest.mark.more
def test_the_page_is_written_whole(plugin, run, tmp_path):
    assert run("check", "acme_right", "--html", tmp_path / "report.html").exit_code == 0
    text = (tmp_path / "report.html").read_text()
    assert text.startswith("<!doctype html>")
    assert text.rstrip().endswith("</html>")
    assert "acme_right" in text
    assert "http" not in text.replace("http://www.w3.org", ""), "the page needs something from elsewhere"


@pytest.mark.more
def test_an_operator_that_is_not_there_is_unusable_and_the_others_are_checked(plugin, run_json):
    found = run_json("check", "acme_right", "acme_rihgt")
    assert found["passed"] is False
    assert [op["operator"] for op in found["operators"]] == ["acme_right"]
    assert "did you mean 'acme_right'?" in found["unusable"]["acme_rihgt"]


def test_a_check_that_breaks_is_reported_with_its_traceback(monkeypatch):
    def fails(*args, **kwargs):
        raise ZeroDivisionError("a fault of the harness")

    monkeypatch.setattr("operad_check.commands.check.jobs.check_operator", fails)
    found = check_one("acme_right", None, lambda told: None)
    assert found.startswith("Traceback")
    assert "ZeroDivisionError: a fault of the harness" in found


def test_a_distribution_without_operators_is_said_to_have_none(run):
    done = run("check", "--plugin", "nobody")
    assert done.exit_code == 1
    assert "no installed distribution 'nobody' provides an operator" in done.stderr


@pytest.mark.parametrize("words", [(), ("tanh", "--all"), ("--plugin", "x", "--all"), ("x", "--plugin", "x")])
def test_it_wants_one_way_to_name_operators(run, words):
    done = run("check", *words)
    assert done.exit_code == 2
    assert "give names of operators, or --plugin DIST, or --all" in done.stderr


def test_the_profiles_are_the_harnesss():
    (option,) = [option for option in check.params if option.name == "profile"]
    assert list(option.type.choices) == list(PROFILES)


def test_a_page_that_cannot_be_written_is_refused_before_anything_is_checked(run, tmp_path):
    done = run("check", "no_such_operator", "--html", tmp_path / "nowhere" / "report.html")
    assert done.exit_code == 2
    assert f"there is no folder {tmp_path / 'nowhere'}" in done.stderr


def test_nothing_to_check_is_an_error(run, monkeypatch):
    monkeypatch.setattr(registry, "list_operators", lambda aliases: [])
    done = run("check", "--all")
    assert done.exit_code == 1
    assert "no operator is installed" in done.stderr


def test_the_plan_of_cases_is_shown_and_nothing_is_checked(plugin, run, run_json):
    text = run("check", "acme_right", "--explain-cases").stdout
    assert text.startswith("cases of acme_right, profile dev\n")
    assert "axis of 5,000 (float32)" in text
    (planned,) = run_json("check", "acme_right", "--explain-cases")["operators"]
    assert planned["outcomes"] == []
    assert all(each["reason"] for each in planned["coverage"])


def test_an_example_is_written_into_the_docstring(plugin, run, tmp_path):
    assert "acme_wrong: an example was written" in run("check", "acme_wrong", "--write-example").stdout
    text = (tmp_path / "site" / "acme_squares.py").read_text()
    assert ">>> od.nd.acme_wrong(od.nd.array(" in text
    again = run("check", "acme_wrong", "--write-example")
    assert again.exit_code == 1
    assert "its docstring has an example" in again.stdout


@pytest.mark.more
def test_echoes_are_folded_under_their_cause(plugin, run_json):
    (checked,) = run_json("check", "acme_wrong")["operators"]
    assert {o["check_id"]: o["echo_of"] for o in checked["outcomes"] if o["red_id"]}["B302"] == "B301"
    assert sorted({o["red_id"] for o in checked["outcomes"] if o["red_id"]}) == checked["red_ids"]
    (failure,) = [o["failure"] for o in checked["outcomes"] if o["check_id"] == "B301"]
    assert failure["alone"] is True, "the program was not tried by itself"


@pytest.mark.more
def test_what_is_known_stays_when_a_run_is_interrupted(plugin, run_json, monkeypatch):
    def interrupted(title, names, *args):
        yield from list(checked(names[:1], *args[:1], 1, *args[2:]))
        raise KeyboardInterrupt

    monkeypatch.setattr("operad_check.commands.check.round.shown", interrupted)
    monkeypatch.setattr("operad_check.commands.check.round._with_tried_programs", lambda run, jobs: run)
    found = run_json("check", "acme_right", "acme_wrong")
    assert [op["operator"] for op in found["operators"]] == ["acme_right"]
    assert found["left"] == ["acme_wrong"]
    assert found["passed"] is False

"""`operad check --first`, `--failed` and `--watch`: less to wait for while an operator is being written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest

from operad_check.commands.check.last_run import LastRun
from operad_check.commands.check.source import Source
from operad_check.commands.check.watch import Files, folders_of, watched
from operad_check.register import all_checks
from operad_check.running.order import FIRST, in_order

WRONG = """
from operad import registry
from operad_sdk import unary

@registry.register
@unary("acme_square", accepts="floating")
def square(x):
    return x * x

@square.gradient
def _(output_grad, x):
    return 3.5 * x * output_grad

@registry.register
@unary("acme_other", accepts="floating")
def other(x):
    return x * 1.0

@other.gradient
def _(output_grad):
    return output_grad
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("acme_again.py")
    path.write_text(WRONG)
    return path


SCOPE = "{}/acme_again"
CHECK = ("check", "--module", "acme_again.py", "--profile", "dev", "--jobs", "2")


def test_the_most_telling_checks_run_first_and_documentation_last() -> None:
    ids = in_order(all_checks())
    assert ids[0] == "R507"
    assert set(ids[1:7]) == {"S101", "S103", "S104", "S105", "S110", "S113"}  # which take no time
    assert ids[7:10] == list(FIRST[:3])
    assert set(ids[-3:]) == {"S107", "S108", "S111"}
    assert sorted(ids) == sorted(all_checks())


def test_what_was_red_runs_before_that() -> None:
    assert in_order(all_checks(), red=["M404", "B303"])[:4] == ["R507", "M404", "B303", "S101"]


def test_it_stops_at_the_first_red_check(program, run_json) -> None:
    found = run_json(*CHECK, "--first", "acme_square")
    (op,) = found["operators"]
    assert op["red_ids"] == ["B301"]
    assert len(op["outcomes"]) + op["left"] > 60
    assert op["left"] > 50


def test_only_what_was_red_is_checked_again(program, run_json) -> None:
    last = LastRun(SCOPE.format(program.parent.resolve()))
    last.note({"acme_square": ["F201"]})
    both = ["acme_square", "acme_other"]
    found = run_json(*CHECK, "--first", "--failed", *both)
    assert [(op["operator"], op["red_ids"]) for op in found["operators"]] == [("acme_square", ["B301"])]
    assert found["spared"] == ["acme_other"]
    assert last.red() == {"acme_square": ["B301"]}


def test_nothing_is_checked_where_nothing_was_red(program, run, run_json) -> None:
    found = run_json(*CHECK, "--failed", "acme_square")
    assert (found["passed"], found["operators"], found["spared"]) == (True, [], ["acme_square"])
    assert (
        "left out, not red when last checked: 1 operator\n" in run(*CHECK, "--failed", "acme_square").stdout
    )
    assert run("check", "--failed").exit_code == 0  # of all operators that are installed


def test_an_operator_that_could_not_be_loaded_counts_as_red(program, run_json) -> None:
    program.write_text(WRONG + "raise RuntimeError\n")
    run_json(*CHECK, "--first", "acme_square")
    assert LastRun(SCOPE.format(program.parent.resolve())).red() == {"acme_square": ["import"]}


def test_a_memory_that_cannot_be_read_is_none(cache_dir, tmp_path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "check-red").write_text("{ no json")
    last = LastRun()
    with pytest.warns(RuntimeWarning, match="without the cache"):
        assert last.red() == {}
    last.note({"one": ["B301"], "two": []})
    assert LastRun().red() == {"one": ["B301"]}


@pytest.mark.parametrize(
    "words",
    [
        ("--watch", "--html", "x.html", "one"),
        ("--watch", "--mutate", "3", "one"),
        ("--failed", "--explain-cases", "one"),
        ("--first", "--write-example", "one"),
        ("--watch", "no_such_operator"),
        ("--watch", "--failed", "no_such_operator"),
    ],
)
def test_options_that_do_not_go_together_are_refused(run, words) -> None:
    assert run("check", *words).exit_code == 2


def test_files_that_come_go_and_change_are_seen_once(tmp_path) -> None:
    (tmp_path / "package").mkdir()
    kept, gone = tmp_path / "package" / "kept.py", tmp_path / "package" / "gone.py"
    for path in (kept, gone, tmp_path / "beside.py"):
        path.write_text("x = 1\n")
    files = Files([tmp_path / "package"])
    assert files.changed() == []
    (tmp_path / "package" / "new.py").write_text("")
    (tmp_path / "beside.py").write_text("y = 22\n")
    gone.unlink()
    kept.write_text("x = 22\n")
    assert [path.name for path in files.changed()] == ["gone.py", "kept.py", "new.py"]
    assert files.changed() == []


def test_the_package_of_an_operator_is_watched_and_not_imported(tmp_path) -> None:
    folder = tmp_path / "acme_watched"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise RuntimeError\n")
    (tmp_path / "alone.py").write_text("raise RuntimeError\n")
    assert folders_of([], Source(str(tmp_path), "acme_watched.ops")) == [folder]
    assert folders_of([], Source(str(tmp_path), "alone")) == [tmp_path / "alone.py"]


def test_a_round_that_a_change_overtakes_is_not_shown(tmp_path) -> None:
    path = tmp_path / "ops.py"
    path.write_text("1")
    shown = []

    class Shown:
        passed = True
        exit_code = 0

        def __init__(self, number):
            self.number = number

        def show(self, page):
            shown.append(self.number)

    class Page:
        def heading(self, text):
            shown.append(text)

        def text(self, text):
            if rounds == 2:
                raise KeyboardInterrupt

    rounds = 0

    def run(is_stale):
        nonlocal rounds
        rounds += 1
        if rounds == 1:
            path.write_text("22")
            assert is_stale()
        return Shown(rounds)

    result = watched(run, Files([path]), Page())
    assert shown == ["changed: ops.py", 2]
    assert (result.rounds, result.passed, result.exit_code) == (1, True, 0)


@pytest.mark.more
def test_a_watched_operator_is_checked_after_each_change(program) -> None:
    environment = {**os.environ, "OPERAD_CACHE_DIR": str(Path("cache").resolve())}
    words = [sys.executable, "-m", "operad", *CHECK, "--watch", "acme_square"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as watching:
        lines = iter(watching.stdout.readline, "")
        one_round = lambda: list(takewhile(lambda line: "waiting for a change" not in line, lines))  # noqa: E731
        assert any(line.startswith("B301 wrong: acme_square") for line in one_round())
        program.write_text(WRONG.replace("return x * x", "return x * missing"))
        again = one_round()
        assert "changed: acme_again.py\n" in again
        assert any(line.startswith("F201 wrong: acme_square") for line in again)
        watching.send_signal(signal.SIGINT)
        assert watching.wait() == 1

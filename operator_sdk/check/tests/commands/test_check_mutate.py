"""`operad check --mutate`, with real processes."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from operad.cli import main
from operad_check.commands.check import mutation
from operad_check.commands.check.mutation import Mutant, MutationRun
from operad_check.commands.check.workers import Found


def run(*args: str):
    return CliRunner().invoke(main, ["check", *args])


@pytest.mark.slow
def test_mutants_of_an_operator_are_judged_and_the_report_names_their_places() -> None:
    done = run("LRN", "--mutate", "4", "--json")
    found = json.loads(done.output)
    assert len(found["mutants"]) == 4
    assert found["possible"]["LRN"] > 20
    assert {one["verdict"] for one in found["mutants"]} <= {"killed", "survived"}
    killed = [one for one in found["mutants"] if one["verdict"] == "killed"]
    assert killed
    assert all(one["by"] and one["file"].endswith(".py") and one["line"] > 0 for one in killed)
    assert done.exit_code == (0 if len(killed) == 4 else 1)


@pytest.mark.slow
def test_the_same_seed_draws_the_same_changes() -> None:
    texts = [[one["change"] for one in json.loads(run(*args).output)["mutants"]] for args in (
        ("arccosh", "--mutate", "2", "--json"), ("arccosh", "--mutate", "2", "--json"),
        ("arccosh", "--mutate", "2", "--json", "--seed", "7"),
    )]  # fmt: skip
    assert texts[0] == texts[1]
    assert len(texts[2]) == 2


@pytest.mark.slow
def test_what_survives_one_operator_is_tried_on_others_of_its_package() -> None:
    """Most changes of what the interpolation of ROIAlign computes change nothing of ROIPooling."""
    found = json.loads(run("ROIPooling", "--mutate", "8", "--json").output)["mutants"]
    through = [one for one in found if one["through"]]
    assert through
    assert all(one["verdict"] == "killed" and one["operator"] == "ROIPooling" for one in through)


@pytest.mark.parametrize("options", [(), ("--strict",)])
def test_a_mutant_may_be_judged_strictly(options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def judged(*args: object, is_strict: bool) -> MutationRun:
        seen.append(is_strict)
        return MutationRun(0, [], {})

    monkeypatch.setattr("operad_check.commands.check.command.mutation_run", judged)
    assert run("LRN", "--mutate", "2", *options).exit_code == 0
    assert seen == [bool(options)]


TASK = {"operator": "LRN", "module": "m", "file": "m.py", "line": 3, "change": "+ becomes -"}


def verdict(killed_by: str, broken: str) -> Mutant:
    report = {"killed_by": killed_by, "message": "words", "cpu_s": 1.0, "broken": broken}
    return mutation._judged(TASK, Found("LRN 0", report, ""))


@pytest.mark.parametrize(
    ("killed_by", "broken", "expected", "exit_code"),
    [
        ("F213", "", ("killed", "F213"), 0),
        ("F213", "F201", ("killed", "F213"), 0),
        ("", "", ("survived", ""), 1),
        ("", "F201", ("broken", "F201"), 3),
    ],
)
def test_a_mutant_that_breaks_a_check_is_neither_killed_nor_survives(
    killed_by: str,
    broken: str,
    expected: tuple[str, str],
    exit_code: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = verdict(killed_by, broken)
    assert (one.verdict, one.by) == expected

    def done(*args: object, is_strict: bool) -> MutationRun:
        return MutationRun(0, [one], {"LRN": 9}, passed=exit_code == 0)

    monkeypatch.setattr("operad_check.commands.check.command.mutation_run", done)
    shown = run("LRN", "--mutate", "1")
    assert shown.exit_code == exit_code
    assert ("F201 broke on a mutant at m.py:3" in shown.output) == (exit_code == 3)
    assert ("On 1 more a check broke, which is operad's own fault." in shown.output) == (exit_code == 3)


def test_one_that_survives_beside_one_that_breaks_a_check_is_a_failure() -> None:
    both = MutationRun(0, [verdict("", "F201"), verdict("", "")], {"LRN": 9}, passed=False)
    assert both.exit_code == 1


def test_it_goes_with_names_alone() -> None:
    done = run("LRN", "--mutate", "2", "--explain-cases")
    assert done.exit_code == 2
    assert "--mutate goes with names" in done.output

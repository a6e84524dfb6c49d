"""`operad check --mutate`, with real processes."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from operad.cli import main
from operad_sdk.commands.check.mutation import MutationRun


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

    monkeypatch.setattr("operad_sdk.commands.check.command.mutation_run", judged)
    assert run("LRN", "--mutate", "2", *options).exit_code == 0
    assert seen == [bool(options)]


def test_it_goes_with_names_alone() -> None:
    done = run("LRN", "--mutate", "2", "--explain-cases")
    assert done.exit_code == 2
    assert "--mutate goes with names" in done.output

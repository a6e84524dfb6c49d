"""A check is one module: what it says, how it is broken, what it does; everything else reads the register."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from operad.errors import ArgumentError
from operad_check import check_operator
from operad_check.commands.explain import explain
from operad_check.register import all_checks, entries, find_check, register, sections
from operator_sdk.check.tests.register.examples import source
from tools.harness_table import table

SCRATCH = '''
import numpy as np

from operad_check.cases.kinds import ORDINARY
from operad_check.register import Evidence, check
from operad_check.trials.trial import Trial
from operad_check.trials.violation import Violation


@check("F299", ORDINARY)
def no_sevens(trial: Trial) -> Evidence:
    """No output is seven.

    Seven is somebody's favourite.
    It should stay that.

    Broken by:
        def forward(data, output):
            output[...] = 7
    Within:
        spec = "data:(N + 1) -> output:(N + 1)"
        HERE
    Fix:
        Take eight.
    """
    if any((output == 7).any() for output in trial.result.outputs):
        raise Violation("an output is 7")
    return len(trial.outputs)
'''


def imported(path, text):
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    monkeypatch.setattr(register, "_entries", dict(register._entries))
    monkeypatch.setattr(register, "_checks", dict(register._checks))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    imported(tmp_path / "scratch_check.py", SCRATCH)
    return entries()["F299"]


def test_a_new_check_is_explained(scratch):
    (found,) = explain.callback("F299").checks
    assert (found.group, found.title, found.fix) == ("forward", "no output is seven", "Take eight.")
    assert found.why == "Seven is somebody's favourite. It should stay that."
    assert found.example == "def forward(data, output):\n    output[...] = 7"
    assert "F299" in [each.id for each in explain.callback(None).checks]


def test_a_new_check_runs_with_all_others_and_finds_its_own_example(scratch, tmp_path):
    module = imported(tmp_path / "checked_example.py", source(scratch))
    report = check_operator(module.Example, checks=["F201", "F299"])
    assert report.red_ids == ["F299"]
    assert [outcome.failure.fix for outcome in report.outcomes if outcome.failure] == ["Take eight."]
    assert "F299" in all_checks(), "what `operad check` runs"


def test_a_new_check_is_in_the_table_of_what_is_found(scratch):
    assert "| F299 | no output is seven | 1 | 1 | 0 | 0 |" in table([("F299", True, False, False)])


def test_an_id_is_registered_once(scratch, tmp_path):
    with pytest.raises(AssertionError, match="F299 is registered twice"):
        imported(tmp_path / "scratch_again.py", SCRATCH)


def test_an_unknown_id_is_refused_with_the_known_ones():
    with pytest.raises(ArgumentError, match="check 'F299' is unknown; expected one of A701, "):
        find_check("F299")


def test_explain_suggests_an_id_where_there_is_none():
    with pytest.raises(ArgumentError, match=r"'B35' is unknown; did you mean 'B30\d'"):
        explain.callback("B35")


def test_every_explanation_stands_alone():
    """Nobody has the check before it on the screen."""
    bare = {
        id: (each.why, each.fix)
        for id, each in entries().items()
        if len(each.why.split()) < 5 or len(each.fix.split()) < 3 or "As for" in each.why + each.fix
    }
    assert bare == {}


def test_code_in_a_docstring_keeps_its_lines_and_its_blank_lines():
    found = sections(
        "It holds.\n\n    Why\n    not.\n\n    Broken by:\n        a\n\n            b\n    Fix:\n        c"
    )
    assert found == {"title": "It holds.", "why": "Why\nnot.\n\n", "Broken by": "a\n\n    b", "Fix": "c"}

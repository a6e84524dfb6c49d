from __future__ import annotations

import ast
import importlib.util
import re
import sys

import pytest

from operad_check import check_operator
from operad_check.register import all_checks, operator_entries
from operator_sdk.check.tests.register.examples import source

ENTRIES = operator_entries()
JUDGED_FROM_OUTCOMES = {"R506", "X801", "X803", "X806"}
RUN = [id for id, check in ENTRIES.items() if "Within" in check.words]


@pytest.mark.walk
@pytest.mark.parametrize("check", ENTRIES.values(), ids=list(ENTRIES))
def test_every_check_says_what_why_and_how(check):
    assert re.fullmatch(r"[SFBMRDAX][1-8]\d\d", check.id)
    assert check.title
    assert not check.title.endswith(".")
    assert check.why.endswith(".")
    assert check.fix.rstrip(".").strip()
    assert check.example.strip()


@pytest.mark.walk
@pytest.mark.parametrize("check", ENTRIES.values(), ids=list(ENTRIES))
def test_every_example_is_python(check):
    ast.parse(check.example)


@pytest.mark.walk
@pytest.mark.parametrize("check", ENTRIES.values(), ids=list(ENTRIES))
def test_every_example_is_an_operator_or_says_why_it_is_none(check):
    assert ("Within" in check.words) != ("Not run" in check.words)
    if "Within" in check.words:
        assert check.words["Within"].count("HERE") == 1
        assert "class Example" in source(check) or "\nExample = " in source(check)


@pytest.mark.slow
@pytest.mark.parametrize("id", RUN)
def test_an_example_breaks_what_its_check_is_for(id, tmp_path, monkeypatch):
    path = tmp_path / "checked_example.py"
    path.write_text(source(ENTRIES[id]))  # a file: mappers read their source
    spec = importlib.util.spec_from_file_location("checked_example", path)
    module = importlib.util.module_from_spec(spec)
    # so that other processes, and programs that show a finding, can import it
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "checked_example", module)
    spec.loader.exec_module(module)
    checks = [id] if id in all_checks() else None
    assert id in check_operator(module.Example, checks=checks).red_ids


def test_what_no_function_checks_is_judged_from_outcomes():
    assert set(all_checks()) | JUDGED_FROM_OUTCOMES == set(ENTRIES)

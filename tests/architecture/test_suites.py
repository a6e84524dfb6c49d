"""Each test is of exactly one suite: the fast one, `make test-more`, `make test-slow`, or the contracts."""

from __future__ import annotations

import re
import tomllib
from itertools import product

import pytest
from _pytest.mark.expression import Expression

from tools.workspace import ROOT

MARKS = ("more", "slow", "contract")


def chosen(expression: str, marks: set[str]) -> bool:
    """Return whether `-m` with this expression takes a test of these marks."""
    return Expression.compile(expression).evaluate(lambda name, /, **_: name in marks)


def expressions() -> dict[str, str]:
    """Expressions of the suites: the fast one's from pyproject.toml, the others' from the Makefile."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    found = dict(re.findall(r'^(MORE|SLOW|BOTH) := "(.*)"$', makefile, re.M))
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]
    options = settings["addopts"]
    return {"FAST": options[options.index("-m") + 1], **found}


def test_whatever_marks_a_test_has_one_suite_takes_it() -> None:
    suites = expressions()
    both = suites.pop("BOTH")
    suites["CONTRACT"] = "contract and not slow"
    for flags in product((False, True), repeat=len(MARKS)):
        marks = {mark for mark, flag in zip(MARKS, flags, strict=True) if flag}
        taken = [suite for suite, expression in suites.items() if chosen(expression, marks)]
        assert len(taken) == 1, marks
        assert chosen(both, marks) is (taken[0] in ("FAST", "MORE")), marks


def test_paths_on_the_command_line_bring_the_tests_of_make_test_more(pytestconfig: pytest.Config) -> None:
    suites = expressions()
    (shared,) = (plugin for plugin in pytestconfig.pluginmanager.get_plugins() if hasattr(plugin, "MORE"))
    assert (suites["FAST"], suites["BOTH"]) == (shared.FAST, shared.ALL)


def test_what_is_marked_by_its_place_is_there(pytestconfig: pytest.Config) -> None:
    (shared,) = (plugin for plugin in pytestconfig.pluginmanager.get_plugins() if hasattr(plugin, "MORE"))
    assert [place for place in shared.MORE if not (ROOT / place).exists()] == []


def test_each_suite_has_a_target_that_the_script_for_changes_calls() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    targets = re.findall(r"^(test[a-z-]*): .*## ", makefile, re.M)
    assert {"test", "test-more", "test-all", "test-slow"} <= set(targets)
    assert re.search(r"^for target in check test test-more; do$", script, re.M)

"""Tables of the corpus: lines that can be read, expressions of their arguments, verdicts."""

from __future__ import annotations

import re
import tomllib

import pytest

from operad_sdk.shapes import parse
from tests.corpus.page import PAGES, TRIAGE, VERDICTS
from tests.corpus.run import by_program
from tests.corpus.tables import BACKENDS, is_installed, table

pytestmark = pytest.mark.more


def rows(name):
    if not is_installed(name):
        pytest.skip(f"{name} is not installed")
    return table(name).TABLE


@pytest.mark.parametrize("name", BACKENDS)
def test_an_expression_uses_each_argument_of_its_line(name):
    for function, (expression, line, *_) in rows(name).items():
        words = set(re.findall(r"[a-z_]\w*", expression))
        lost = [item.name for item in parse(line).inputs if item.name not in words]
        assert not lost, f"{function}: {expression} does not use {lost}"


def test_each_table_is_on_one_page():
    assert sorted(name for names in PAGES.values() for name in names) == sorted(BACKENDS)


@pytest.mark.parametrize("name", BACKENDS)
def test_a_verdict_is_on_a_function_of_the_table(name):
    functions = tomllib.loads(TRIAGE.read_text()).get(name, {})
    assert functions.keys() <= rows(name).keys()
    words = {entry["verdict"] for entries in functions.values() for entry in entries.values()}
    assert words <= set(VERDICTS)


@pytest.mark.parametrize(
    ("script", "state"),
    [
        ("assert 1 == 2", "fails"),
        ("assert 1 == 1", "passes"),
        ("print(1)", "prints"),
        ("function(1)", "cannot run: name 'function' is not defined"),
        ("", "none"),
    ],
)
def test_a_program_that_lacks_a_name_cannot_run(script, state):
    assert by_program({"failure": {"script": script}}) == state

from __future__ import annotations

import doctest
import tomllib
from pathlib import Path

import pytest

from operad import registry

FOLDER = Path(__file__).parents[1]
OPERATORS = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]["entry-points"][
    "operad.operators"
]


@pytest.mark.parametrize("name", OPERATORS)
def test_the_example_of_every_operator_holds(name: str) -> None:
    text = registry.get(name).__doc__ or ""
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    done = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example)
    assert (done.attempted > 0, done.failed) == (True, 0)
    assert "Shapes:" in text


def test_examples_of_the_readme_hold() -> None:
    done = doctest.testfile(str(FOLDER / "README.md"), module_relative=False)
    assert (done.attempted > 0, done.failed) == (True, 0)

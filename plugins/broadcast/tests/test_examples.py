from __future__ import annotations

import doctest
from pathlib import Path

import pytest

import operad as od

ARITHMETIC = ["add", "sub", "mul", "div", "mod", "power", "hypot", "maximum", "minimum"]
CONDITIONS = ["equal", "not_equal", "greater", "greater_equal", "lesser", "lesser_equal"]
LOGIC = ["logical_and", "logical_or", "logical_xor"]


def test_examples_of_the_readme_hold() -> None:
    done = doctest.testfile(str(Path(__file__).parents[1] / "README.md"), module_relative=False)
    assert (done.attempted > 0, done.failed) == (True, 0)


@pytest.mark.parametrize("name", [f"broadcast_{name}" for name in ARITHMETIC + CONDITIONS + LOGIC])
def test_examples_of_operators_hold(name: str) -> None:
    runner = doctest.DocTestRunner()
    (example,) = doctest.DocTestFinder().find(getattr(od.nd, name), name, globs={})
    assert (runner.run(example).failed, runner.tries) == (0, 2)

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest


@pytest.mark.parametrize("module", ["header", "indexed", "sequential"])
def test_examples_of_docstrings_hold(module: str) -> None:
    done = doctest.testmod(import_module(f"operad_recordio.{module}"))
    assert (done.attempted > 0, done.failed) == (True, 0)


def test_examples_of_the_readme_hold() -> None:
    done = doctest.testfile(
        str(Path(__file__).parents[1] / "README.md"), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert (done.attempted > 0, done.failed) == (True, 0)

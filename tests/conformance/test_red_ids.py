"""Every `red_ids` that the documentation shows is what the checks give.

Pages on which whole packages are built run in `make test-slow` alone. Their examples of the checks run here,
each after the Python under the same heading, so that one that is wrong shows at once.
"""

from __future__ import annotations

import doctest
import importlib
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from operad import registry
from tests.conformance import run_page
from tests.conformance.run_page import Block, read_blocks

ROOT = Path(__file__).parents[2]
SHOWN = re.compile(r"^ *>>> .*\bred_ids\b", re.M)
"""An example that shows the ids."""
LIBRARIES = {"operad_check_torch": "torch", "operad_check_jax": "jax"}


def found(*patterns: str) -> list[pytest.ParameterSet]:
    """Files that show ids, by their paths."""
    files = sorted(file for pattern in patterns for file in ROOT.glob(pattern))
    shown = [file for file in files if SHOWN.search(file.read_text("utf-8"))]
    long = {ROOT / "docs/authoring/checks.md": pytest.mark.more}
    return [
        pytest.param(file, id=file.relative_to(ROOT).as_posix(), marks=long.get(file, ())) for file in shown
    ]


PAGES = found("*.md", "docs/**/*.md", "*/README.md", "*/*/README.md")
MODULES = found("*/src/**/*.py", "*/*/src/**/*.py")


def sections(text: str) -> list[list[Block]]:
    """Blocks under each heading."""
    blocks = list(read_blocks(text))
    inside = {block.line + i for block in blocks for i in range(block.text.count("\n") + 1)}
    lines = text.splitlines()
    heads = [number for number, line in enumerate(lines, 1) if line.startswith("#") and number not in inside]
    bounds = zip([0, *heads], [*heads, len(lines) + 1], strict=True)
    return [[block for block in blocks if begin <= block.line < end] for begin, end in bounds]


def skip_without_library(text: str) -> None:
    for package, library in LIBRARIES.items():
        if package in text and find_spec(library) is None:
            pytest.skip(f"{library} is an extra")


@pytest.fixture
def _unregistered():
    """Takes out of the registry what a page puts in."""
    before = {*registry.list_operators()}
    yield
    for name in {*registry.list_operators()} - before:
        registry.unregister(name)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("_unregistered")
@pytest.mark.filterwarnings("default")  # PyTorch and JAX warn of their own
def test_a_page_shows_the_ids_that_the_checks_give(page, monkeypatch, tmp_path):
    text = page.read_text("utf-8")
    skip_without_library(text)
    monkeypatch.chdir(tmp_path)
    module = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", module)
    run = run_page.Page(page.name, vars(module))

    for blocks in sections(text):
        if any(SHOWN.search(block.text) for block in blocks):
            for block in blocks:
                if block.language == "python":
                    run.run(block)


@pytest.mark.parametrize("source", MODULES)
def test_a_docstring_shows_the_ids_that_the_checks_give(source):
    skip_without_library(source.read_text("utf-8"))
    path = source.relative_to(ROOT).as_posix().partition("src/")[2].removesuffix(".py")
    module = importlib.import_module(path.replace("/", "."))
    tests = [test for test in doctest.DocTestFinder().find(module) if SHOWN.search(test.docstring or "")]

    results = [doctest.DocTestRunner(optionflags=run_page._FLAGS).run(test) for test in tests]

    assert results
    assert sum(result.failed for result in results) == 0


def test_the_places_that_show_ids_are_found():
    pages = {param.id for param in PAGES}
    assert pages >= {"docs/authoring/checks.md", "docs/harness.md", "docs/check-your-operator.md"}
    assert len(MODULES) >= 2

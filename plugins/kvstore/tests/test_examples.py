from __future__ import annotations

import doctest
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import operad as od


@pytest.fixture(autouse=True)
def _registry() -> Iterator[None]:
    registered = od.kvstore.KVStoreBase.kv_registry
    before = dict(registered)
    yield
    registered.clear()
    registered.update(before)


@pytest.mark.parametrize("module", ["base", "create"])
def test_examples_of_docstrings_hold(module: str) -> None:
    done = doctest.testmod(import_module(f"operad_kvstore.{module}"))
    assert (done.attempted > 0, done.failed) == (True, 0)


def test_examples_of_the_readme_hold() -> None:
    done = doctest.testfile(str(Path(__file__).parents[1] / "README.md"), module_relative=False)
    assert (done.attempted > 0, done.failed) == (True, 0)

"""The command `operad`, run in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result

from operad import config
from operad.cli import main


@pytest.fixture(autouse=True)
def cache_dir(tmp_path, monkeypatch):
    """Keeps what commands remember away from the user's."""
    monkeypatch.setenv("OPERAD_CACHE_DIR", str(tmp_path / "cache"))
    config.reload()
    yield
    monkeypatch.undo()
    config.reload()


@pytest.fixture
def run() -> Callable[..., Result]:
    """Runs `operad` in this process."""
    return lambda *words: CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def run_json(run: Callable[..., Result]) -> Callable[..., Any]:
    """Runs `operad ... --json`, and reads what it printed on standard output."""
    return lambda *words: json.loads(run(*words, "--json").stdout)


@pytest.fixture
def program(request, tmp_path, monkeypatch):
    """The test module's `PROGRAM` as a file of the current folder, under a name of its own."""
    path = tmp_path / f"acme_of_{request.module.__name__.rpartition('.')[2]}.py"
    path.write_text(request.module.PROGRAM)
    monkeypatch.chdir(tmp_path)
    return path

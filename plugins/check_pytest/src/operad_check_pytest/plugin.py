"""The plugin of pytest: which files are tables. Imports nothing but pytest where there is none."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

OPTION: Final = "operad_check_tables"
MARKER: Final = "operad_check"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the option that names tables."""
    text = "Files with tables of functions for the contract checks: patterns of paths."
    parser.addini(OPTION, text, type="args", default=["operad-check.toml"])


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker of the tests."""
    config.addinivalue_line("markers", f"{MARKER}: one contract check of one function of a table")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a table."""
    if not any(map(file_path.match, parent.config.getini(OPTION))):
        return None
    nodes: Any = import_module("operad_check_pytest.nodes")  # the checks take a second to import
    found: pytest.Collector = nodes.TableFile.from_parent(parent, path=file_path)
    return found

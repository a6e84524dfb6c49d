"""The plugin of pytest: which files are tables. Imports nothing but pytest where there is none."""

from __future__ import annotations

from collections.abc import Generator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

OPTION: Final = "operad_check_tables"
MARKER: Final = "operad_check"
BROKEN: Final = "operad_broken"
"""Attribute of a report on a check that broke, which is operad's own fault."""


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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell a check that broke from a function that failed it."""
    report = yield
    if call.excinfo is not None and getattr(call.excinfo.value, "is_broken", False):
        setattr(report, BROKEN, True)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Count a check that broke as broken, and not as failed."""
    return ("broken", "B", "BROKEN") if getattr(report, BROKEN, False) else None


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, None, None]:
    """End with pytest's status of an error inside, 3, where checks broke and nothing failed."""
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    counts = reporter.stats if reporter is not None else {}
    is_failed = counts.get("failed") or counts.get("error")
    if counts.get("broken") and not is_failed and session.exitstatus == pytest.ExitCode.TESTS_FAILED:
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
    return (yield)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Show what broke, with its traceback."""
    for report in terminalreporter.stats.get("broken", ()):
        terminalreporter.section(f"{report.nodeid}: operad's own fault", sep="_")
        terminalreporter.write_line(report.longreprtext)

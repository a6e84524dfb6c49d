"""The plugin of pytest: which files are tables. Imports nothing but pytest where there is none."""

from __future__ import annotations

from collections.abc import Generator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

OPTION: Final = "operad_check_tables"
MARKER: Final = "operad_check"
STATUS: Final = "operad_status"
"""Attribute of a report, and of the exception that ends a test, with a word that pytest has not."""
_HEADINGS: Final = {
    "broken": "operad's own fault",
    "undeclared": "a declaration is missing",
    "hard": "a figure, and no verdict",
}


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
    """Tell a check that broke, or is milder than a failure, from a function that failed it."""
    report = yield
    if call.excinfo is not None:
        setattr(report, STATUS, getattr(call.excinfo.value, STATUS, ""))
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Count a check by its own word, and not as failed or skipped."""
    status: str = getattr(report, STATUS, "")
    return (status, status[0].upper(), status.upper()) if status else None


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
    """Show what broke, with its traceback, what is undeclared and what is hard."""
    for status, heading in _HEADINGS.items():
        for report in terminalreporter.stats.get(status, ()):
            terminalreporter.section(f"{report.nodeid}: {heading}", sep="_")
            skipped = report.longrepr  # of a skipped test: file, line, and words after the exception's name
            is_skipped = isinstance(skipped, tuple)
            words = skipped[2].partition(": ")[2] if is_skipped else report.longreprtext
            terminalreporter.write_line(words)

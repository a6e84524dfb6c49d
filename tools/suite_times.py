"""Processor and wall time of the tests, as a plugin of pytest: where a suite's minutes go.

    make test TEST_ARGS="-p tools.suite_times"

The run ends with two tables: of the folders, and of the test functions that cost most, all parameters
together. Processor time includes that of processes which a test started and waited for; it depends little on
what else the machine does.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, final

import pytest

_KEY: Final = "processor_s"
_MOST: Final = 40
_DEPTHS: Final = {"core": 3, "operator_sdk": 4}
"""Parts of the folders whose rooms are shown: `core/tests/engine`; elsewhere `plugins/rnn` is enough."""

_last: list[float] = [0.0]


@final
@dataclass(slots=True)
class Cost:
    """Seconds that some tests took."""

    tests: int = 0
    wall_s: float = 0.0
    processor_s: float = 0.0


_costs: dict[str, Cost] = defaultdict(Cost)


def _processor_s() -> float:
    return sum(os.times()[:4])


def pytest_runtest_logstart() -> None:
    """Begin to count for the next test."""
    _last[0] = _processor_s()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Note what a phase of a test took, for the process that reports."""
    now = _processor_s()
    item.user_properties.append((_KEY, now - _last[0]))
    _last[0] = now
    return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Take in a phase; the last brings the processor time of all."""
    cost = _costs[report.nodeid]
    cost.wall_s += report.duration
    if report.when == "teardown":
        cost.tests = 1
        cost.processor_s = sum(float(str(value)) for key, value in report.user_properties if key == _KEY)


def folder(node: str) -> str:
    """`core/tests/engine` or `plugins/rnn`."""
    parts = node.partition("::")[0].split("/")[:-1]
    return "/".join(parts[: _DEPTHS.get(parts[0], 2) if parts else 0])


def function(node: str) -> str:
    """The id without parameters."""
    return node.partition("[")[0]


def table(costs: dict[str, Cost], group: Callable[[str], str], most: int) -> list[str]:
    """Lines of a table, the groups that cost most first, and the sum."""
    found: dict[str, Cost] = defaultdict(Cost)
    for node, cost in costs.items():
        for sums in (found[group(node)], found[""]):
            sums.tests += cost.tests
            sums.wall_s += cost.wall_s
            sums.processor_s += cost.processor_s
    whole = found.pop("", Cost())
    ranked = sorted(found.items(), key=lambda pair: -pair[1].processor_s)[:most]
    lines = [
        f"{c.tests:6} {c.processor_s:9.1f} {c.wall_s:9.1f}  {name}" for name, c in [*ranked, ("all", whole)]
    ]
    return [f"{'tests':>6} {'processor':>9} {'wall':>9}  seconds of", *lines]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write the tables."""
    for group, most in ((folder, len(_costs)), (function, _MOST)):
        terminalreporter.write_line("")
        for line in table(_costs, group, most):
            terminalreporter.write_line(line)

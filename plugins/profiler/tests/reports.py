"""What the tests of node profiles share: a network, and what was recorded of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import operad as od


def network() -> Any:
    """Two layers on eight rows of five, bound."""
    hidden = od.sym.FullyConnected(od.sym.var("data"), num_hidden=6, name="fc1")
    hidden = od.sym.tanh(hidden, name="act")
    out = od.sym.SoftmaxOutput(od.sym.FullyConnected(hidden, num_hidden=4, name="fc2"), name="softmax")
    executor = out.simple_bind(od.cpu(), data=(8, 5))
    for array in executor.arg_arrays:
        array[:] = 0.5
    od.waitall()
    return executor


def train(executor: Any) -> None:
    executor.forward(is_train=True)
    executor.backward()
    od.waitall()


def found() -> dict[str, Any]:
    """What was recorded, from JSON."""
    od.profiler.stop()
    return json.loads(od.profiler.dumps(format="json"))


def rows(report: dict[str, Any]) -> dict[tuple[str | None, str | None], dict[str, Any]]:
    return {(row["Name"] or row["Operator"], row["Pass"]): row for row in report["Nodes"]}


def assert_threads_add_up(report: dict[str, Any]) -> None:
    """Shares, time outside nodes and idle time are the window, for each thread."""
    for number, thread in enumerate(report["Threads"]):
        shares = sum(row["Shares"][number] for row in report["Nodes"])
        rest = (thread["Outside nodes"] + thread["Idle"]) / thread["Window"]
        assert shares + rest == pytest.approx(1)
        assert thread["Busy"] + thread["Idle"] == pytest.approx(thread["Window"])

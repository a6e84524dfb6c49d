"""Marks for what the core announces by hooks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import operad as od
from operad import registry
from operad.registry.hooks import SPECS
from operad_profiler import listener

profiler = od.profiler


@pytest.fixture
def bound() -> od.Executor:
    net = od.sym.tanh(od.sym.var("x"), name="t")
    return net.simple_bind(od.cpu(), x=(2, 3), grad_req="null")


def marks(trace: Path) -> list[str]:
    profiler.dump()
    events = json.loads(trace.read_text())["traceEvents"]
    return [event["name"] for event in events if event["ph"] == "i"]


def test_binding_monitored_nodes_and_saved_arrays_are_marks_of_the_trace(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    profiler.set_config(filename=str(trace))
    profiler.start()
    try:
        executor = od.sym.tanh(od.sym.var("x"), name="t").simple_bind(od.cpu(), x=(2, 3), grad_req="null")
        executor.set_monitor_callback(lambda name, array: None)
        executor.forward(x=np.ones((2, 3)))
        od.nd.save(str(tmp_path / "w.params"), {"w": od.nd.ones(3)})
        found = marks(trace)
    finally:
        profiler.stop()
        profiler.set_config(filename="profile.json")
    plan = executor.memory_plan.planned_bytes
    assert found == [
        f"bind t_output: {plan} bytes",
        "monitored t (tanh)",
        f"save {tmp_path / 'w.params'}: 1 arrays",
    ]


def test_nothing_is_marked_while_nothing_is_recorded(bound: od.Executor, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    profiler.set_config(filename=str(trace))
    bound.forward(x=np.ones((2, 3)))
    assert marks(trace) == []
    profiler.set_config(filename="profile.json")


def test_each_hook_of_the_core_has_a_listener_here() -> None:
    assert {name for name in SPECS if hasattr(listener, name)} == {*SPECS}
    assert len(registry.hooks().executor_bound.get_hookimpls()) >= 1

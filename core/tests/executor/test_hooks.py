from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad import registry


class Listener:
    """Stands in for pluggy's relay and notes what it is told."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, hook: str) -> Any:
        return lambda **said: self.heard.append((hook, said))


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Listener:
    found = Listener()
    monkeypatch.setattr(registry, "hooks", lambda: found)
    return found


def test_binding_and_monitored_nodes_are_told(listener: Listener) -> None:
    graph = od.sym.var("x").graph
    from operad.graph import Entry, GradAdd, Graph, OpNode

    double = OpNode(GradAdd(num_args=2), "double", [graph.outputs[0]] * 2)
    executor = od.symbol.Symbol(Graph([Entry(double)]).outputs).simple_bind(od.cpu(), x=(3,), grad_req="null")
    assert listener.heard == [("executor_bound", {"executor": executor})]
    executor.forward(x=np.ones(3))
    assert len(listener.heard) == 1  # hot paths ask nobody
    executor.set_monitor_callback(lambda name, array: None)
    executor.forward(x=np.ones(3))
    hook, said = listener.heard[-1]
    assert (hook, said["name"], said["operator"]) == ("operator_run", "double", "_grad_add")
    np.testing.assert_array_equal(said["outputs"][0].asnumpy(), [2, 2, 2])

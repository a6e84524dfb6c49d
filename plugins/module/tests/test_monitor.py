from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import operad as od


def bound(network: Any, drawn: Any) -> Any:
    module = od.mod.Module(network)
    module.bind([("data", (8, 5))], [("softmax_label", (8,))])
    module.init_params(arg_params=drawn.params)
    return module


def batch_of(drawn: Any, size: int = 8) -> Any:
    return SimpleNamespace(data=[od.nd.array(drawn.data[:size])], label=[od.nd.array(drawn.labels[:size])])


def test_rows_are_of_every_node_and_argument_with_its_mean_size(network: Any, drawn: Any) -> None:
    module, monitor = bound(network, drawn), od.mon.Monitor(1, sort=True)
    module.install_monitor(monitor)
    monitor.tic()
    module.forward_backward(batch_of(drawn))
    rows = monitor.toc()
    names = [name for _, name, _ in rows]
    assert names == sorted(names)
    assert {"fc1_output", "softmax_output", "fc1_weight", "data"} <= set(names)
    ((_, _, text),) = [row for row in rows if row[1] == "softmax_output"]
    expected = np.sqrt((module.get_outputs()[0].asnumpy() ** 2).mean())
    assert float(text) == pytest.approx(expected, rel=1e-5)


def test_only_every_interval_is_watched_and_only_names_that_match(
    network: Any, drawn: Any, caplog: Any
) -> None:
    module = bound(network, drawn)
    monitor = od.mon.Monitor(2, stat_func=lambda array: array.max(), pattern=".*weight")
    module.install_monitor(monitor)
    with caplog.at_level("INFO"):
        for _ in range(3):
            monitor.tic()
            module.forward(batch_of(drawn), is_train=True)
            monitor.toc_print()
    words = [record.getMessage().split() for record in caplog.records]
    greatest = {name: str(array.asnumpy().max()) for name, array in drawn.params.items()}
    assert words == [
        ["Batch:", step, name, greatest[name]] for step in ("1", "3") for name in ("fc1_weight", "fc2_weight")
    ]


def test_executors_for_other_shapes_are_watched_too(network: Any, drawn: Any) -> None:
    module, monitor = bound(network, drawn), od.mon.Monitor(1, pattern="fc1_output")
    module.install_monitor(monitor)
    monitor.tic()
    module.forward(batch_of(drawn, 3), is_train=True)
    assert [name for _, name, _ in monitor.toc()] == ["fc1_output"]


def test_inputs_of_nodes_are_watched_if_wanted(network: Any, drawn: Any) -> None:
    module, monitor = bound(network, drawn), od.mon.Monitor(1, monitor_all=True)
    module.install_monitor(monitor)
    monitor.tic()
    module.forward(batch_of(drawn), is_train=True)
    assert any(re.fullmatch("fc2_data", name) for _, name, _ in monitor.toc())

"""What notebooks show of what trains."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

import operad as od


def trained() -> tuple[od.mod.Module, od.io.NDArrayIter]:
    net = od.sym.FullyConnected(od.sym.var("<data>"), num_hidden=2, name="fc")
    batches = od.io.NDArrayIter({"<data>": np.ones((8, 3), "float32")}, np.zeros(8), 4)
    module = od.mod.Module(od.sym.SoftmaxOutput(net, name="softmax"), data_names=["<data>"])
    module.bind(batches.provide_data, batches.provide_label)
    module.init_params()
    module.init_optimizer()
    return module, batches


def test_a_module_shows_its_shapes_and_its_steps() -> None:
    module, batches = trained()
    html = module._repr_html_()
    assert "<tr><th>data &lt;data&gt;</th><td>(4, 3)</td></tr>" in html
    assert "<tr><th>output softmax_output</th><td>(4, 2)</td></tr>" in html
    assert "<tr><th>optimizer_initialized</th><td>True</td></tr>" in html
    unbound = od.mod.Module(module.symbol, data_names=["<data>"])
    assert "<th>binded</th><td>False</td>" in unbound._repr_html_()
    assert "<tr><th>&lt;data&gt;</th><td>(4, 3)</td></tr>" in batches._repr_html_()


def test_optimizers_show_their_settings_and_metrics_their_values() -> None:
    html = od.optimizer.create("sgd", learning_rate=0.25)._repr_html_()
    assert "<tr><th>learning_rate</th><td>0.25</td></tr>" in html
    assert "<tr><th>momentum</th><td>0.0</td></tr>" in html
    metric = od.metric.create(["acc", od.metric.Accuracy(name="<own>")])
    metric.update([od.nd.array([1, 0])], [od.nd.array([[0, 1], [0, 1]])])
    html = metric._repr_html_()
    assert "<tr><th>accuracy</th><td>0.5</td></tr>" in html
    assert "<tr><th>&lt;own&gt;</th><td>0.5</td></tr>" in html


def test_nothing_pending_is_waited_for() -> None:
    module, batches = trained()
    gate, executor = threading.Event(), module._exec_group.execs[0]
    variables = [array._chunk.var for array in executor.arg_dict.values()]
    od.engine.get().push_sync(lambda _: gate.wait(60), od.cpu(), mutable_vars=variables)
    module.forward(batches.next())
    things = [module, batches, module._optimizer, executor, executor.memory_plan, od.metric.create("acc")]
    shown: list[str] = []
    shower = threading.Thread(target=lambda: shown.extend(map(repr_html, things)), daemon=True)
    shower.start()
    shower.join(30)
    count = len(shown)
    gate.set()
    od.nd.waitall()
    assert count == len(things)


def repr_html(shown: Any) -> str:
    return str(shown._repr_html_()) if hasattr(shown, "_repr_html_") else ""

"""Chains of modules, and modules that are Python code."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import BindError, FormatError, GraphError
from plugins.module.tests.conftest import gone_on

DATA, LABELS = [("data", (8, 5))], [("softmax_label", (8,))]
SGD = {"learning_rate": 0.5, "momentum": 0.9}


def halves() -> tuple[Any, Any]:
    hidden = od.sym.FullyConnected(od.sym.var("data"), num_hidden=6, name="fc1")
    first = od.sym.Activation(hidden, act_type="tanh", name="act")
    weight = od.sym.var("fc2_weight", lr_mult=0.5)
    return first, od.sym.FullyConnected(od.sym.var("data"), weight=weight, num_hidden=3, name="fc2")


def softmax_gradient(scores: Any, labels: Any) -> Any:
    powers = np.exp(scores.asnumpy())
    return powers / powers.sum(1, keepdims=True) - np.eye(3)[labels.asnumpy().astype(int)]


def chain_with_python_loss() -> Any:
    first, second = halves()
    chain = od.mod.SequentialModule().add(od.mod.Module(first, label_names=None))
    chain.add(od.mod.Module(second, label_names=None), auto_wiring=True)
    loss = od.mod.PythonLossModule(grad_func=softmax_gradient)
    return chain.add(loss, take_labels=True, auto_wiring=True)


def trained(module: Any, drawn: Any, batches: Any) -> dict[str, Any]:
    module.bind(DATA, LABELS)
    module.init_params(arg_params=drawn.params)
    module.init_optimizer(optimizer_params=SGD)
    for batch in batches:
        module.forward_backward(batch)
        module.update()
    return {name: array.asnumpy() for name, array in module.get_params()[0].items()}


def test_a_chain_trains_as_the_whole_graph_does(network: Any, drawn: Any, batches_of: Any) -> None:
    batches = batches_of(drawn.data, drawn.labels, 8)
    first, second = halves()
    chain = od.mod.SequentialModule()
    chain.add(od.mod.Module(first, label_names=None))
    chain.add(od.mod.Module(od.sym.SoftmaxOutput(second, name="softmax")), take_labels=True, auto_wiring=True)
    expected = trained(od.mod.Module(network), drawn, batches)
    found = trained(chain, drawn, batches)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)
    assert (chain.data_names, chain.output_names) == (["data"], ["softmax_output"])
    assert chain.output_shapes == [("softmax_output", (8, 3))]


def test_a_loss_may_be_python_code(network: Any, drawn: Any, batches_of: Any, accuracy: Any) -> None:
    batches = batches_of(drawn.data, drawn.labels, 8)
    chain = chain_with_python_loss()
    expected = trained(od.mod.Module(network), drawn, batches)
    for name, value in trained(chain, drawn, batches).items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-4, atol=1e-6, err_msg=name)
    outputs = chain.predict(batches).asnumpy()
    assert chain.score(batches, accuracy) == [("accuracy", (outputs.argmax(1) == drawn.labels).mean())]


def test_two_modules_cannot_have_a_parameter_of_one_name() -> None:
    chain = od.mod.SequentialModule().add(od.mod.Module(halves()[0], label_names=None))
    chain.add(od.mod.Module(halves()[0], label_names=None), auto_wiring=True)
    chain.bind(DATA)
    with pytest.raises(GraphError, match="modules 0 and 1 both have a parameter 'fc1_weight'"):
        chain.init_params()


def test_a_chain_refuses_what_it_cannot_do() -> None:
    chain = od.mod.SequentialModule()
    with pytest.raises(GraphError, match="unknown keyword 'take_label'; expected take_labels"):
        chain.add(od.mod.Module(halves()[0], label_names=None), take_label=True)
    with pytest.raises(RuntimeError, match="the chain is empty"):
        chain.bind(DATA)


def test_a_python_module_checks_its_inputs() -> None:
    loss = od.mod.PythonLossModule()
    batch = SimpleNamespace(data=[od.nd.zeros((8, 5))], label=[od.nd.zeros(8)])
    with pytest.raises(BindError, match=r"describes \['scores'\], expected \['data'\]"):
        loss.bind([("scores", (8, 3))])
    with pytest.raises(BindError, match="grad_req is 'add'"):
        loss.bind(DATA, LABELS, grad_req="add")
    with pytest.raises(NotImplementedError, match="PythonLossModule does not give '_backward_impl"):
        trained(loss, SimpleNamespace(params={}), [batch])


def test_training_of_a_chain_goes_on_as_if_it_had_not_stopped(drawn: Any, tmp_path: Path) -> None:
    def fit(**given: Any) -> dict[str, Any]:
        batches = od.io.NDArrayIter(drawn.data, drawn.labels, 8, shuffle=True, seed=3)
        chain = chain_with_python_loss()
        chain.fit(batches, num_epoch=2, arg_params=drawn.params, optimizer_params=SGD, **given)
        return {name: array.asnumpy() for name, array in chain.get_params()[0].items()}

    checkpoint = od.callback.Checkpoint(str(tmp_path / "net"), every_batches=2)
    resumed = gone_on(fit, checkpoint)
    for name, value in fit().items():
        np.testing.assert_array_equal(resumed[name], value, err_msg=name)


def ready(module: Any, drawn: Any) -> Any:
    module.bind(DATA, LABELS)
    module.init_params(arg_params=drawn.params)
    module.init_optimizer()
    return module


def test_the_state_of_another_chain_or_module_is_refused(network: Any, drawn: Any) -> None:
    chain, module = ready(chain_with_python_loss(), drawn), ready(od.mod.Module(network), drawn)
    shorter = {"modules": chain.state_dict()["modules"][:1]}
    for loading, state, message in (
        (chain, shorter, "states of 1 modules in a chain, expected 3"),
        (chain, module.state_dict(), "states of 0 modules in a chain"),
        (module, chain.state_dict(), r"another kind of module, with \['modules'\]"),
        (od.mod.PythonLossModule(), module.state_dict(), "and PythonLossModule has none"),
    ):
        with pytest.raises(FormatError, match=message):
            loading.load_state_dict(state)

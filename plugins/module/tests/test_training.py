"""Module.fit against a hand-written loop, against MXNet, and against itself on several contexts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od

RECORDED = json.loads((Path(__file__).parent / "mxnet" / "training.json").read_text())
MOMENTUM = {"learning_rate": 0.5, "momentum": 0.9, "wd": 0.01}


def fitted(network: Any, drawn: Any, batches: Any, metric: Any, **given: Any) -> Any:
    module = od.mod.Module(network, context=given.pop("context", None), **given.pop("made_with", {}))
    options = {"optimizer_params": MOMENTUM, "num_epoch": 3, "kvstore": None, **given}
    module.fit(batches, eval_metric=metric, arg_params=drawn.params, **options)
    return module


def values(params: Any) -> dict[str, Any]:
    return {name: array.asnumpy() for name, array in params[0].items()}


def assert_same(left: Any, right: Any) -> None:
    for name, value in values(left).items():
        np.testing.assert_array_equal(value, values(right)[name], err_msg=name)


def assert_close(left: Any, right: Any) -> None:
    for name, value in values(left).items():
        np.testing.assert_allclose(value, values(right)[name], rtol=2e-5, atol=2e-6, err_msg=name)


def test_fit_takes_the_steps_of_a_hand_written_loop(
    network: Any, drawn: Any, batches_of: Any, accuracy: Any
) -> None:
    batches = batches_of(drawn.data, drawn.labels, 8)
    module = fitted(network, drawn, batches, accuracy)
    requests = dict.fromkeys(drawn.params, "write") | {"data": "null", "softmax_label": "null"}
    executor = network.simple_bind(grad_req=requests, data=(8, 5))
    executor.copy_params_from(drawn.params)
    names = [name for name in network.list_arguments() if name in drawn.params]
    optimizer = od.optimizer.create(
        "sgd", sym=network, param_idx2name=dict(enumerate(names)), rescale_grad=1 / 8, **MOMENTUM
    )
    update = od.optimizer.get_updater(optimizer)
    for _ in range(3):
        for batch in batches:
            executor.forward(is_train=True, data=batch.data[0], softmax_label=batch.label[0])
            executor.backward()
            for i, name in enumerate(names):
                update(i, executor.grad_dict[name], executor.arg_dict[name])
    assert_same(module.get_params(), ({name: executor.arg_dict[name] for name in names}, {}))


@pytest.mark.parametrize(
    "case", RECORDED["training"], ids=lambda case: f"{case['optimizer']}-{case['contexts']}"
)
def test_trains_as_mxnet_does(
    case: dict[str, Any], network: Any, drawn: Any, batches_of: Any, accuracy: Any
) -> None:
    module = fitted(
        network,
        drawn,
        batches_of(drawn.data, drawn.labels, 8),
        accuracy,
        context=[od.cpu(i) for i in range(case["contexts"])],
        optimizer=case["optimizer"],
        optimizer_params=case["optimizer_params"],
        made_with={"fixed_param_names": case["fixed"]},
    )
    for name, array in module.get_params()[0].items():
        np.testing.assert_allclose(array.asnumpy(), case["params"][name], rtol=1e-5, atol=1e-5, err_msg=name)
    outputs = module.predict(batches_of(drawn.data, drawn.labels, 8)).asnumpy()
    np.testing.assert_allclose(outputs[:4], case["outputs"], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("work_load_list", [None, [1, 3]])
def test_two_contexts_train_as_one_does(
    network: Any, drawn: Any, batches_of: Any, accuracy: Any, work_load_list: Any
) -> None:
    batches = batches_of(drawn.data, drawn.labels, 8)
    one = fitted(network, drawn, batches, accuracy)
    two = fitted(
        network,
        drawn,
        batches,
        accuracy,
        context=[od.cpu(0), od.cpu(1)],
        made_with={"work_load_list": work_load_list},
    )
    assert_close(one.get_params(), two.get_params())
    np.testing.assert_allclose(one.predict(batches).asnumpy(), two.predict(batches).asnumpy(), atol=2e-6)
    assert one.score(batches, accuracy) == two.score(batches, accuracy)


class Store:
    """A store of sums, and, if it is given an optimizer, of weights."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}
        self.updater: Any = None

    def init(self, key: str, value: Any) -> None:
        self.kept[key] = value.copy()

    def push(self, key: str, values: Any, priority: int) -> None:
        total = sum(value.asnumpy() for value in values)
        if self.updater is None:
            self.kept[key] = od.nd.array(total)
        else:
            self.updater(key, od.nd.array(total), self.kept[key])

    def pull(self, key: str, out: Any, priority: int) -> None:
        for one in out:
            self.kept[key].copyto(one)


class MovingStore(Store):
    """A store that moves weights itself."""

    def set_optimizer(self, optimizer: Any) -> None:
        self.updater = od.optimizer.get_updater(optimizer)


class Exchange:
    """The least that a store can do."""

    def broadcast(self, key: str, value: Any, out: Any, priority: int) -> None:
        for one in out:
            if one is not value:
                value.copyto(one)

    def pushpull(self, key: str, values: Any, out: Any = None, priority: int = 0) -> None:
        total = sum(value.asnumpy() for value in values)
        for value in values:
            value[:] = total


@pytest.mark.parametrize("store", [Store, MovingStore, Exchange])
def test_a_store_that_sums_or_moves_gives_the_same_weights(
    network: Any, drawn: Any, batches_of: Any, accuracy: Any, store: Any
) -> None:
    batches = batches_of(drawn.data, drawn.labels, 8)
    contexts = [od.cpu(0), od.cpu(1)]
    alone = fitted(network, drawn, batches, accuracy, context=contexts)
    stored = fitted(network, drawn, batches, accuracy, context=contexts, kvstore=store())
    assert_close(alone.get_params(), stored.get_params())


def test_training_resumed_from_a_checkpoint_equals_training_without_a_break(
    network: Any, drawn: Any, batches_of: Any, accuracy: Any, tmp_path: Path
) -> None:
    batches = batches_of(drawn.data, drawn.labels, 8)
    schedule = {"optimizer": "adam", "optimizer_params": {"learning_rate": 0.05}}
    whole = fitted(network, drawn, batches, accuracy, num_epoch=4, **schedule)
    half = fitted(network, drawn, batches, accuracy, num_epoch=2, **schedule)
    half.save_checkpoint(str(tmp_path / "net"), 2, save_optimizer_states=True)
    resumed = od.mod.Module.load(str(tmp_path / "net"), 2, load_optimizer_states=True)
    resumed.fit(batches, eval_metric=accuracy, begin_epoch=2, num_epoch=4, **schedule)
    assert_same(resumed.get_params(), whole.get_params())


def test_fixed_parameters_stay_and_have_no_gradients(
    network: Any, drawn: Any, batches_of: Any, accuracy: Any
) -> None:
    batches = batches_of(drawn.data, drawn.labels, 8)
    module = fitted(
        network, drawn, batches, accuracy, made_with={"fixed_param_names": ["fc1_weight", "fc1_bias"]}
    )
    found = values(module.get_params())
    for name, first in drawn.params.items():
        assert (found[name] == first.asnumpy()).all() == name.startswith("fc1"), name
    assert module._exec_group.execs[0].grad_dict["fc1_weight"] is None


def test_gradients_are_divided_by_the_batch_unless_told_otherwise(network: Any, drawn: Any) -> None:
    module = od.mod.Module(network, context=[od.cpu(0), od.cpu(1)])
    module.bind([("data", (8, 5))], [("softmax_label", (8,))])
    module.init_params(arg_params=drawn.params)
    module.init_optimizer()
    assert module._optimizer.rescale_grad == 1 / 8
    module.init_optimizer(optimizer_params={"rescale_grad": 0.5}, force_init=True)
    assert module._optimizer.rescale_grad == 0.5


def test_epochs_are_logged_and_called_back(
    network: Any, drawn: Any, batches_of: Any, accuracy: Any, caplog: Any
) -> None:
    batches, seen = batches_of(drawn.data, drawn.labels, 8), list[Any]()
    with caplog.at_level("INFO"):
        fitted(
            network,
            drawn,
            batches,
            accuracy,
            num_epoch=2,
            eval_data=batches,
            batch_end_callback=lambda param: seen.append((param.epoch, param.nbatch)),
            epoch_end_callback=[lambda epoch, symbol, args, aux: seen.append((epoch, sorted(args)))],
            eval_end_callback=lambda param: seen.append(("eval", param.nbatch)),
        )
    names = sorted(drawn.params)
    epochs = [[*((epoch, n) for n in range(3)), (epoch, names), ("eval", 3)] for epoch in range(2)]
    assert seen == [*epochs[0], *epochs[1]]
    words = [record.getMessage().split("=")[0] for record in caplog.records]
    assert words == [
        f"Epoch[{epoch}] {what}"
        for epoch in range(2)
        for what in ("Train-accuracy", "Time cost", "Validation-accuracy")
    ]

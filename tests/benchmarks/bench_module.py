"""A batch of `Module.fit`, beside one of a loop written by hand around the same executor and updater."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import operad as od
from tests.benchmarks.case import Case
from tests.benchmarks.networks import LEARNING_RATE, mlp

BATCHES = 50
_NETWORKS = (
    ("MLP 16-10, batch 8", lambda: mlp((10,)), (8, 16)),
    ("MLP 784-64-64-10, batch 64", lambda: mlp((64, 64, 10)), (64, 784)),
)


class Repeated:
    """The same batch, `BATCHES` times: an iterator that costs nothing."""

    def __init__(self, batch: Any, data: Any, label: Any) -> None:
        self.provide_data, self.provide_label = [data], [label]
        self._batch = batch

    def __iter__(self) -> Iterator[Any]:
        return iter([self._batch] * BATCHES)

    def reset(self) -> None:
        pass


class NoMetric(od.metric.EvalMetric):  # type: ignore[misc]  # of a plugin
    """Looks at nothing."""

    def update_dict(self, label: Any, pred: Any) -> None:
        pass


def cases() -> list[Case]:
    """In microseconds a batch."""
    found = []
    for name, network, shape in _NETWORKS:
        for metric, words in ((NoMetric("none"), "no metric"), (od.metric.Accuracy(), "accuracy")):
            fit, loop = _pair(network(), shape, metric)
            found.append(Case(f"{name}, {words}", fit, operations=BATCHES, peer=loop, peer_name="loop"))
    return found


def _pair(
    net: od.Symbol, shape: tuple[int, ...], metric: Any
) -> tuple[Callable[[], None], Callable[[], None]]:
    """An epoch by `fit`, and one by hand; both bind before."""
    rng = np.random.default_rng(0)
    data = od.nd.array(rng.random(shape))
    label = od.nd.array(rng.integers(0, 10, shape[0]))
    described = od.io.DataDesc("data", shape), od.io.DataDesc("softmax_label", shape[:1])
    batches = Repeated(od.io.DataBatch([data], [label]), *described)
    silent = logging.getLogger("operad.benchmark")
    silent.setLevel(logging.CRITICAL)
    module = od.mod.Module(net, logger=silent)

    def fit() -> None:
        module.fit(
            batches, num_epoch=1, eval_metric=metric, optimizer_params={"learning_rate": LEARNING_RATE}
        )
        od.waitall()

    fit()
    executor = net.simple_bind(od.cpu(), data=shape)
    executor.copy_params_from(module.get_params()[0])
    names = [name for name in executor.arg_dict if name not in ("data", "softmax_label")]
    numbers = list(range(len(names)))
    weights, grads = ([each[name] for name in names] for each in (executor.arg_dict, executor.grad_dict))
    sgd = od.optimizer.SGD(learning_rate=LEARNING_RATE, rescale_grad=1 / shape[0])
    updater = od.optimizer.get_updater(sgd)
    of_data, of_label = executor.arg_dict["data"], executor.arg_dict["softmax_label"]

    def loop() -> None:
        metric.reset()
        for _ in range(BATCHES):
            data.copyto(of_data)
            label.copyto(of_label)
            executor.forward(is_train=True)
            executor.backward()
            updater(numbers, grads, weights)
            metric.update_dict({"softmax_label": label}, executor.output_dict)
        od.waitall()

    return fit, loop

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import operad as od
from core.tests.conftest import each_engine, operators, two_threads  # noqa: F401 - fixtures


class Batches:
    """Batches of arrays in order; the last one is filled up from the beginning."""

    def __init__(self, data: Any, labels: Any, size: int, bucket_key: Any = None) -> None:
        self.data, self.labels, self.size, self.bucket_key = data, labels, size, bucket_key
        self.provide_data = [("data", (size, *data.shape[1:]))]
        self.provide_label = [("softmax_label", (size,))]

    def reset(self) -> None:
        """Nothing to do: iteration starts over."""

    def __iter__(self) -> Iterator[Any]:
        for begin in range(0, len(self.data), self.size):
            rows = np.arange(begin, begin + self.size) % len(self.data)
            yield SimpleNamespace(
                data=[od.nd.array(self.data[rows])],
                label=[od.nd.array(self.labels[rows])],
                pad=max(0, begin + self.size - len(self.data)),
                bucket_key=self.bucket_key,
                provide_data=self.provide_data,
                provide_label=self.provide_label,
            )


class StoppedError(Exception):
    """Ends training where a test wants it."""


def stop_at(epoch: int, nbatch: int) -> Callable[[Any], None]:
    def stop(param: Any) -> None:
        if (param.epoch, param.nbatch) == (epoch, nbatch):
            raise StoppedError

    return stop


def gone_on(fit: Callable[..., Any], checkpoint: Any, epoch: int = 1, nbatch: int = 1) -> Any:
    """What `fit` gives that goes on from a checkpoint after training was stopped there."""
    with pytest.raises(StoppedError):
        fit(checkpoint=checkpoint, resume=True, batch_end_callback=stop_at(epoch, nbatch))
    return fit(checkpoint=checkpoint, resume=True)


class Accuracy:
    """How many rows have their largest output where the label is."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.right, self.count = 0, 0

    def update_dict(self, labels: Any, preds: Any) -> None:
        (label,), (pred,) = labels.values(), preds.values()
        self.right += int((pred.asnumpy().argmax(1) == label.asnumpy()).sum())
        self.count += len(label)

    def get_name_value(self) -> list[tuple[str, float]]:
        return [("accuracy", self.right / self.count if self.count else float("nan"))]


@pytest.fixture
def accuracy() -> Accuracy:
    return Accuracy()


@pytest.fixture
def batches_of() -> Callable[..., Batches]:
    return Batches


@pytest.fixture
def network() -> od.Symbol:
    """Two layers whose second learns at half the rate, as `mxnet/record.py` has them."""
    hidden = od.sym.FullyConnected(od.sym.var("data"), num_hidden=6, name="fc1")
    hidden = od.sym.Activation(hidden, act_type="tanh", name="act")
    weight = od.sym.var("fc2_weight", lr_mult=0.5)
    scores = od.sym.FullyConnected(hidden, weight=weight, num_hidden=3, name="fc2")
    return od.sym.SoftmaxOutput(scores, name="softmax")


@pytest.fixture
def drawn() -> SimpleNamespace:
    """Parameters, data and labels, as `mxnet/record.py` draws them."""
    shapes = {"fc1_weight": (6, 5), "fc1_bias": (6,), "fc2_weight": (3, 6), "fc2_bias": (3,)}
    rng = np.random.RandomState(7)
    params = {name: od.nd.array(rng.uniform(-0.5, 0.5, shape)) for name, shape in shapes.items()}
    data, labels = rng.randn(24, 5).astype("float32"), rng.randint(0, 3, 24).astype("float32")
    return SimpleNamespace(params=params, data=data, labels=labels)

"""Training that is saved with one kind of store goes on with another, as if that had been there all along."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import FormatError


class SumsOnly:
    """A store that moves no weights."""

    type = "sums"

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """Nothing to do: the weights are equal from the start."""

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        total = sum(one.asnumpy() for one in value)
        for one in value:
            one[:] = total


class OneOf(od.kvstore.KVStore):  # type: ignore[misc]
    """A store of one process that stands for one of several workers."""

    def __init__(self, num_workers: int) -> None:
        super().__init__("local")
        self._num_workers = num_workers

    @property
    def num_workers(self) -> int:
        return self._num_workers

    def state_dict(self) -> dict[str, Any]:
        return {"rank": 0, "num_workers": self._num_workers, "residuals": []}

    def load_state_dict(self, state: Any) -> None:
        """Nothing to do: it keeps nothing."""


KINDS: dict[str, tuple[Callable[[], Any], int]] = {
    "no store": (lambda: None, 1),
    "sums only": (SumsOnly, 2),
    "local": (lambda: "local", 2),
    "device": (lambda: "device", 2),
    "a device's, one context": (lambda: od.kvstore.create("device"), 1),
    "one worker of one": (lambda: OneOf(1), 1),
}
"""What makes each, and the number of contexts."""


def train(network: Any, drawn: Any, kind: str | Any, num_epoch: int = 3, **given: Any) -> dict[str, Any]:
    """Train with a kind of store, for so many epochs; gives the weights."""
    make, num_contexts = KINDS[kind] if isinstance(kind, str) else (kind, 1)
    batches = od.io.NDArrayIter(drawn.data, drawn.labels, 8, shuffle=True, seed=3)
    contexts = [od.cpu(i) for i in range(num_contexts)]
    module = od.mod.Module(network, context=contexts, compression_params=given.pop("compression", None))
    # The rate falls with the counts of updates, and Adam's steps depend on them, so they must be right too.
    rate = {"learning_rate": 0.1, "lr_scheduler": od.lr_scheduler.FactorScheduler(2, 0.5)}
    options = {"optimizer": "adam", "optimizer_params": rate, "arg_params": drawn.params, **given}
    module.fit(batches, num_epoch=num_epoch, kvstore=make(), **options)
    return values(module)


def values(module: Any) -> dict[str, Any]:
    return {name: array.asnumpy() for name, array in module.get_params()[0].items()}


def assert_same(left: dict[str, Any], right: dict[str, Any]) -> None:
    for name, value in left.items():
        np.testing.assert_allclose(value, right[name], rtol=1e-4, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("before", KINDS)
def test_training_goes_on_with_every_other_kind_of_store(
    network: Any, drawn: Any, tmp_path: Path, before: str
) -> None:
    whole = train(network, drawn, before)
    train(network, drawn, before, num_epoch=1, checkpoint=od.callback.Checkpoint(tmp_path / "net"))
    for after in KINDS:
        assert_same(train(network, drawn, after, resume=str(tmp_path / "net")), whole)


@pytest.mark.parametrize("before", ["no store", "local"])
def test_states_in_a_file_of_their_own_go_on_with_every_kind_of_store(
    network: Any, drawn: Any, tmp_path: Path, before: str
) -> None:
    prefix = str(tmp_path / "net")

    def trained(kind: str, module: Any = None, begin_epoch: int = 0, num_epoch: int = 2) -> Any:
        make, num_contexts = KINDS[kind]
        contexts = [od.cpu(i) for i in range(num_contexts)]
        own = module(context=contexts) if module else od.mod.Module(network, context=contexts)
        own.fit(
            od.io.NDArrayIter(drawn.data, drawn.labels, 8), begin_epoch=begin_epoch, num_epoch=num_epoch,
            kvstore=make(), arg_params=None if module else drawn.params, optimizer="adam",
        )  # fmt: skip
        return own

    whole = values(trained(before))
    trained(before, num_epoch=1).save_checkpoint(prefix, 1, save_optimizer_states=True)
    for after in KINDS:
        load = partial(od.mod.Module.load, prefix, 1, load_optimizer_states=True)
        assert_same(values(trained(after, load, begin_epoch=1)), whole)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (lambda: OneOf(2), "no store", "was written by one of 2 workers, and this job has 1; start 2"),
        ("no store", lambda: OneOf(2), "was written by one of 1 workers, and this job has 2; start 1"),
        (lambda: OneOf(2), "local", "was written by one of 2 workers, and this job has 1; start 2"),
    ],
)
def test_another_number_of_workers_is_refused(
    network: Any, drawn: Any, tmp_path: Path, before: Any, after: Any, message: str
) -> None:
    train(network, drawn, before, num_epoch=1, checkpoint=od.callback.Checkpoint(tmp_path / "net"))
    with pytest.raises(FormatError, match=f"net-0001.resume' does not fit this program: it {message}"):
        train(network, drawn, after, resume=str(tmp_path / "net"))


@pytest.mark.parametrize("after", ["no store", "local", "device"])
def test_what_compression_has_held_back_is_not_dropped(
    network: Any, drawn: Any, tmp_path: Path, after: str
) -> None:
    compression = {"type": "2bit", "threshold": 0.1}
    checkpoint = od.callback.Checkpoint(tmp_path / "net")
    train(network, drawn, "device", num_epoch=1, checkpoint=checkpoint, compression=compression)
    with pytest.raises(
        FormatError, match=r"(residuals|held back).*; give the same kvstore and compression_params"
    ):
        train(network, drawn, after, resume=str(tmp_path / "net"))


@pytest.mark.parametrize("kind", ["no store", "local"])
def test_states_of_what_is_no_parameter_are_refused_by_name(
    network: Any, drawn: Any, tmp_path: Path, kind: str
) -> None:
    other = od.sym.FullyConnected(od.sym.var("data"), num_hidden=3, name="fc9")
    make, num_contexts = KINDS["local"]
    module = od.mod.Module(od.sym.SoftmaxOutput(other, name="softmax"), context=[od.cpu(0), od.cpu(1)])
    batches = od.io.NDArrayIter(drawn.data, drawn.labels, 8)
    module.fit(batches, num_epoch=1, kvstore=make(), optimizer="adam")
    module.save_checkpoint(str(tmp_path / "net"), 1, save_optimizer_states=True)
    make, num_contexts = KINDS[kind]
    own = od.mod.Module(network, context=[od.cpu(i) for i in range(num_contexts)])
    own.bind(batches.provide_data, batches.provide_label)
    own.init_params()
    own.init_optimizer(make(), "adam")
    with pytest.raises(FormatError, match=r"state of 'fc9_\w+', expected the 4 parameters fc1_weight, "):
        own.load_optimizer_states(str(tmp_path / "net-0001.states"))

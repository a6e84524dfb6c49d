"""Hybridized steps have the bits of the first ones, whatever changes between them."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from operad.gluon import nn

import operad as od
from operad import autograd, gluon, nd


class Fresh:
    """A network that is trained, beside one for which whatever is kept is dropped before each step."""

    def __init__(self, recurrent: bool, **options: Any) -> None:
        self.nets, self.trainers = [], []
        self.loss = gluon.loss.SoftmaxCrossEntropyLoss()
        self.loss.hybridize()
        for _ in range(2):
            od.random.seed(5)
            net = nn.HybridSequential()
            if recurrent:
                net.add(gluon.rnn.LSTM(16, layout="NTC"))
            net.add(nn.Dense(12, activation="relu"), nn.Dense(4))
            net.initialize(od.init.Xavier())
            net.hybridize()
            net(nd.ones((2, 3, 5) if recurrent else (2, 5)))
            self.nets.append(net)
            self.trainers.append(gluon.Trainer(net.collect_params(), "sgd", {"momentum": 0.9, **options}))
        self.recurrent, self.rng = recurrent, np.random.RandomState(1)

    def each(self, change: Any) -> None:
        for net, trainer in zip(self.nets, self.trainers, strict=True):
            change(net, trainer)

    def step(self, rows: int = 16, times: int = 1) -> None:
        data = self.rng.randn(*((rows, 3, 5) if self.recurrent else (rows, 5)))
        label = nd.array(np.arange(rows) % 4)
        self.nets[1].hybridize()  # compiled anew
        self.trainers[1]._updaters[0]._together.__init__()
        for net, trainer in zip(self.nets, self.trainers, strict=True):
            with autograd.record():
                loss = self.loss(net(nd.array(data)), label)
            for _ in range(times - 1):
                loss.backward(retain_graph=True)
            loss.backward()
            trainer.step(rows)
        self.check()

    def check(self) -> None:
        one, other = (
            [(p.data().asnumpy().tobytes(), p.grad_req == "null" or p.grad().asnumpy().tobytes()) for p in ps]
            for ps in ([*net.collect_params().values()] for net in self.nets)
        )
        assert one == other


@pytest.mark.more
@pytest.mark.parametrize("recurrent", [False, True])
def test_whatever_changes_steps_have_the_bits_of_new_ones(recurrent: bool, tmp_path: Any) -> None:
    pair = Fresh(recurrent, learning_rate=0.1)

    def weights(net: Any) -> list[Any]:
        return [p for name, p in net.collect_params().items() if name.endswith("weight")]

    def load(net: Any, trainer: Any) -> None:
        trainer.save_states(str(tmp_path / "states"))
        trainer.load_states(str(tmp_path / "states"))

    for rows in (16, 16, 16, 7, 16, 1, 7):
        pair.step(rows)
    for change in (
        lambda net, trainer: trainer.set_learning_rate(0.05),
        lambda net, trainer: setattr(weights(net)[0], "lr_mult", 0.5),
        lambda net, trainer: setattr(weights(net)[-1], "wd_mult", 0.0),
        lambda net, trainer: setattr(trainer.optimizer, "wd", 0.01),
        lambda net, trainer: setattr(trainer.optimizer, "momentum", 0.5),
        lambda net, trainer: setattr(weights(net)[0], "grad_req", "null"),
        lambda net, trainer: setattr(weights(net)[0], "grad_req", "write"),
        load,
        lambda net, trainer: [setattr(p, "grad_req", "add") for p in weights(net)],
    ):
        pair.each(change)
        for _ in range(3):
            pair.step()
    pair.step(times=3)
    pair.step()


def test_an_error_between_steps_leaves_the_next_one_whole() -> None:
    pair = Fresh(False, learning_rate=0.1)
    for _ in range(3):
        pair.step()
    for net in pair.nets:
        with autograd.record():
            loss = pair.loss(net(nd.ones((16, 5))), nd.zeros(16))
        net[1].weight.set_data(net[1].weight.data() * 1)  # which the gradient of its input reads
        with pytest.raises(od.errors.GradientError, match="overwritten"):
            loss.backward()
    pair.step()


def test_threads_train_networks_of_one_kind_side_by_side() -> None:
    pairs, wrong = [Fresh(False, learning_rate=0.1) for _ in range(2)], []

    def train(pair: Fresh) -> None:
        try:
            for _ in range(4):
                pair.step()
        except BaseException as error:
            wrong.append(error)
            raise

    threads = [threading.Thread(target=train, args=(pair,)) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong

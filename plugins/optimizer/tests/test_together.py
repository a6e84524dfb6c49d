"""Updates of several weights as one operation: the bits of calls one by one, whatever changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import operad as od

SHAPES = ((64, 64), (64,), (3, 5), (90, 90), (300, 300), (1,))
"""Weights that NumPy moves, others that vector code does, and one that is an operation of its own."""


@pytest.fixture
def pushed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of weights of each operation."""
    found: list[int] = []
    push: Any = od.imperative.execute

    def execute(function: Any, args: Any, *rest: Any, **options: Any) -> None:
        found.append(len(args[0]))
        push(function, args, *rest, **options)

    monkeypatch.setattr("operad_optimizer.together.execute", execute)
    return found


class Pair:
    """Two updaters of equal weights: one is given all of them, the other one by one."""

    def __init__(self, name: str, shapes: Sequence[tuple[int, ...]] = SHAPES, **arguments: Any) -> None:
        rng = np.random.RandomState(0)
        values = [rng.randn(*shape).astype("float32") for shape in shapes]
        self.made = [od.optimizer.create(name, **arguments) for _ in range(2)]
        self.updaters = [od.optimizer.get_updater(one) for one in self.made]
        self.weights = [[od.nd.array(value) for value in values] for _ in range(2)]
        self.grads = [[od.nd.zeros(shape) for shape in shapes] for _ in range(2)]
        self._rng = rng

    def each(self, change: Callable[[Any], object]) -> None:
        for optimizer in self.made:
            change(optimizer)

    def step(self, indices: Sequence[int] = range(len(SHAPES))) -> None:
        """Move some weights, whose bits are then compared with those of calls one by one."""
        for grads in zip(*self.grads, strict=True):
            value = self._rng.randn(*grads[0].shape)
            for grad in grads:
                grad[:] = value
        chosen = [[one[i] for i in indices] for one in (*self.grads, *self.weights)]
        self.updaters[0](list(indices), chosen[0], chosen[2])
        for index, grad, weight in zip(indices, chosen[1], chosen[3], strict=True):
            self.updaters[1](index, grad, weight)
        self.check()

    def check(self) -> None:
        assert bits(self.weights[0]) == bits(self.weights[1])
        assert bits(self.updaters[0].states) == bits(self.updaters[1].states)
        assert self.made[0]._index_update_count == self.made[1]._index_update_count


def bits(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: bits(value) for key, value in found.items()}
    if isinstance(found, (list, tuple)):
        return [bits(each) for each in found]
    return None if found is None else found.asnumpy().tobytes()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("sgd", {}), ("sgd", {"momentum": 0.9}), ("sgd", {"momentum": 0.9, "wd": 0.1, "clip_gradient": 0.5}),
        ("nag", {"momentum": 0.9}), ("signum", {}), ("adam", {"wd": 0.01}), ("rmsprop", {}), ("ftrl", {}),
        ("ftml", {}), ("adagrad", {}), ("adadelta", {}),
    ],
)  # fmt: skip
def test_steps_have_the_bits_of_calls_one_by_one(name: str, arguments: dict[str, Any]) -> None:
    pair = Pair(name, **arguments)
    for _ in range(3):
        pair.step()


def test_numbers_count_from_the_step_in_which_they_change(pushed: list[int]) -> None:
    pair = Pair("sgd", momentum=0.9, wd=0.0, learning_rate=0.1)

    def set_rate(rate: float) -> Callable[[Any], object]:
        return lambda optimizer: optimizer.set_learning_rate(rate)

    changes: list[Callable[[Any], object]] = [
        set_rate(0.05), set_rate(0.0), set_rate(-0.0), set_rate(1),
        lambda optimizer: optimizer.set_lr_mult({1: 0.5, 3: 0.0}),
        lambda optimizer: setattr(optimizer, "wd", 0.25), lambda optimizer: optimizer.set_wd_mult({0: 2.0}),
        lambda optimizer: setattr(optimizer, "momentum", 0.5),
        lambda optimizer: setattr(optimizer, "rescale_grad", np.float32(0.125)),
        lambda optimizer: setattr(optimizer, "clip_gradient", 0.25),
        lambda optimizer: setattr(optimizer, "lr_scheduler", od.lr_scheduler.FactorScheduler(2, 0.5)),
        lambda optimizer: None, lambda optimizer: None,
    ]  # fmt: skip
    pair.step()
    for change in changes:
        pair.each(change)
        pair.step()
    assert pushed[:2] == [4, 1]  # 12,259 elements, then 90,000, then one more
    assert len(pushed) == 3 * (1 + len(changes))


def test_arrays_count_from_the_step_in_which_they_change(pushed: list[int]) -> None:
    pair = Pair("sgd", momentum=0.9)
    pair.step()
    pair.step([0, 2, 4])
    pair.step()
    for weights, grads, updater in zip(pair.weights, pair.grads, pair.updaters, strict=True):
        weights[0] = weights[0] * 1
        grads[1] = grads[1] * 1
        updater.set_states(updater.get_states())
    pair.step()
    base = [od.nd.zeros((4, 64)) for _ in range(2)]
    for weights, grads, whole in zip(pair.weights, pair.grads, base, strict=True):
        weights[1] = whole[2]  # a part of an array
        grads[3] = grads[3].T  # still the same values in both
    pair.step()
    assert bits(base[0]) == bits(base[1])
    assert len(pushed) == 3 + 2 + 3 + 3 + 3


def test_weights_that_share_memory_move_one_after_another(pushed: list[int]) -> None:
    pair = Pair("sgd", [(8,), (8,), (8,)])
    for weights, grads in zip(pair.weights, pair.grads, strict=True):
        whole = od.nd.zeros((2, 8))
        weights[0], weights[1] = whole[0], whole[1]
        grads[2] = weights[2]  # its own gradient
    pair.step(range(3))
    pair.step(range(3))
    assert pushed == []


def test_what_is_recorded_is_moved_by_calls(pushed: list[int]) -> None:
    weights, grads = ([od.nd.ones(2) for _ in range(2)] for _ in range(2))
    updater = od.optimizer.get_updater(od.optimizer.create("sgd", learning_rate=1.0))
    with od.autograd.record():
        updater([0, 1], grads, weights)
    assert [weight.asnumpy().tolist() for weight in weights] == [[0, 0]] * 2
    assert pushed == []


def test_weights_whose_gradients_are_still_computed_move_when_these_are_there(pushed: list[int]) -> None:
    weights, grads = ([od.nd.ones(2) for _ in range(2)] for _ in range(2))
    goes_on = threading.Event()

    def compute(_: object) -> None:
        goes_on.wait()
        for grad in grads:
            grad._data[:] = 3

    od.engine.get().push_sync(compute, od.cpu(), (), [x._chunk.var for x in grads], name="held")
    updater = od.optimizer.get_updater(od.optimizer.create("sgd", learning_rate=1.0))
    try:
        updater([0, 1], grads, weights)
        updater.optimizer.set_learning_rate(2.0)
        updater([0, 1], grads, weights)
    finally:
        goes_on.set()
    assert [weight.asnumpy().tolist() for weight in weights] == [[1 - 3 - 6] * 2] * 2
    assert pushed == [2, 2]


def test_a_failure_is_raised_where_a_weight_is_read_and_a_later_step_is_whole() -> None:
    weights, grads = ([od.nd.ones(2) for _ in range(2)] for _ in range(2))
    updater = od.optimizer.get_updater(od.optimizer.create("sgd", learning_rate=1.0))

    def fail(_: object) -> None:
        raise ZeroDivisionError("no gradient")

    od.engine.get().push_sync(fail, od.cpu(), (), (grads[1]._chunk.var,), name="failing")
    updater([0, 1], grads, weights)
    for weight in weights:
        with pytest.raises(ZeroDivisionError, match="no gradient"):
            weight.asnumpy()
    for array in (*weights, *grads):
        array[:] = 1
    updater([0, 1], grads, weights)
    assert [weight.asnumpy().tolist() for weight in weights] == [[0, 0]] * 2


def test_a_rate_that_is_no_number_is_refused_and_moves_nothing() -> None:
    pair = Pair("sgd", [(3,), (4,)], momentum=0.5)
    pair.step(range(2))
    pair.each(lambda optimizer: setattr(optimizer, "lr", "fast"))
    before = bits(pair.weights[0])
    with pytest.raises((od.errors.ParamError, TypeError)):
        pair.updaters[0]([0, 1], *[one[0] for one in (pair.grads, pair.weights)])
    assert bits(pair.weights[0]) == before

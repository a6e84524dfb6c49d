from __future__ import annotations

import pickle
import random
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import FormatError, ParamError
from operad_optimizer.base import Index, Optimizer, register

ALL = ["sgd", "nag", "signum", "adam", "rmsprop", "ftrl", "ftml", "lamb"]
CLASSES = [
    *("AdaDelta", "AdaGrad", "Adam", "Adamax", "DCASGD", "FTML", "Ftrl", "GroupAdaGrad", "LAMB", "LARS"),
    *("LBSGD", "NAG", "Nadam", "RMSProp", "SGD", "SGLD", "Signum", "Test", "ccSGD"),
]
OF_ARRAYS = ["adadelta", "adagrad", "adamax", "dcasgd", "lars", "lbsgd", "nadam"]


def trained(optimizer: Any, steps: int = 3, dtype: str = "float32") -> Any:
    weight = od.nd.array([1.0, -2.0, 3.0], dtype=dtype)
    update = od.optimizer.get_updater(optimizer)
    for _ in range(steps):
        update(0, weight, weight)
    return weight.asnumpy()


@pytest.mark.parametrize("name", [*ALL, *OF_ARRAYS, "ccsgd"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_optimizer_goes_downhill(name: str, dtype: str) -> None:
    weight = trained(od.optimizer.create(name, learning_rate=0.05), 20, dtype)
    assert weight.dtype == dtype
    assert (np.abs(weight) < [1, 2, 3]).all()


@pytest.mark.parametrize("name", [*ALL, *OF_ARRAYS])
def test_training_goes_on_from_saved_states_as_if_never_interrupted(name: str) -> None:
    weight = od.nd.array([1.0, -2.0, 3.0])
    update = od.optimizer.get_updater(od.optimizer.create(name, learning_rate=0.05, wd=0.1))
    for _ in range(3):
        update("w", weight, weight)
    resumed = od.optimizer.get_updater(od.optimizer.create(name))
    resumed.set_states(update.get_states(dump_optimizer=True))
    copy = weight.copy()
    for _ in range(2):
        update("w", weight, weight)
        resumed("w", copy, copy)
    np.testing.assert_array_equal(copy.asnumpy(), weight.asnumpy())


@pytest.mark.parametrize("content", [b"", b"\x80\x04N.", b"operad updater states 1\n" + b"\xff" * 8])
def test_bytes_that_are_no_states_are_refused(content: bytes) -> None:
    with pytest.raises(FormatError, match="set_states"):
        od.optimizer.get_updater(od.optimizer.SGD()).set_states(content)


def test_states_that_are_cut_short_are_refused() -> None:
    update = od.optimizer.get_updater(od.optimizer.SGD(momentum=0.9))
    weight = od.nd.array([1.0])
    update(0, weight, weight)
    content = update.get_states()
    for length in range(len(content)):
        with pytest.raises(FormatError):
            update.set_states(content[:length])


@pytest.mark.parametrize("name", [*ALL, *OF_ARRAYS])
def test_half_precision_trains_through_a_single_precision_copy(name: str) -> None:
    weight = od.nd.array([1.0, -2.0], dtype="float16")
    update = od.optimizer.get_updater(od.optimizer.create(name, learning_rate=0.01, multi_precision=True))
    update(0, weight, weight)
    assert update.states[0][1].dtype == np.float32
    np.testing.assert_array_equal(update.states[0][1].asnumpy().astype("float16"), weight.asnumpy())


def test_adam_corrects_the_bias_of_its_averages() -> None:
    weight = trained(od.optimizer.Adam(learning_rate=0.1), 1)
    np.testing.assert_allclose(weight, [0.9, -1.9, 2.9], rtol=1e-5)


def test_several_weights_may_be_given_at_once() -> None:
    weights = [od.nd.array([1.0]), od.nd.array([2.0])]
    od.optimizer.get_updater(od.optimizer.SGD(learning_rate=0.5))([0, 1], weights, weights)
    assert [weight.asscalar() for weight in weights] == [0.5, 1.0]


def test_multipliers_hold_by_index_by_name_and_by_symbol() -> None:
    symbol = od.sym.Group([od.sym.var("a_weight", lr_mult=0.5), od.sym.var("b_weight", wd_mult=2.0)])
    names = {0: "a_weight", 1: "b_weight", 2: "c_bias"}
    optimizer = od.optimizer.SGD(learning_rate=1.0, wd=0.1, sym=symbol, param_idx2name=names)
    assert [optimizer._get_lr(i) for i in range(3)] == [0.5, 1.0, 1.0]
    assert [optimizer._get_wd(i) for i in range(3)] == [0.1, 0.2, 0.0]
    optimizer.set_lr_mult({"b_weight": 0.1, 2: 0.2})
    assert [optimizer._get_lr(i) for i in range(3)] == [0.5, 0.1, 0.2]


def test_a_scheduler_decides_the_rate_by_the_number_of_updates() -> None:
    schedule = od.lr_scheduler.FactorScheduler(step=1, factor=0.5)
    optimizer = od.optimizer.SGD(learning_rate=1.0, lr_scheduler=schedule)
    trained(optimizer, 3)
    assert (optimizer.num_update, optimizer.learning_rate) == (3, 0.25)
    with pytest.raises(ParamError, match="scheduler"):
        optimizer.set_learning_rate(0.1)


@pytest.mark.parametrize("name", ALL)
def test_a_rate_that_changes_with_every_step_makes_no_new_operator(name: str, made: list[str]) -> None:
    schedule = od.lr_scheduler.FactorScheduler(step=1, factor=0.9)
    rate = 0.01 + 0.01 * ALL.index(name)  # of this test alone: SGD and NAG share an operator
    optimizer = od.optimizer.create(name, learning_rate=rate, lr_scheduler=schedule)
    trained(optimizer, 1)
    made.clear()
    trained(optimizer, 3)
    assert made == []


def test_the_rate_can_be_changed() -> None:
    optimizer = od.optimizer.SGD(learning_rate=1.0)
    optimizer.set_learning_rate(0.1)
    assert optimizer.learning_rate == 0.1


def test_create_suggests_a_name() -> None:
    with pytest.raises(ParamError, match="did you mean 'adam'"):
        od.optimizer.create("adm")


def test_create_returns_an_optimizer_as_it_is() -> None:
    optimizer = od.optimizer.SGD()
    assert od.optimizer.create(optimizer) is optimizer


def test_a_registered_optimizer_is_created_by_name() -> None:
    @register
    class Halving(Optimizer):
        def create_state(self, index: Index, weight: Any) -> Any:
            return None

        def step(self, index: Index, weight: Any, grad: Any, state: Any) -> None:
            weight[:] = weight.asnumpy() / 2

    np.testing.assert_array_equal(trained(od.optimizer.create("halving"), 1), [0.5, -1.0, 1.5])


class OfMXNet(Optimizer):
    """Momentum, written as a program of MXNet writes it."""

    def create_state(self, index: Index, weight: Any) -> Any:
        return od.nd.zeros(weight.shape, dtype=weight.dtype)

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        self._update_count(index)
        grad = grad * self.rescale_grad + self._get_wd(index) * weight
        state[:] = 0.9 * state - self._get_lr(index) * grad / self._index_update_count[index]
        weight[:] += state


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_subclass_with_a_method_update_of_its_own_trains(dtype: str) -> None:
    optimizer = OfMXNet(learning_rate=0.1, wd=0.1, rescale_grad=0.5, multi_precision=True)
    weight, last = np.array([1.0, -2.0, 3.0]), np.zeros(3)
    for count in (1, 2, 3):
        last = 0.9 * last - 0.1 * 0.6 * weight / count
        weight = weight + last
    np.testing.assert_allclose(trained(optimizer, 3, dtype), weight, rtol=2e-3)
    assert (optimizer.num_update, optimizer._index_update_count) == (3, {0: 3})


def test_a_subclass_that_says_nothing_is_named() -> None:
    with pytest.raises(NotImplementedError, match="Optimizer does not say how a weight moves"):
        trained(Optimizer())


def test_every_class_of_mxnet_is_created_by_name_and_imported_by_module() -> None:
    for name in CLASSES:
        assert type(Optimizer.create_optimizer(name)) is getattr(od.optimizer.optimizer, name)
        assert Optimizer.opt_registry[name.lower()] is getattr(od.optimizer, name)


def test_devices_count_their_updates_apart() -> None:
    optimizer = od.optimizer.SGD()
    for device, times in ((0, 2), (1, 1), (0, 1)):
        optimizer._set_current_context(device)
        for _ in range(times):
            optimizer._update_count("w")
    assert (optimizer._index_update_count, optimizer.num_update) == ({"w": 3}, 3)
    optimizer._set_current_context(1)
    assert optimizer._index_update_count == {"w": 1}


def with_text(described: str) -> bytes:
    content = b"operad updater states 1\n" + len(described).to_bytes(8, "little") + described.encode()
    return content + od.nd.dumps([od.nd.ones((2,)), od.nd.ones((2,))])


GOOD = '{"states": [[0, 0], ["w", [1, null]]], "counts": {"num_update": 3, "index_update_count": [[0, 3]]}}'


def test_states_that_are_described_well_are_taken() -> None:
    update = od.optimizer.get_updater(od.optimizer.SGD())
    update.set_states(with_text(GOOD))
    assert list(update.states) == [0, "w"]
    assert update.optimizer.num_update == 3


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[0, 0]", "[0, 1]"), ("[0, 0]", "[0, -1]"), ("[0, 0]", "[0, true]"), ("[0, 0]", "[[0], 0]"),
        ("[0, 0]", "[null, 0]"), ("[0, 0]", "[0.0, 0]"), ("[0, 0]", "[0]"), ("[0, 0]", "7"),
        ("[1, null]", "[0]"),
        ("[1, null]", "null"), ("[1, null]", '{"a": 1}'), ("[1, null]", "[1, 1]"), ('"states"', '"stages"'),
        ('"counts"', '"count"'), ('"num_update"', '"num_updates"'), ('"num_update": 3', '"num_update": -3'),
        ('"num_update": 3', '"num_update": 1e9'), ('"num_update": 3', '"num_update": NaN'),
        ("[[0, 3]]", "[[0]]"),
        ('"num_update": 3', '"num_update": true'), ("[[0, 3]]", "[[0, null]]"), ("[[0, 3]]", "3"),
        ("[[0, 3]]", "[[[], 3]]"), ("[[0, 3]]", '[[0, 3]], "settings": 7'), ("[[0, 3]]}}", "[[0, 3]]"),
        ("[[0, 3]]", '[[0, 3]], "settings": {"lr": "fast"}'),
        ("[[0, 3]]", '[[0, 3]], "settings": {"lr": [1]}'),
    ],
)  # fmt: skip
def test_states_that_are_described_wrongly_are_refused_and_change_nothing(old: str, new: str) -> None:
    assert old in GOOD
    update = od.optimizer.get_updater(od.optimizer.SGD())
    with pytest.raises(FormatError, match="set_states"):
        update.set_states(with_text(GOOD.replace(old, new)))
    assert (update.states, update.optimizer.num_update, update.optimizer.lr) == ({}, 0, 0.01)


def test_settings_that_no_optimizer_has_are_passed_over() -> None:
    update = od.optimizer.get_updater(od.optimizer.SGD())
    update.set_states(with_text(GOOD.replace("[[0, 3]]", '[[0, 3]], "settings": {"lr": 2, "__class__": 1}')))
    assert update.optimizer.lr == 2
    assert type(update.optimizer) is od.optimizer.SGD


@pytest.mark.walk
@pytest.mark.parametrize("seed", range(300))
def test_flipped_bits_are_refused_or_change_numbers_alone(seed: int) -> None:
    update = od.optimizer.get_updater(od.optimizer.SGD(momentum=0.9))
    update(0, od.nd.ones((3,)), od.nd.ones((3,)))
    content, draw = bytearray(update.get_states()), random.Random(seed)
    for _ in range(2):
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    with suppress(FormatError):
        update.set_states(bytes(content))
        assert type(update.optimizer.num_update) is int
        update(next(iter(update.states)), od.nd.ones((3,)), od.nd.ones((3,)))


def test_states_whose_weights_go_by_other_indices_are_the_same_states() -> None:
    by_number, by_name = (od.optimizer.get_updater(od.optimizer.Adam()) for _ in range(2))
    weights = [od.nd.ones(3), od.nd.ones(3)]
    for number in (0, 1, 1):
        by_number(number, od.nd.ones(3), weights[0].copy())
    states = by_number.get_states(dump_optimizer=True)
    by_name.set_states(od.optimizer.rename_states(states, {0: "a", 1: "b"}.__getitem__))
    for number, name in enumerate("ab"):
        by_number(number, od.nd.ones(3), weights[0])
        by_name(name, od.nd.ones(3), weights[1])
        assert np.array_equal(weights[0].asnumpy(), weights[1].asnumpy())


def test_states_that_mxnet_pickled_are_refused_by_name() -> None:
    updater = od.optimizer.get_updater(od.optimizer.SGD(momentum=0.9))
    with pytest.raises(od.errors.FormatError, match="a pickle, as MXNet writes, is not read"):
        updater.set_states(pickle.dumps({0: None}))

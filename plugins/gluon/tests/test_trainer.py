from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from operad.gluon import nn

import operad as od
from operad import autograd, gluon, nd

PLACES = [od.cpu(0), od.cpu(1)]


def trained(places: Any = PLACES, shape: tuple[int, ...] = (3,), **kwargs: Any) -> Any:
    """A parameter of zeros, and its trainer with momentum."""
    param = gluon.Parameter("x", shape=shape)
    param.initialize(od.init.Zero(), ctx=places)
    options = {"learning_rate": 1.0, "momentum": 0.5}
    return param, gluon.Trainer([param], "sgd", options, **kwargs)


def backward(param: Any) -> None:
    with autograd.record():
        losses = [(x + 1).sum() for x in param.list_data()]
    autograd.backward(losses)


@pytest.mark.parametrize(
    "kwargs",
    [{}, {"update_on_kvstore": False}, {"kvstore": "local"}, {"compression_params": {"type": "2bit"}}],
)
def test_contexts_share_the_sum_of_their_gradients(kwargs: dict[str, Any]) -> None:
    param, trainer = trained(**kwargs)
    for expected in (-2, -5):
        backward(param)
        trainer.step(1)
        if "compression_params" not in kwargs:
            assert [x.asnumpy().tolist() for x in param.list_data()] == [[expected] * 3] * 2
    first, second = (x.asnumpy() for x in param.list_data())
    np.testing.assert_array_equal(first, second)


def test_without_a_store_each_context_goes_its_own_way() -> None:
    param, trainer = trained(kvstore=None)
    backward(param)
    param.grad(od.cpu(1))[:] = 2
    trainer.step(1)
    assert [x.asnumpy()[0] for x in param.list_data()] == [-1, -2]


def test_a_step_divides_by_the_batch() -> None:
    param, trainer = trained(od.cpu())
    backward(param)
    trainer.step(4)
    assert param.data().asnumpy().tolist() == [-0.25] * 3


def test_gradients_may_be_summed_and_changed_before_the_update() -> None:
    param, trainer = trained(update_on_kvstore=False)
    backward(param)
    trainer.allreduce_grads()
    for grad in param.list_grad():
        grad *= 10
    trainer.update(1)
    assert [x.asnumpy()[0] for x in param.list_data()] == [-20, -20]
    _, on_store = trained()
    for call in (on_store.allreduce_grads, lambda: on_store.update(1)):
        with pytest.raises(AssertionError, match="update_on_kvstore` to False"):
            call()


@pytest.mark.parametrize("kwargs", [{"places": od.cpu()}, {"update_on_kvstore": False}])
def test_stale_gradients_are_told(kwargs: dict[str, Any]) -> None:
    param, trainer = trained(**kwargs)
    with pytest.raises(UserWarning, match=r"`x` on context cpu\(0\) has not been updated by backward"):
        trainer.step(1)
    backward(param)
    trainer.step(1)
    before = param.list_data()[0].asnumpy()
    with pytest.raises(UserWarning, match="ignore_stale_grad=True"):
        trainer.step(1)
    trainer.step(1, ignore_stale_grad=True)
    np.testing.assert_array_equal(param.list_data()[0].asnumpy(), before)


@pytest.mark.parametrize("places", [od.cpu(), PLACES])
def test_states_are_written_and_read(places: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "a.states")
    param, trainer = trained(places)
    backward(param)
    trainer.step(1)
    trainer.set_learning_rate(0.1)
    trainer.save_states(path)
    other_param, other = trained(places)
    other_param.set_data(param.list_data()[0])
    other.load_states(path)
    assert other.learning_rate == 0.1
    for each, its in ((param, trainer), (other_param, other)):
        backward(each)
        its.step(1)
    np.testing.assert_array_equal(param.list_data()[0].asnumpy(), other_param.list_data()[0].asnumpy())


def test_parameters_have_rates_of_their_own() -> None:
    param = gluon.Parameter("x", shape=(1,), lr_mult=0.5, wd_mult=2)
    param.initialize(od.init.One())
    trainer = gluon.Trainer({"x": param}, "sgd", {"learning_rate": 1.0, "wd": 0.1})
    backward(param)
    trainer.step(1)
    np.testing.assert_allclose(param.data().asnumpy(), [1 - 0.5 * (1 + 0.2)])


def test_parameters_that_are_told_later_join_the_store() -> None:
    net = nn.Dense(1)
    net.initialize(od.init.One(), ctx=PLACES)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    for _ in range(2):
        with autograd.record():
            losses = [net(nd.ones((1, 2), ctx=place)) for place in PLACES]
        autograd.backward(losses)
        trainer.step(2)
    assert [x.asnumpy().tolist() for x in net.weight.list_data()] == [[[0, 0]]] * 2


def test_a_schedule_decides_the_rate() -> None:
    param = gluon.Parameter("x", shape=(1,))
    param.initialize()
    schedule = od.lr_scheduler.FactorScheduler(1, 0.5, base_lr=4)
    trainer = gluon.Trainer([param], "sgd", {"lr_scheduler": schedule})
    for _ in range(3):
        backward(param)
        trainer.step(1)
    assert trainer.learning_rate == trainer.optimizer.learning_rate == 1
    with pytest.raises(UserWarning, match=r"set lr_scheduler.base_lr"):
        trainer.set_learning_rate(1)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda p: gluon.Trainer(3, "sgd"), ValueError, "list or dict of Parameters, got <class 'int'>"),
        (
            lambda p: gluon.Trainer([3], "sgd"),
            ValueError,
            "got list of <class 'int'>; pass net.collect_params",
        ),
        (lambda p: gluon.Trainer([p], "none"), ValueError, "unknown optimizer 'none'"),
        (lambda p: gluon.Trainer([p], "sgd", 0.1), AssertionError, "is 0.1, expected a dict"),
        (lambda p: gluon.Trainer([p], od.optimizer.SGD(), {"wd": 1}), AssertionError, "must be None"),
        (
            lambda p: gluon.Trainer([gluon.Parameter("q", shape=1)], "sgd"),
            RuntimeError,
            "'q' has not been init",
        ),
    ],
)
def test_what_cannot_be_trained_is_refused(make: Any, error: type, text: str) -> None:
    param, _ = trained()
    with pytest.raises(error, match=text):
        make(param)


def test_contexts_must_agree() -> None:
    (first, _), (second, _) = trained(od.cpu(0)), trained(od.cpu(1))
    with pytest.raises(
        AssertionError, match=r"x is initialized on \[cpu\(1\)\] while previous .* \[cpu\(0\)\]"
    ):
        gluon.Trainer([first, second], "sgd")


def test_a_store_is_needed_for_updates_on_it() -> None:
    param, trainer = trained(kvstore=None, update_on_kvstore=True)
    backward(param)
    with pytest.raises(ValueError, match="needs a store; pass kvstore='device'"):
        trainer.step(1)


def test_loaded_states_go_to_each_context_with_their_counts(tmp_path: Path) -> None:
    path, given = str(tmp_path / "a.states"), ("adam", {"learning_rate": 0.1}, "device", None, False)
    param = trained()[0]
    trainer = gluon.Trainer([param], *given)
    for _ in range(3):
        backward(param)
        trainer.step(1)
    trainer.save_states(path)
    resumed = gluon.Trainer([param], *given)
    resumed.load_states(path)
    backward(param)
    resumed.step(1)
    assert param.data(PLACES[0]).asnumpy().tolist() == param.data(PLACES[1]).asnumpy().tolist()


def test_states_are_of_the_same_weights_whatever_numbers_names_have(tmp_path: Path) -> None:
    def order(first: int) -> list[int]:
        layers = [gluon.Parameter(f"dense{first + i}_weight", shape=(1,)) for i in range(3)]
        for layer in layers:
            layer.initialize()
        trainer = gluon.Trainer({layer.name: layer for layer in layers}, "sgd")
        return [layers.index(param) for param in trainer._params]

    assert order(0) == order(9) == [0, 1, 2]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))])
@pytest.mark.parametrize("is_late", [False, True], ids=["after a step", "before a step"])
def test_a_copied_network_and_trainer_go_on_with_the_same_bits(copied: Any, is_late: bool) -> None:
    net, x = nn.HybridSequential(), nd.arange(6).reshape((2, 3))
    net.add(nn.Dense(4), nn.BatchNorm(), nn.Dense(1))
    net.initialize()
    net.hybridize()
    pair = net, gluon.Trainer(net.collect_params(), "adam")

    def run(net: Any, trainer: Any, *, begin: bool = True, end: bool = True) -> Any:
        if begin:
            with autograd.record():
                loss = (net(x) ** 2).sum()
            loss.backward()
        if end:
            trainer.step(2)
        return net(x).asnumpy()

    run(*pair)
    if is_late:
        run(*pair, end=False)
    other = copied(pair)
    for begin in (not is_late, True):
        np.testing.assert_array_equal(run(*other, begin=begin), run(*pair, begin=begin))

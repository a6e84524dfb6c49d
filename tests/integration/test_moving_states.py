"""States that a call does not move are only read: predictions with running means, and gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

import numpy as np
import pytest

import operad as od
from operad import NDArray, autograd, engine, nd

pytest.importorskip("operad_normalization", reason="running means are its operator's")

_WAIT_S = 20
Arrays = dict[str, NDArray]


@pytest.fixture
def arrays() -> Arrays:
    engine.set("threaded")
    made = {name: nd.ones(4) for name in ("gamma", "beta", "moving_mean", "moving_var")}
    return {"data": nd.array(np.arange(12).reshape(3, 4)), **made}


@contextmanager
def reader(state: NDArray, seen: list[float]) -> Iterator[Event]:
    """An operation that reads a state until the event, or for a time that no small call takes."""
    gate, done = Event(), engine.get().new_variable()

    def read(_: object) -> None:
        gate.wait(_WAIT_S)
        seen.append(float(state._data[0]))

    engine.get().push_sync(read, od.cpu(), (state._chunk.var,), (done,))
    try:
        yield gate
    finally:
        gate.set()
        engine.get().wait_for_var(done)


def eager(arrays: Arrays) -> Callable[[], NDArray]:
    return lambda: nd.BatchNorm(*arrays.values())


def compiled(arrays: Arrays) -> Callable[[], NDArray]:
    function: Any = od.compile(lambda *given: nd.BatchNorm(*given) * 2)
    return lambda: function(*arrays.values())  # type: ignore[no-any-return]


def bound(arrays: Arrays) -> Callable[[], NDArray]:
    names = list(arrays)
    net: Any = od.sym.BatchNorm(*map(od.sym.var, names), name="norm")
    executor = net.bind(
        od.cpu(), args={name: arrays[name] for name in names[:3]}, grad_req="null",
        aux_states={name: arrays[name] for name in names[3:]},
    )  # fmt: skip
    return lambda: executor.forward(is_train=False)[0]  # type: ignore[no-any-return]


WAYS = pytest.mark.parametrize("way", [eager, compiled, bound])


@WAYS
def test_a_prediction_goes_beside_what_reads_the_states(
    way: Callable[[Arrays], Callable[[], NDArray]], arrays: Arrays
) -> None:
    predict = way(arrays)
    expected, seen = predict().asnumpy(), list[float]()
    with reader(arrays["moving_mean"], seen):
        np.testing.assert_array_equal(predict().asnumpy(), expected)
        assert seen == [], "the prediction waited for a reader, as what writes does"


@pytest.mark.parametrize("way", [eager, compiled])
def test_gradients_of_a_prediction_go_beside_what_reads_the_states(
    way: Callable[[Arrays], Callable[[], NDArray]], arrays: Arrays
) -> None:
    arrays["data"].attach_grad()
    predict = way(arrays)
    for _ in range(3):  # what is kept from run to run, too
        with autograd.record(train_mode=False):
            output = predict()
        seen = list[float]()
        with reader(arrays["moving_var"], seen):
            output.backward(train_mode=False)
            arrays["data"].grad.wait_to_read()
            assert seen == []


@pytest.mark.parametrize("way", [eager, compiled])
def test_training_waits_for_what_reads_the_states_and_predictions_see_what_it_wrote(
    way: Callable[[Arrays], Callable[[], NDArray]], arrays: Arrays
) -> None:
    predict, seen = way(arrays), list[float]()
    before = predict().asnumpy()
    with reader(arrays["moving_mean"], seen) as gate:
        with autograd.train_mode():
            predict()
        assert seen == []
        gate.set()
    assert seen == [1]
    moved = arrays["moving_mean"].asnumpy()
    np.testing.assert_allclose(moved, 0.9 + 0.1 * arrays["data"].asnumpy().mean(0), rtol=1e-6)
    assert not np.array_equal(predict().asnumpy(), before)


@WAYS
def test_a_prediction_that_fails_leaves_the_states(
    way: Callable[[Arrays], Callable[[], NDArray]], arrays: Arrays
) -> None:
    predict = way(arrays)
    expected = predict().asnumpy()

    def fail(_: object) -> None:
        raise ValueError("the data is lost")

    engine.get().push_sync(fail, od.cpu(), (), (arrays["data"]._chunk.var,))
    with pytest.raises(ValueError, match="the data is lost"):
        predict().asnumpy()
    arrays["data"][:] = np.arange(12).reshape(3, 4)
    np.testing.assert_array_equal(predict().asnumpy(), expected)

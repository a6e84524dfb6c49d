"""Light backward passes keep their calls: what changes between passes has the gradients of the first one."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import operad as mx
from operad.autograd import program as room


@pytest.fixture
def kept(monkeypatch):
    """Kept passes that were run."""
    found, run = [], room._KeptPass.run

    def counted(self, arrays):
        found.append(self)
        run(self, arrays)

    monkeypatch.setattr(room._KeptPass, "run", counted)
    monkeypatch.setattr(room, "_programs", {})
    return found


def chain(x, w, times=1):
    """Gradients of `sum(tanh(x * w))^2`, of several nodes and a gradient that has no array of its own."""
    with mx.autograd.record():
        y = mx.nd.tanh(x * w)
        loss = y * y
    for _ in range(times - 1):
        loss.backward(retain_graph=True)
    loss.backward()
    return [a.grad.asnumpy().copy() for a in (x, w)]


def expected(x, w):
    x, w = x.asnumpy(), w.asnumpy()
    y = np.tanh(x * w)
    return [2 * y * (1 - y * y) * other for other in (w, x)]


def variables(shape=(3,), req="write", seed=0):
    rng = np.random.RandomState(seed)
    made = [mx.nd.array(rng.rand(*shape)) for _ in range(2)]
    for array in made:
        array.attach_grad(req)
    return made


def check(x, w, times=1):
    for found, right in zip(chain(x, w, times), expected(x, w), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-5)


def test_a_pass_is_kept_from_the_third_on(kept):
    x, w = variables()
    for _ in range(5):
        check(x, w)
    assert len(kept) == 3
    assert len({*kept}) == 1


def test_other_arrays_sizes_and_modes_have_gradients_of_their_own(kept):
    for _ in range(2):
        for seed, shape in enumerate([(3,), (2, 2), (3,), (5,)]):
            x, w = variables(shape, seed=seed)
            for _ in range(3):
                check(x, w)
        with mx.autograd.predict_mode():
            check(x, w)
    assert kept


def test_gradients_are_added_where_that_is_asked(kept):
    x, w = variables(req="add")
    for number in range(1, 5):
        for found, right in zip(chain(x, w), expected(x, w), strict=True):
            np.testing.assert_allclose(found, number * right, rtol=1e-5)
    assert kept


def test_a_kept_pass_may_run_again_on_what_is_retained(kept):
    x, w = variables()
    for times in (1, 1, 3, 1):
        check(x, w, times)
    assert len(kept) == 4


def test_gradients_of_parts_leave_the_rest_of_the_array(kept):
    x, w = variables()
    whole = mx.nd.ones((4, 3))
    mx.autograd.mark_variables([x], [whole[2]])
    for _ in range(4):
        check(x, w)
        assert whole.asnumpy()[[0, 1, 3]].tolist() == [[1] * 3] * 3
    assert kept


def recorded(x, w):
    """A loss whose pass is kept."""
    with mx.autograd.record():
        y = mx.nd.tanh(x * w)
        return y * y


def test_what_was_overwritten_is_refused_by_a_kept_pass_too(kept):
    x, w = variables()
    for _ in range(3):
        check(x, w)
    loss = recorded(x, w)
    w[:] = 2
    with pytest.raises(mx.errors.GradientError, match="was overwritten"):
        loss.backward()
    check(x, w)
    assert len(kept) == 2


def test_a_failure_reaches_its_gradients_and_the_next_pass_is_whole(kept):
    x, w = variables()
    for _ in range(3):
        check(x, w)
    loss = recorded(x, w)

    def fail(_):
        raise ZeroDivisionError("no head")

    head = mx.nd.ones(3)
    mx.engine.get().push_sync(fail, mx.cpu(), (), (head._chunk.var,), name="failing")
    loss.backward(head)
    with pytest.raises(ZeroDivisionError, match="no head"):
        x.grad.asnumpy()
    check(x, w)
    assert len(kept) == 3


def test_threads_share_a_kept_pass(kept):
    wrong = []

    def work(seed):
        x, w = variables((64,), seed=seed)
        try:
            for _ in range(30):
                check(x, w)
        except BaseException as error:
            wrong.append(error)
            raise

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert kept


def test_calls_of_other_values_have_gradients_of_their_own():
    x = mx.nd.array([1.0, 2.0])
    x.attach_grad()
    for factor in (2.0, 2.0, 2.0, 3.0, 2.0, 2.0, 2.0):
        with mx.autograd.record():
            y = x * factor
        y.backward()
        assert x.grad.asnumpy().tolist() == [factor, factor]

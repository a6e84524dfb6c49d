"""The hot path inside an operation that calls operators."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import operad as od
from core.tests.imperative.calling import Gate, X, calls_of
from operad import engine, nd
from operad.engine import back_pressure
from operad.engine.thread import NESTED, local
from operad.errors import BlockingInOperatorError

pytest.importorskip("operad_elemwise", reason="these are calls of its operators")


@pytest.fixture(autouse=True)
def threaded():
    engine.set("threaded")


def in_operation(body):
    """Run `body` in an operation that calls operators, and wait for it."""

    def run(_):
        with engine.nested():
            body()

    done = engine.get().new_variable()
    engine.get().push_sync(run, od.cpu(), (), (done,), name="outer")
    engine.get().wait_for_var(done)


@pytest.mark.parametrize(
    "call", [nd.tanh, lambda x: x + 2.5, lambda x: x * x, nd.norm], ids=["1", "2", "3", "4"]
)
def test_an_operation_that_calls_operators_has_the_hot_path_too(call):
    x, found = nd.array(X), []
    expected = call(x).asnumpy()

    def body():
        call(x)
        taken = calls_of(lambda: found.append(call(x)))
        assert "execute" not in taken
        assert local.state.inside == NESTED

    in_operation(body)
    np.testing.assert_array_equal(found[0].asnumpy(), expected)


def test_what_pending_work_reads_is_read_inside_an_operation(monkeypatch):
    x, found = nd.array(X), []
    nd.tanh(x)
    x.wait_to_read()
    gate = Gate(x, writes=False)
    try:
        in_operation(lambda: found.append(nd.tanh(x)))
        np.testing.assert_array_equal(found[0].asnumpy(), np.tanh(X))
    finally:
        gate.open()


def test_what_is_written_behind_the_operation_is_refused_inside_it(monkeypatch):
    monkeypatch.setattr(back_pressure, "_PATIENCE_S", 0.01)
    x, own, raised = nd.array(X), nd.array(X), []
    nd.tanh(x)
    x.wait_to_read()

    def run(_):
        engine.get().push_sync(lambda _: None, od.cpu(), (own._chunk.var,), (x._chunk.var,))
        with engine.nested(), pytest.raises(BlockingInOperatorError, match="pending work") as caught:
            nd.tanh(x)
        raised.append(caught.value)

    engine.get().push_sync(run, od.cpu(), (), (own._chunk.var,), name="outer")
    engine.get().wait_for_all()
    assert len(raised) == 1


def test_an_asynchronous_operation_on_its_way_is_waited_for_inside_an_operation(monkeypatch):
    monkeypatch.setattr(back_pressure, "_PATIENCE_S", 0.01)
    x, found = nd.array(X), []
    gate = Gate(x, writes=True)
    opening = threading.Timer(0.1, gate.open)
    opening.start()
    in_operation(lambda: found.append(nd.tanh(x)))
    np.testing.assert_array_equal(found[0].asnumpy(), np.tanh(X))
    opening.join()


def test_an_error_of_the_hot_path_inside_an_operation_is_raised_where_the_call_is(monkeypatch):
    x, raised = nd.array(X), []

    def fail(*_):
        raise ZeroDivisionError("inner")

    def body():
        nd.tanh(x)
        for plan in nd.tanh.__globals__["__plans"].values():
            monkeypatch.setattr(plan.fast, "direct", fail)
        try:
            nd.tanh(x)
        except ZeroDivisionError as error:
            raised.append(error)
        monkeypatch.undo()
        nd.tanh(x)

    in_operation(body)
    assert len(raised) == 1

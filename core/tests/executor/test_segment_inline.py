from __future__ import annotations

import threading

import numpy as np
import pytest

import operad as od
from core.tests.simple import simple
from operad import engine
from operad.graph import Entry, Graph, OpNode

THREADS: list[int] = []


def note_thread(data: np.ndarray, out: np.ndarray) -> None:
    THREADS.append(threading.get_ident())
    np.negative(data, out)


def net(cost: float) -> od.Symbol:
    op = simple("note_thread", ["data"], note_thread, takes_out=True, cost=cost)
    variable = od.sym.var("x")
    node = OpNode(op(), "noted", [variable.entries[0]])
    return od.Symbol(Graph([Entry(node)]).outputs)


@pytest.fixture
def threaded() -> engine.Engine:
    return engine.set("threaded")


def test_a_light_graph_runs_in_the_calling_thread(threaded: engine.Engine) -> None:
    executor = net(cost=1.0).simple_bind(od.cpu(), x=(4,), grad_req="null")
    THREADS.clear()
    executor.forward(x=np.ones(4))
    assert [threading.get_ident()] == THREADS
    np.testing.assert_array_equal(executor.outputs[0].asnumpy(), -np.ones(4))


@pytest.mark.parametrize("cost", [1e6, 1e9])  # about half a millisecond, and far more
def test_a_heavy_graph_is_left_to_a_worker(threaded: engine.Engine, cost: float) -> None:
    executor = net(cost=cost).simple_bind(od.cpu(), x=(4,), grad_req="null")
    gate = threading.Event()
    x = executor.arg_dict["x"]
    threaded.push_sync(lambda _: gate.wait(), od.cpu(), mutable_vars=[x._chunk.var], reads_mutable=True)
    THREADS.clear()
    executor.forward()
    assert THREADS == []  # it waits for its argument, and this thread does not
    gate.set()
    executor.outputs[0].wait_to_read()
    assert len(THREADS) == 1


def test_a_light_graph_whose_argument_is_busy_does_not_block(threaded: engine.Engine) -> None:
    executor = net(cost=1.0).simple_bind(od.cpu(), x=(4,), grad_req="null")
    gate = threading.Event()
    var = executor.arg_dict["x"]._chunk.var
    threaded.push_sync(lambda _: gate.wait(), od.cpu(), mutable_vars=[var], reads_mutable=True)
    THREADS.clear()
    executor.forward()
    assert THREADS == []
    gate.set()
    executor.outputs[0].wait_to_read()
    assert len(THREADS) == 1

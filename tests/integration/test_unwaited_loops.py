"""Loops of small operations that never wait are run by the thread that calls them, not handed over.

A stepped engine counts what is handed over; its worker runs some blocks while a thread waits for a limited
time, and none else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import operad as od
from core.tests.engine.stepped import SteppedEngine
from operad import autograd, engine, nd
from operad.ndarray import NDArray

pytest.importorskip("operad_fully_connected", reason="the loop's products are its operators")
pytest.importorskip("operad_elemwise", reason="the loop's functions are its operators")
pytest.importorskip("operad_optimizer", reason="the loop's updates are its operators")

ROWS, HIDDEN, STEPS = 16, 32, 16


class Cell:
    """A recurrent cell, whose backward pass alone is long enough for a worker."""

    def __init__(self) -> None:
        source = np.random.default_rng(0)
        self.inputs = [nd.array(source.standard_normal((ROWS, HIDDEN), np.float32)) for _ in range(STEPS)]
        self.weights = [nd.array(0.1 * source.standard_normal((HIDDEN, HIDDEN), np.float32)) for _ in "ab"]
        self.bias = nd.zeros(HIDDEN)
        self.parameters = [*self.weights, self.bias]
        for parameter in self.parameters:
            parameter.attach_grad()

    def step(self) -> None:
        """One step of training."""
        with autograd.record():
            h = nd.zeros((ROWS, HIDDEN))
            for x in self.inputs:
                products = [
                    nd.FullyConnected(array, weight, self.bias, num_hidden=HIDDEN)
                    for array, weight in zip((x, h), self.weights, strict=True)
                ]
                h = nd.sigmoid(products[0]) * nd.tanh(products[1])
            loss = (h * h).sum()
        loss.backward()
        for parameter in self.parameters:
            nd.sgd_update(parameter, parameter.grad, lr=0.01, out=parameter)


def trained(num_steps: int, wait: Callable[[], object] = lambda: None) -> list[np.ndarray]:
    """Parameters after some steps."""
    cell = Cell()
    for _ in range(num_steps):
        cell.step()
        wait()
    return [parameter.asnumpy() for parameter in cell.parameters]


@pytest.fixture(scope="module")
def expected() -> list[np.ndarray]:
    engine.set("naive")
    found = trained(12)
    engine.set("threaded")
    return found


def test_only_the_long_operation_of_a_step_is_handed_over(stepped: SteppedEngine, expected: Any) -> None:
    """One for each step, as in a loop that waits, though 100 calls of a step read what it writes."""
    stepped.num_done_in_a_wait = 10
    trained(2)
    before = stepped.runner.num_offered
    found = trained(12)
    assert stepped.runner.num_offered - before == 12
    for array, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(array, wanted)


def test_where_a_worker_makes_no_progress_all_is_queued_after_one_wait(
    stepped: SteppedEngine, expected: Any
) -> None:
    trained(2)
    stepped.waits.clear()
    cell = Cell()
    for _ in range(12):
        cell.step()
    assert len(stepped.waits) == 1
    for parameter, wanted in zip(cell.parameters, expected, strict=True):
        np.testing.assert_array_equal(parameter.asnumpy(), wanted)


def test_a_queue_of_small_operations_runs_dry(stepped: SteppedEngine) -> None:
    """What was queued behind a long operation is done by the worker in one wait, and nothing follows it."""
    x = nd.ones((8, 8))
    trained(1)

    def call(count: int) -> tuple[int, int]:
        """Small calls on what the ones before have written; what was handed over, and the waits."""
        before = stepped.runner.num_offered
        stepped.waits.clear()
        for _ in range(count):
            x[:] = x + 1
        return stepped.runner.num_offered - before, len(stepped.waits)

    stepped.push_sync(lambda _: None, od.cpu(), (), (x._chunk.var,), name="long")
    assert call(50) == (0, 1)
    assert stepped._queue.pending == 101
    stepped.runner.step()  # the long one has ended, and the first of the small ones is offered
    stepped.num_done_in_a_wait = 1000
    assert call(50) == (99, 1)
    assert stepped._queue.pending == 0
    assert call(50) == (0, 0)
    assert x.asnumpy().min() == 151


@pytest.mark.parametrize("is_train", [False, True])
def test_a_light_executor_behind_a_long_operation_is_not_handed_over(
    stepped: SteppedEngine, is_train: bool
) -> None:
    bound = od.sym.tanh(od.sym.var("x")).simple_bind(od.cpu(), x=(4, 4))
    for _ in range(10):
        bound.forward(is_train=is_train)
    stepped.num_done_in_a_wait = 10
    before = stepped.runner.num_offered
    for value in range(12):
        bound.arg_dict["x"][:] = value
        stepped.push_sync(lambda _: None, od.cpu(), (), (bound.arg_dict["x"]._chunk.var,), name="long")
        for _ in range(10):
            (output,) = bound.forward(is_train=is_train)
    assert stepped.runner.num_offered - before == 12
    assert isinstance(output, NDArray)
    np.testing.assert_array_equal(output.asnumpy(), np.tanh(np.full((4, 4), 11, np.float32)))


def test_a_gradient_alone_costs_what_its_kernel_says(stepped: SteppedEngine) -> None:
    """All threads share the kernel of a large softmax; a plan for its gradient alone, too, is run at once."""
    pytest.importorskip("llvmlite", reason="the kernel is compiled")
    pytest.importorskip("operad_activation", reason="the softmax is its operator")
    x, head = (nd.array(np.random.default_rng(k).random((512, 768), np.float32)) for k in range(2))
    x.attach_grad()
    for _ in range(2):
        with autograd.record():
            y = nd.softmax(x)
        before = stepped.runner.num_offered
        y.backward(head)
        assert stepped.runner.num_offered == before

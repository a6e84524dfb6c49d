"""What a stateful operator keeps orders its forward and its backward, though they share no array."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest

import operad as od
from core.tests.simple import OGRAD, Gradient, simple
from operad import autograd, engine, nd
from operad.graph import Entry, Graph, OpNode
from operad.imperative import Invoker
from operad.ndarray import NDArray
from operad.op import Kernel, Operator, assign

pytestmark = pytest.mark.usefixtures("two_threads")


class Keeping(Operator):
    """Multiplies by its argument's last value, which forward alone sees."""

    kept: np.ndarray | None = None

    def forward(self, op_ctx, arrays):
        if (arrays.in_data[0] < 0).any():
            raise ValueError("a negative value")
        self.kept = arrays.in_data[0].copy()
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0] ** 2 / 2)

    def backward(self, op_ctx, arrays):
        assign(arrays.in_grad[0], arrays.req[0], arrays.out_grad[0] * self.kept)


# The functions only say that there is a gradient, which reads the head gradient; `Keeping` computes.
PROP = simple(
    "half_square", ["data"], np.square, [Gradient(np.negative, [OGRAD])],
    params={"is_stateful": True, "kernels": [Kernel("half_square.array", lambda *_: Keeping())]},
)  # fmt: skip


def imperative(x: NDArray, head: NDArray) -> tuple[Callable[[], object], Callable[[], object]]:
    x.attach_grad()

    def forward() -> None:
        nonlocal y
        with autograd.record():
            y = Invoker(PROP())([x])

    y = x
    return forward, lambda: y.backward(head)


def bound(x: NDArray, head: NDArray) -> tuple[Callable[[], object], Callable[[], object]]:
    x.attach_grad()
    node = OpNode(PROP(), "half_square", [od.sym.var("x").entries[0]])
    executor = od.Symbol(Graph([Entry(node)]).outputs).bind(od.cpu(), {"x": x}, {"x": x.grad})
    return lambda: executor.forward(is_train=True), lambda: executor.backward(head)


RUNS = pytest.mark.parametrize("run", [imperative, bound])


@RUNS
def test_backward_waits_for_a_forward_that_shares_no_array_with_it(run) -> None:
    x, head = nd.array([2, 3]), nd.array([10, 20])
    forward, backward = run(x, head)
    gate = threading.Event()
    engine.get().push_sync(lambda _: gate.wait(), od.cpu(), mutable_vars=[x._chunk.var], reads_mutable=True)
    forward()
    backward()
    gate.set()
    np.testing.assert_array_equal(x.grad.asnumpy(), [20, 60])


@RUNS
def test_a_later_forward_waits_for_a_backward_that_reads_what_is_kept(run) -> None:
    x, head = nd.array([2, 3]), nd.array([10, 20])
    forward, backward = run(x, head)
    forward()
    gate = threading.Event()
    engine.get().push_sync(
        lambda _: gate.wait(), od.cpu(), mutable_vars=[head._chunk.var], reads_mutable=True
    )
    backward()
    gradient = x.grad.copy()
    x[:] = 7
    forward()
    gate.set()
    np.testing.assert_array_equal(gradient.asnumpy(), [20, 60])


@RUNS
def test_backward_fails_with_its_forward_and_the_next_forward_is_free_of_it(run) -> None:
    x, head = nd.array([-2, 3]), nd.array([10, 20])
    forward, backward = run(x, head)
    forward()
    backward()
    with pytest.raises(ValueError, match="a negative value"):
        x.grad.asnumpy()
    x[:] = 2
    forward()
    backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [20, 40])

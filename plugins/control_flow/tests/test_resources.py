"""Random numbers and scratch memory inside loops: no loop waits for another operation's turn."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od

x, s = od.sym.var("x"), od.sym.var("s")


def noisy():
    """Four loops and a layer beside each other, all of which draw."""

    def body(row, t):
        drawn = od.sym.Dropout(row, p=0.5) + od.sym.random.uniform(shape=(60, 60))
        return drawn, t + drawn

    outs = [out for _ in range(4) for out in od.sym.contrib.foreach(body, x, s)]
    return od.sym.Group([*outs, od.sym.Dropout(x, p=0.5)])


def test_loops_that_draw_run_beside_each_other_and_repeat_under_a_seed():
    executor = noisy().simple_bind(od.cpu(), x=(3, 60, 60), s=(60, 60))
    executor.arg_dict["x"][:] = 1
    runs = []
    for _ in range(10):
        od.random.seed(7)
        executor.forward(is_train=True)
        executor.backward([od.nd.ones(out.shape) for out in executor.outputs])
        runs.append([array.asnumpy() for array in (*executor.outputs, executor.grad_dict["x"])])
    for run in runs[1:]:
        for first, again in zip(runs[0], run, strict=True):
            np.testing.assert_array_equal(first, again)


def test_steps_and_runs_draw_different_numbers():
    def body(row, t):
        drawn = row * 0 + od.sym.random.uniform(shape=(50,))
        return drawn, t + 1

    executor = od.sym.contrib.foreach(body, x, s)[0].simple_bind(od.cpu(), x=(4, 50), s=(1,))
    first, second = (executor.forward(is_train)[0].asnumpy() for is_train in (True, False))
    assert len({*first.ravel().tolist(), *second.ravel().tolist()}) > 390


def test_gradients_belong_to_the_numbers_that_were_drawn():
    def body(row, t):
        return row * od.sym.random.uniform(shape=(50,)), t + 1

    executor = od.sym.contrib.foreach(body, x, s)[0].simple_bind(od.cpu(), x=(4, 50), s=(1,))
    executor.arg_dict["x"][:] = 1
    for is_train in (True, False):
        (out,) = executor.forward(is_train)
        executor.backward([od.nd.ones(out.shape)])
        np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), out.asnumpy())


@pytest.mark.parametrize("draws", [True, False])
def test_a_generator_is_asked_for_only_where_something_draws(draws):
    loop = od.sym.contrib.foreach(
        lambda row, t: (od.sym.Dropout(row, p=0.5) if draws else row * 2, t + 1), x, s
    )[0]
    op = loop.entries[0].node.op
    assert len(op.forward_resource([(3, 2), (1,)])) == draws

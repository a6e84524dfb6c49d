"""Memory stays where it is over many steps, shapes and binds.

What is compared is what the pool lends out, in bytes, and what Python's own allocator has handed out, in
blocks: each after some rounds in which caches fill, and again after many more. One kept object per round
would show, for every count of rounds here.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

import numpy as np
import pytest

import operad as od
from operad import storage
from tests.reliability.training import Training, network

pytestmark = pytest.mark.slow


def _held() -> tuple[int, int]:
    """Bytes lent out by the pool, and blocks of Python's allocator, with nothing pending or dead."""
    od.nd.waitall()
    gc.collect()
    od.nd.zeros((1,)).wait_to_read()  # the next allocation gives back what died
    return storage.get().stats(od.cpu()).in_use_bytes, sys.getallocatedblocks()


def _growth(round_: Callable[[int], None], warm: int, count: int) -> tuple[int, int]:
    """How many bytes and blocks `count` rounds add after `warm` ones."""
    for i in range(warm):
        round_(i)
    before = _held()
    for i in range(warm, warm + count):
        round_(i)
    after = _held()
    return after[0] - before[0], after[1] - before[1]


def test_ten_thousand_training_steps_hold_no_more_than_two_hundred() -> None:
    training = Training()

    def step(_: int) -> None:
        training.feed()
        training.step()

    lent, blocks = _growth(step, 200, 10_000)
    assert lent == 0
    assert blocks < 5_000


def test_ten_thousand_recorded_steps_hold_no_more_than_two_hundred() -> None:
    weight = od.nd.ones((8, 8))
    weight.attach_grad()

    def step(_: int) -> None:
        with od.autograd.record():
            y = od.nd.tanh(od.nd.dot(weight, weight)) * 0.5
        y.backward()
        od.nd.sgd_update(weight, weight.grad, lr=1e-3, out=weight)

    lent, blocks = _growth(step, 200, 10_000)
    assert lent == 0
    assert blocks < 5_000


def test_five_hundred_shapes_in_turn_are_held_once() -> None:
    def shapes(round_: int) -> None:
        length = 1 + round_ % 500
        x = od.nd.ones((length, 3))
        od.nd.sum(od.nd.exp(x) * x, axis=1).asnumpy()

    lent, blocks = _growth(shapes, 500, 2_000)
    assert lent == 0
    assert blocks < 1_000


def test_a_thousand_binds_hold_no_more_than_fifty() -> None:
    def bind(_: int) -> None:
        executor = network().simple_bind(od.cpu(), data=(2, 1, 12, 12))
        executor.forward(is_train=True)
        executor.backward()
        executor.outputs[0].asnumpy()

    lent, blocks = _growth(bind, 50, 1_000)
    assert lent == 0
    assert blocks < 500


def test_failures_that_nobody_waits_for_are_let_go() -> None:
    bad = od.nd.array(-np.eye(3, dtype=np.float32))

    def fail(_: int) -> None:
        result = od.nd.linalg_potrf(bad)
        with pytest.raises(od.OperadError):
            result.asnumpy()

    lent, blocks = _growth(fail, 50, 2_000)
    assert lent == 0
    assert blocks < 1_000

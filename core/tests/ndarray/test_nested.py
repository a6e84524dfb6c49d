"""Operators that are written with operators."""

from __future__ import annotations

import numpy as np
import pytest

from operad import autograd, engine, nd
from operad.device import cpu
from operad.ndarray.nested import nested

pytestmark = pytest.mark.usefixtures("operators", "two_threads")


def in_operation(function):
    """Run `function` inside an operation, and wait for it."""
    var = engine.get().new_variable()
    engine.get().push_sync(lambda _: function(), cpu(), (), (var,))
    engine.get().wait_for_var(var)


def test_calls_inside_run_at_once_and_can_be_read():
    seen = []

    def work():
        with nested(False):
            seen.append(nd.tanh(nd.array([1.0])).asnumpy().tolist())

    in_operation(work)
    assert seen == [[np.tanh(np.float32(1))]]


@pytest.mark.parametrize("is_train", [True, False])
def test_operators_see_the_mode_and_nothing_is_recorded(is_train):
    seen = []

    def work():
        with autograd.record(not is_train), nested(is_train):
            seen.append((autograd.is_training(), autograd.is_recording()))
        seen.append(autograd.is_recording())

    in_operation(work)
    assert seen == [(is_train, False), False]


def test_arrays_that_the_operation_names_are_read_and_written_whatever_is_queued_behind_it():
    x, y, seen = nd.array([1.0]), nd.array([2.0]), []
    variables = x._chunk.var, y._chunk.var

    def work(_, y=y):
        engine.get().push_sync(lambda _: seen.append("behind"), cpu(), (), variables)
        with nested(False):
            y += x
            y[:] = nd.tanh(x) + y
            seen.append(y.asnumpy().tolist())

    engine.get().push_sync(work, cpu(), variables[:1], variables[1:])
    engine.get().wait_for_all()
    assert seen == [[np.tanh(np.float32(1)) + 3], "behind"]

"""The memory of arrays: when it comes back."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from operad import autograd, engine, nd, storage
from operad.device import cpu
from operad.imperative.chunk import reclaim

pytestmark = [pytest.mark.serial, pytest.mark.usefixtures("operators")]

CTX = cpu(7)  # nobody else's


def live_bytes():
    nd.waitall()
    reclaim()
    nd.waitall()
    return storage.get().stats(CTX).in_use_bytes


def _new_blocks():
    stats = storage.get().stats(CTX)
    return stats.allocations - stats.pool_hits


@pytest.fixture(autouse=True)
def without_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_memory_of_a_dead_array_comes_back():
    before = live_bytes()
    x = nd.empty(1000, CTX)
    assert live_bytes() >= before + 4000
    del x
    assert live_bytes() == before


def test_a_view_keeps_the_memory():
    before = live_bytes()
    view = nd.empty(1000, CTX)[:1]
    assert live_bytes() >= before + 4000
    del view
    assert live_bytes() == before


def test_memory_comes_back_only_after_the_engine_is_done(each_engine):
    before = live_bytes()
    expected = np.ones(100_000, np.float32)
    x = nd.array(expected, CTX)
    for _ in range(20):
        x = nd.tanh(x)
        expected = np.tanh(expected)
    np.testing.assert_array_equal(x.asnumpy(), expected)
    del x
    assert live_bytes() == before


def test_a_loop_of_temporaries_needs_no_new_memory():
    x = nd.array(np.ones(1000), CTX)
    for _ in range(5):
        (nd.tanh(x) + x).wait_to_read()
    new = _new_blocks()
    for _ in range(200):
        (nd.tanh(x) + x).wait_to_read()
    assert _new_blocks() == new


def variable():
    """An array with a gradient, and the bytes that are live with it."""
    x = nd.array(np.ones(1000), CTX)
    x.attach_grad()
    return x, live_bytes()


def test_a_recorded_graph_is_freed_with_its_last_array():
    before = live_bytes()
    x, held = variable()
    with autograd.record():
        y = x
        for _ in range(10):
            y = nd.tanh(y) * y
    assert live_bytes() > held + 10 * 4000
    y.backward()
    del y
    assert live_bytes() == held
    del x
    assert live_bytes() == before


def test_a_recorded_graph_that_is_never_run_is_freed_too():
    x, held = variable()
    with autograd.record():
        y = nd.square(nd.tanh(x))
    del y
    assert live_bytes() == held


def test_backward_frees_what_was_recorded_although_the_output_lives():
    x, held = variable()
    with autograd.record():
        y = x
        for _ in range(10):
            y = nd.square(y)
    y.backward()
    assert live_bytes() < held + 2 * 8192
    del y


def test_memory_of_a_failed_operation_comes_back():
    before = live_bytes()
    y = nd.explode(nd.array(np.ones(1000), CTX))
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            y.wait_to_read()
    del y
    assert live_bytes() == before


def test_memory_of_what_was_computed_from_a_failed_operation_comes_back_too():
    before = live_bytes()
    y = nd.explode(nd.array(np.ones(1000), CTX))
    z = nd.tanh(y) + 1
    for array in (z, y, z):
        with pytest.raises(ZeroDivisionError):
            array.asnumpy()
    del y, z, array
    assert live_bytes() == before


def test_a_new_engine_takes_over_dead_arrays():
    before = live_bytes()
    x = nd.empty(1000, CTX)
    engine.set("naive")
    try:
        del x
        assert live_bytes() == before
    finally:
        engine.set("threaded")

"""Copies between small arrays of one kind take the hot path."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from core.tests.imperative.calling import Gate, X, calls_of
from operad import autograd, engine, nd


@pytest.fixture(autouse=True)
def threaded():
    engine.set("threaded")


COPIES = {
    "whole": lambda x, y: y.__setitem__(slice(None), x),
    "ellipsis": lambda x, y: y.__setitem__(Ellipsis, x),
    "copyto": lambda x, y: x.copyto(y),
    "part": lambda x, y: y.__setitem__(slice(1, 3), x[1:3]),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_takes_the_hot_path_and_copies(name):
    x, y = nd.array(X), nd.array(-X)
    names = calls_of(lambda: COPIES[name](x, y))
    rows = slice(1, 3) if name == "part" else slice(None)
    assert "apply_fast" in names
    assert "execute" not in names
    expected = -X
    expected[rows] = X[rows]
    np.testing.assert_array_equal(y.asnumpy(), expected)


@pytest.mark.parametrize("writes", [True, False])
@pytest.mark.parametrize("place", [0, 1])
def test_what_is_in_use_is_waited_for(place, writes):
    arrays = nd.array(X), nd.array(-X)
    gate = Gate(arrays[place], writes=writes)
    arrays[0].copyto(arrays[1])
    gate.open()
    np.testing.assert_array_equal(arrays[1].asnumpy(), X)


def test_parts_of_one_array_that_overlap_go_the_long_way():
    x = nd.array(X.ravel())
    names = calls_of(lambda: x.__setitem__(slice(1, 5), x[0:4]))
    assert "execute" in names
    np.testing.assert_array_equal(x.asnumpy(), np.concatenate([X.ravel()[:1], X.ravel()[:4], X.ravel()[5:]]))


def test_an_array_without_a_value_leaves_none():
    def fail(_):
        raise ArithmeticError

    x, y = nd.array(X), nd.array(X)
    engine.get().push_sync(fail, od.cpu(), (), (x._chunk.var,), name="fails")
    y[:] = x
    with pytest.raises(ArithmeticError):
        y.asnumpy()
    y[:] = nd.array(-X)
    np.testing.assert_array_equal(y.asnumpy(), -X)


def test_a_recorded_copy_has_a_gradient():
    x = nd.array(X)
    x.attach_grad()
    with autograd.record():
        y = x.copy()
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), np.ones_like(X))


@pytest.mark.parametrize("dtype", ["float16", "int64", "bool"])
def test_arrays_of_any_type_are_copied_and_others_are_cast(dtype):
    x = nd.array(X, dtype=dtype)
    y = nd.array(X * 0, dtype=dtype)
    y[:] = x
    np.testing.assert_array_equal(y.asnumpy(), x.asnumpy())
    z = nd.array(X * 0)
    z[:] = x
    np.testing.assert_array_equal(z.asnumpy(), x.asnumpy().astype(np.float32))

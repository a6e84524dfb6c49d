"""Arrays that are filled, cast or made from nothing, and outputs beside hidden ones, take the hot path."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from core.tests.imperative.calling import Gate, X, calls_of
from operad import autograd, engine, nd


@pytest.fixture(autouse=True)
def threaded():
    engine.set("threaded")


def is_hot(function):
    names = calls_of(function)
    return "apply_fast" in names and "execute" not in names


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("value", [0.0, -0.0, 1.5, 1e300, np.nan, -np.inf])
def test_a_fill_takes_the_hot_path_and_casts_as_numpy_does(dtype, value):
    x = nd.array(X, dtype=dtype)
    assert is_hot(lambda: x.__setitem__(slice(None), value))
    with np.errstate(over="ignore"):
        expected = np.full_like(X, value, dtype=dtype)
    assert x.asnumpy().tobytes() == expected.tobytes()


@pytest.mark.parametrize("value", [2, True, 2.5, np.float32(2.5), [1, 2, 3, 4]])
@pytest.mark.parametrize("dtype", ["int8", "float32", "bool"])
def test_other_values_and_types_go_as_before(dtype, value):
    x = nd.array(X, dtype=dtype)
    x[:] = value
    expected = np.zeros_like(X, dtype=dtype)
    expected[:] = value
    np.testing.assert_array_equal(x.asnumpy(), expected)


def test_a_fill_of_an_array_without_axes_is_refused_as_before():
    x = nd.array(np.array(2.0)).reshape(())
    with pytest.raises(od.OperadError):
        x[:] = 1.0


def test_a_part_is_filled_and_nothing_else():
    x = nd.array(X)
    part = x[1:3]
    part[:] = 7.0
    expected = X.copy()
    expected[1:3] = 7
    np.testing.assert_array_equal(x.asnumpy(), expected)


@pytest.mark.parametrize("writes", [True, False])
@pytest.mark.parametrize("way", ["fill", "cast"])
def test_what_is_in_use_is_waited_for(way, writes):
    x = nd.array(X)
    gate = Gate(x, writes=writes)
    if way == "fill":
        x[:] = 3.0
    y = x.astype("float64")
    gate.open()
    np.testing.assert_array_equal(y.asnumpy(), np.full_like(X, 3.0) if way == "fill" else X)


def test_a_fill_while_recording_is_refused_or_recorded_as_before():
    x = nd.array(X)
    x.attach_grad()
    with autograd.record(), pytest.raises(od.OperadError, match="gradient"):
        x[:] = 1.0
    np.testing.assert_array_equal(x.asnumpy(), X)


TYPES = ("float16", "float32", "float64", "bool", "uint8", "int8", "int32", "int64")


@pytest.mark.walk
@pytest.mark.parametrize("old", TYPES)
@pytest.mark.parametrize("new", TYPES)
def test_a_cast_takes_the_hot_path_and_is_numpys(old, new):
    x = nd.array(X * 3, dtype=old)
    made = []
    assert is_hot(lambda: made.append(x.astype(new)))
    found = made[0].asnumpy()
    assert found.dtype == new
    assert found.tobytes() == x.asnumpy().astype(new).tobytes()
    assert (x.astype(new, copy=False) is x) == (old == new)


def test_a_cast_of_a_part_is_an_array_of_its_own():
    x = nd.array(X)
    y = x[1:3].astype("float64")
    x[:] = 0.0
    np.testing.assert_array_equal(y.asnumpy(), X[1:3])
    y[:] = 5.0
    assert not x.asnumpy().any()


def test_a_recorded_cast_has_a_gradient():
    x = nd.array(X)
    x.attach_grad()
    with autograd.record():
        y = x.astype("float64") * 2
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), np.full_like(X, 2))


@pytest.mark.parametrize("make", [nd.zeros, nd.ones])
def test_arrays_from_nothing_take_the_hot_path(make):
    make((3, 5))
    made = []
    assert is_hot(lambda: made.append(make((3, 5))))
    assert isinstance(made[0], od.NDArray)
    np.testing.assert_array_equal(made[0].asnumpy(), np.full((3, 5), make is nd.ones))


@pytest.mark.parametrize("wrong", [(2.0, 3), (True, 3), ("2", 3), (-1, 3)])
def test_lengths_that_equal_known_ones_are_told_apart(wrong):
    nd.zeros((2, 3))
    nd.zeros((1, 3))
    expected = refusal_of(wrong)
    for _ in range(2):
        assert refusal_of(wrong) == expected


def refusal_of(shape):
    """What is said of a shape, in a process that may know shapes equal to it; "" where it is taken."""
    try:
        return repr(nd.zeros(shape).shape)
    except od.OperadError as error:
        return str(error)


def test_arrays_from_nothing_fill_what_is_given():
    x = nd.array(X)
    part = nd.array(X)[1:3]
    nd._zeros(shape=(4, 4), out=x, ctx=od.cpu())
    assert not x.asnumpy().any()
    gate = Gate(x, writes=False)
    nd._ones(shape=(4, 4), out=x, ctx=od.cpu())
    gate.open()
    np.testing.assert_array_equal(x.asnumpy(), np.ones((4, 4)))
    nd._ones(shape=(2, 4), out=part, ctx=od.cpu())
    np.testing.assert_array_equal(part.asnumpy(), np.ones((2, 4)))

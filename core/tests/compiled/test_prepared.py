"""What kernels prepare of captured arrays is kept from call to call."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from core.tests.prepared_arrays import Scaled, noting
from operad import autograd, nd
from operad.imperative.call import Invoker

SHAPE = (2, 3)


@pytest.fixture
def fillings(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The weights that were doubled."""
    seen: list[float] = []
    monkeypatch.setattr(Scaled, "kernels", noting(seen))
    return seen


def scaled(data: od.NDArray, weight: od.NDArray) -> od.NDArray:
    found: od.NDArray = Invoker(Scaled())([data * 1, weight])
    return found


def filled(value: float) -> od.NDArray:
    return nd.full(SHAPE, value)


def first_of(array: od.NDArray) -> float:
    return float(array.asnumpy()[0, 0])


def test_it_is_filled_again_only_when_the_array_was_written(fillings: list[float]) -> None:
    weight = filled(5)
    function = od.compile(lambda data: scaled(data, weight))
    assert [first_of(function(filled(3))), first_of(function(filled(4)))] == [15, 20]
    weight[:] = 7
    assert [first_of(function(filled(3))), first_of(function(filled(4)))] == [21, 28]
    assert fillings == [5, 7]


def test_of_an_argument_it_is_made_in_each_call(fillings: list[float]) -> None:
    function = od.compile(scaled)
    assert [first_of(function(filled(3), filled(w))) for w in (5, 5, 7)] == [15, 15, 21]
    assert fillings == [5, 5, 7]


def test_an_array_whose_gradient_is_computed_is_prepared_for_nobody(fillings: list[float]) -> None:
    weight = filled(5)
    weight.attach_grad()
    function = od.compile(lambda data: scaled(data, weight))
    with autograd.record():
        found = function(filled(3))
    found.backward()
    assert (first_of(found), first_of(weight.grad)) == (15, 3)
    assert fillings == []


def test_several_calls_of_a_frozen_array_may_be_live(fillings: list[float]) -> None:
    weight, data = filled(5), filled(3)
    data.attach_grad()
    function = od.compile(lambda data: scaled(data, weight))
    with autograd.record():
        one, other = function(data), function(data)
    other.backward()
    np.testing.assert_array_equal(data.grad.asnumpy(), np.full(SHAPE, 5))
    one.backward()
    np.testing.assert_array_equal(data.grad.asnumpy(), np.full(SHAPE, 5))
    assert fillings == [5]


def test_memory_that_another_library_writes_is_read_for_every_call(fillings: list[float]) -> None:
    weight = filled(5)
    function = od.compile(lambda data: scaled(data, weight))
    assert first_of(function(filled(3))) == 15
    memory = np.from_dlpack(weight)
    memory[...] = 7  # behind the engine's back
    assert [first_of(function(filled(3))), first_of(function(filled(3)))] == [21, 21]
    assert fillings == [5, 7, 7]

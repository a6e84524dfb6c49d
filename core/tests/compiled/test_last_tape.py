"""A backward pass over a compiled call leaves notes for the next one, which fit only a tape that is alike."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from core.tests.autograd.recorded import variable
from operad import autograd, nd

pytestmark = pytest.mark.usefixtures("operators")


def gradients(function: od.compiled.CompiledFunction, *arrays: od.NDArray) -> list[list[float]]:
    with autograd.record():
        found = function(*arrays)
    found.backward()
    return [x.grad.asnumpy().tolist() for x in arrays if x.grad is not None]


def test_other_arrays_have_their_own_gradients() -> None:
    function = od.compile(lambda x, y: x * y)
    pairs = [(variable([1.0]), variable([2.0])), (variable([3.0]), variable([4.0]))]
    for _ in range(3):
        assert gradients(function, *pairs[0]) == [[2], [1]]
        assert gradients(function, *pairs[1]) == [[4], [3]]
        assert gradients(function, *reversed(pairs[0])) == [[1], [2]]


def test_a_gradient_that_is_attached_anew_is_written() -> None:
    function, x = od.compile(lambda x: x * x), variable([3.0])
    assert gradients(function, x) == [[6]]
    before = x.grad
    x.attach_grad()
    assert gradients(function, x) == [[6]]
    assert x.grad is not before
    x.attach_grad("add")
    assert [gradients(function, x) for _ in range(3)] == [[[6]], [[12]], [[18]]]


def test_another_head_has_other_gradients() -> None:
    function, x = od.compile(lambda x: (x * 2, x * x)), variable([3.0])
    for _ in range(2):
        for head, expected in ((0, 2), (1, 6)):
            with autograd.record():
                found = function(x)
            found[head].backward()
            assert x.grad.asnumpy().tolist() == [expected]


def test_what_was_freed_or_overwritten_is_refused_as_ever() -> None:
    function, x = od.compile(lambda x: x * x), variable([3.0])
    gradients(function, x)
    with autograd.record():
        found = function(x)
    found.backward(retain_graph=True)
    found.backward()
    with pytest.raises(od.errors.GradientError, match="freed"):
        found.backward()
    with autograd.record():
        found = function(x)
    x[:] = 1
    with pytest.raises(od.errors.GradientError, match="written"):
        found.backward()


def test_a_buffer_that_is_read_meanwhile_is_written_behind_it() -> None:
    function, x = od.compile(lambda x, y: x * y * y), variable([3.0])
    assert gradients(function, x, nd.array([2.0])) == [[4]]
    with autograd.record():
        found = function(x, x.grad)  # which backward reads
    found.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [16])


def test_plans_of_single_operators_keep_no_buffers() -> None:
    x = variable([3.0])
    with autograd.record():
        found = nd.square(x)
    plan = found._autograd[0].plan
    found.backward()
    assert plan.last_tape is None

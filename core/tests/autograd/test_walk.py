"""Backward passes that are recorded, with an operator whose gradient says what its own gradient is."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from core.tests.operators import OfOne, OfTwo
from operad import autograd, nd, registry
from operad.errors import GradientError
from operad.op import Kernel, Operator, assign

pytestmark = pytest.mark.usefixtures("operators")

A = np.float32([0.5, -1, 2])


class _Cube(Operator):
    def __init__(self, prop, ctx, in_shapes, in_types):
        pass

    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0] ** 3)

    def backward(self, op_ctx, arrays):
        assign(arrays.in_grad[0], arrays.req[0], 3 * arrays.out_grad[0] * arrays.in_data[0] ** 2)


class _Slope(Operator):
    def __init__(self, prop, ctx, in_shapes, in_types):
        pass

    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], 3 * arrays.in_data[0] * arrays.in_data[1] ** 2)

    def backward(self, op_ctx, arrays):
        assign(arrays.in_grad[0], arrays.req[0], 3 * arrays.out_grad[0] * arrays.in_data[1] ** 2)
        assign(
            arrays.in_grad[1], arrays.req[1], 6 * arrays.out_grad[0] * arrays.in_data[0] * arrays.in_data[1]
        )


class CubeGradient(OfTwo):
    """The gradient of `Cube`."""

    name = "_backward_test_cube"
    kernels: ClassVar = [Kernel("slope", _Slope)]
    arguments = ("output_grad", "data")


class Cube(OfOne):
    """The third power."""

    name = "test_cube"
    kernels: ClassVar = [Kernel("cube", _Cube)]

    def gradient_operator(self, ctx, in_shapes, in_types, wanted):
        return CubeGradient()


@pytest.fixture(autouse=True)
def cube():
    registry.register(Cube, "test_cube")
    yield
    registry.unregister("test_cube")


def variable(values):
    x = nd.array(values)
    x.attach_grad()
    return x


@pytest.mark.parametrize("times", [1, 4])
def test_the_operator_of_a_gradient_is_recorded_and_gradients_that_meet_are_summed(each_engine, times):
    x = variable(A)
    with autograd.record():
        cubes = [nd.test_cube(x) for _ in range(times)]
        (g,) = autograd.grad(cubes, x, create_graph=True)
    np.testing.assert_allclose(g.asnumpy(), times * 3 * A**2)
    g.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), times * 6 * A)


def test_a_gradient_without_one_ends_there_with_the_operator_named():
    x = variable(A)
    with autograd.record():
        (g,) = autograd.grad(nd.test_cube(x), x, create_graph=True)
        with pytest.raises(
            GradientError, match=r"gradient of _backward_test_cube .*node 2 of 2 that were recorded"
        ):
            autograd.grad(g, x, create_graph=True)


def test_an_operator_that_says_nothing_is_named():
    x = variable(A)
    with autograd.record():
        y = nd.square(x)
    with pytest.raises(GradientError, match=r"square .*does not say how its gradient is differentiated"):
        autograd.grad(y, x, create_graph=True)


def test_a_tape_that_was_freed_is_refused():
    x = variable(A)
    with autograd.record():
        y = nd.test_cube(x)
    y.backward()
    with pytest.raises(GradientError, match="freed by an earlier backward"):
        autograd.grad(y, x, create_graph=True)


def test_what_was_overwritten_is_refused():
    x = variable(A)
    with autograd.record():
        y = nd.test_cube(x)
    x[:] = 0
    with pytest.raises(GradientError, match="overwritten after it was recorded"):
        autograd.grad(y, x, create_graph=True)


def test_the_head_itself_may_be_asked_for():
    x, head = variable(A), nd.array(A)
    (found,) = autograd.grad(x, x, head, create_graph=True)
    head[:] = 0
    np.testing.assert_array_equal(found.asnumpy(), A)

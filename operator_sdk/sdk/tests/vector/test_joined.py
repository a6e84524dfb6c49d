"""Gradients that one function computes, by one kernel."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import operad as od
from operad.operator import BackwardArrays, OpReq
from operad_sdk import OperatorProperty, gradient, operator
from operad_sdk.mapper.builder import Builder
from operad_sdk.vector.derived_kernels import operator_of
from operad_sdk.vector.form_kernels import FormOperator
from operad_sdk.vector.joined import joined
from operator_sdk.sdk.tests.vector.test_form_kernels import context

SINGLE = np.dtype(np.float32)
PARTS = ("x_grad", "y_grad")


@operator("VectorPair")
class VectorPair(OperatorProperty):
    """A hyperbolic tangent times something."""

    spec = "x:(N, D), y:(N, D) -> output:(N, D)"
    accepts = "floating"

    def forward(x, y, output):
        np.multiply(np.tanh(x), y, out=output)

    @gradient
    def both(output_grad, x, y, x_grad, y_grad):
        slope = np.tanh(x)
        x_grad[...] = output_grad * y * (1 - slope * slope)
        y_grad[...] = output_grad * slope


@operator("VectorScale")
class VectorScale(OperatorProperty):
    """A product of each row's deviations, whose gradients are sums over rows."""

    spec = "x:(N, D, K), y:(D) -> output:(N, D, K)"
    accepts = "floating"

    def forward(x, y):
        return (x - x.mean((0, 2), keepdims=True)) * y.reshape(1, -1, 1)

    @gradient
    def both(output_grad, x, y, x_grad, y_grad):
        slope = output_grad * y.reshape(1, -1, 1)
        x_grad[...] = slope - slope.mean((0, 2), keepdims=True)
        y_grad[...] = ((x - x.mean((0, 2), keepdims=True)) * output_grad).sum((0, 2))


@operator("VectorMany")
class VectorMany(OperatorProperty):
    """One gradient of few instructions and one of so many that vectors are computed one by one."""

    spec = "x:(N, D), y:(N, D) -> output:(N, D)"
    accepts = "floating"

    def forward(x, y):
        return x * y

    @gradient
    def both(output_grad, x, y, x_grad, y_grad):
        x_grad[...] = output_grad - (output_grad * y).sum(-1, keepdims=True)
        slope = x
        for _ in range(40):
            slope = np.tanh(slope)
        y_grad[...] = output_grad - (output_grad * slope).sum(-1, keepdims=True)


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 2, 17), (5, 30, 7), (9, 3, 300), (2, 1, 5000)])
def test_sums_of_several_gradients_have_the_bits_of_each_by_itself(shape):
    rng = np.random.default_rng(1)
    head, x = (rng.standard_normal(shape).astype(SINGLE) for _ in range(2))
    y = rng.standard_normal(shape[1]).astype(SINGLE)
    given = VectorScale(), od.cpu(), [shape, y.shape], [SINGLE, SINGLE]
    made = operator_of(PARTS, *given)
    assert made._together is not None
    found = [np.empty_like(x), np.empty_like(y)]
    backward(made, head, x, y, [OpReq.WRITE] * 2, found)
    for number, part in enumerate(PARTS):
        alone = [np.empty_like(x), np.empty_like(y)]
        own = [OpReq.WRITE if i == number else OpReq.NULL for i in range(2)]
        backward(FormOperator(part, *given), head, x, y, own, alone)
        np.testing.assert_array_equal(found[number], alone[number])


@pytest.mark.parametrize("rows", [3, 3000])
@pytest.mark.parametrize("request_", [OpReq.WRITE, OpReq.ADD])
def test_all_gradients_are_one_call_of_a_plan_whatever_their_size(rows, request_):
    made = operator_of(PARTS, VectorScale(), od.cpu(), [(rows, 5, 40), (5,)], [SINGLE] * 2)
    assert len(made.backward_templates(context(), [request_] * 2, 1, 0)) == 1
    assert len(made.backward_templates(context(), [request_, OpReq.NULL], 1, 0)) == 1


def test_gradients_that_would_be_added_in_another_order_together_are_not_joined():
    assert operator_of(PARTS, VectorMany(), od.cpu(), [(3, 40)] * 2, [SINGLE] * 2)._together is None


def arrays(shape):
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape).astype(SINGLE) for _ in range(3)]


def specs(shape):
    return VectorPair(), od.cpu(), [shape, shape], [SINGLE, SINGLE]


def backward(made, head, x, y, req, targets):
    made.backward(context(), BackwardArrays([head], [x, y], [None], req, targets))


@pytest.mark.parametrize("shape", [(1, 1), (3, 17), (300, 401)])
@pytest.mark.parametrize("requests", [(OpReq.WRITE, OpReq.WRITE), (OpReq.ADD, OpReq.WRITE)])
def test_all_gradients_have_the_bits_of_each_by_itself(shape, requests):
    head, x, y = arrays(shape)
    found = [np.full(shape, 2, SINGLE) for _ in PARTS]
    made = operator_of(PARTS, *specs(shape))
    assert made._together is not None
    backward(made, head, x, y, requests, found)
    for number, part in enumerate(PARTS):
        alone = [np.full(shape, 2, SINGLE) for _ in PARTS]
        own = [request if i == number else OpReq.NULL for i, request in enumerate(requests)]
        backward(FormOperator(part, *specs(shape)), head, x, y, own, alone)
        np.testing.assert_array_equal(found[number], alone[number])


@pytest.mark.parametrize("places", [(0, None), (None, 0), (1, 2), (2, 1)])
def test_gradients_may_lie_where_inputs_lie(places):
    head, x, y = given = arrays((40, 60))
    expected = [np.empty_like(x) for _ in PARTS]
    VectorPair.both(head, x, y, *expected)
    found = [np.empty_like(x) if place is None else given[place] for place in places]
    backward(operator_of(PARTS, *specs(x.shape)), head, x, y, [OpReq.WRITE] * 2, found)
    for one, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, want, rtol=1e-5, atol=1e-6)


def test_a_gradient_that_is_not_wanted_is_not_written():
    head, x, y = arrays((40, 60))
    found = [np.full_like(x, 7) for _ in PARTS]
    backward(operator_of(PARTS, *specs(x.shape)), head, x, y, [OpReq.NULL, OpReq.WRITE], found)
    assert (found[0] == 7).all()
    np.testing.assert_allclose(found[1], head * np.tanh(x), rtol=1e-5, atol=1e-6)


def form(make, *inputs):
    builder = Builder("form", inputs)
    return builder.finish(make(builder))


def test_other_spaces_are_not_joined():
    product = form(lambda b: b.apply("multiply", 0, 1), "a", "b")
    shapes = {"a": (3, 4), "b": (3, 4), "": (3, 4)}
    assert joined([product, product], shapes) is not None
    less = form(lambda b: b.apply("negative", 0), "c")
    assert joined([product, less], shapes | {"c": (3, 1), "": ()}) is None

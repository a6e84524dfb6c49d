"""States that stand among the arguments: calls and files have them there, plans and nodes behind."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import operad as od
from operad import registry
from operad.op import Kernel, Operator, OperatorProperty, assign


class Step(Operator):
    """`mean += data`, and the output is `(data - mean) * rate`."""

    def __init__(self, *_):
        pass

    def forward(self, op_ctx, arrays):
        arrays.aux_states[0] += arrays.in_data[0]
        assign(
            arrays.out_data[0], arrays.req[0], (arrays.in_data[0] - arrays.aux_states[0]) * arrays.in_data[1]
        )

    def backward(self, op_ctx, arrays):
        assign(arrays.in_grad[0], arrays.req[0], 0)
        assign(
            arrays.in_grad[1],
            arrays.req[1],
            (arrays.out_grad[0] * (arrays.in_data[0] - arrays.aux_states[0])).sum(keepdims=True),
        )


class state_between(OperatorProperty):  # noqa: N801 - named as operators are
    """A state between two arguments."""

    kernels = (Kernel("state_between.array", Step),)

    def list_arguments(self):
        return ["data", "rate"]

    def list_auxiliary_states(self):
        return ["mean"]

    def list_inputs(self):
        return ["data", "mean", "rate"]

    def infer_shape(self, in_shapes):
        return [in_shapes[0], (1,)], [in_shapes[0]], [in_shapes[0]]


DATA, MEAN, RATE = np.float32([1, 2, 3]), np.float32([10, 20, 30]), np.float32([2])


@pytest.fixture(autouse=True)
def installed():
    registry.register(state_between)
    yield
    registry.unregister("state_between")
    registry.refresh()


def expected():
    return -MEAN * RATE, DATA + MEAN


def test_an_operator_without_states_moves_nothing():
    assert registry.get("state_between")().input_positions() == [0, 2, 1]
    natural = type("natural", (state_between,), {"list_inputs": OperatorProperty.list_inputs})
    assert natural().input_positions() is None


@pytest.mark.parametrize("by_name", [False, True])
def test_a_call_has_it_where_it_stands(by_name):
    data, mean, rate = map(od.nd.array, (DATA, MEAN, RATE))
    if by_name:
        out = od.nd.state_between(rate=rate, data=data, mean=mean)
    else:
        out = od.nd.state_between(data, mean, rate)
    np.testing.assert_array_equal(out.asnumpy(), expected()[0])
    np.testing.assert_array_equal(mean.asnumpy(), expected()[1])


def test_a_recorded_call_gives_the_right_gradients():
    data, mean, rate = map(od.nd.array, (DATA, MEAN, RATE))
    rate.attach_grad()
    with od.autograd.record():
        out = od.nd.state_between(data, mean, rate)
    out.backward()
    np.testing.assert_array_equal(rate.grad.asnumpy(), [-MEAN.sum()])


@pytest.mark.parametrize("again", [lambda made: made, copy.deepcopy])
def test_a_symbol_keeps_the_place(again):
    symbol = again(od.sym.state_between(*map(od.sym.var, "dmr"), name="step"))
    assert (symbol.list_arguments(), symbol.list_auxiliary_states()) == (["d", "r"], ["m"])
    mean = od.nd.array(MEAN)
    executor = symbol.bind(od.cpu(), {"d": od.nd.array(DATA), "r": od.nd.array(RATE)}, aux_states={"m": mean})
    np.testing.assert_array_equal(executor.forward()[0].asnumpy(), expected()[0])
    np.testing.assert_array_equal(mean.asnumpy(), expected()[1])

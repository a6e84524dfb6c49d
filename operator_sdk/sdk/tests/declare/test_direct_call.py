"""A declared operator is called by its class."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad import nd, sym
from operad.errors import ArgumentError, OperatorNotFoundError, ParamError
from operad_sdk import OperatorProperty, operator, param, unary


@unary("direct_scale", accepts="floating")
def direct_scale(x, factor=param(float, 2.0)):  # noqa: B008 - a declaration
    return x * factor


@direct_scale.gradient
def _(output_grad, factor):
    return output_grad * factor


@operator("DirectDot")
class DirectDot(OperatorProperty):
    times = param(int, 1)
    spec = "left:(N, K), right:(K, M) -> output:(N, M)"

    def forward(left, right, times):
        return left @ right * times


X = nd.array([1, 2])


def test_arrays_give_what_the_operator_computes_without_a_registered_name():
    np.testing.assert_array_equal(direct_scale(X, factor=3.0).asnumpy(), [3, 6])
    np.testing.assert_array_equal(direct_scale(X, 5.0).asnumpy(), [5, 10])
    a, b = nd.ones((2, 3)), nd.ones((3, 4))
    np.testing.assert_array_equal(DirectDot(a, b, times=2).asnumpy(), np.full((2, 4), 6))
    np.testing.assert_array_equal(DirectDot(a, right=b).asnumpy(), np.full((2, 4), 3))


def test_a_call_is_recorded_as_any_other():
    x = nd.array([1, 2])
    x.attach_grad()
    with od.autograd.record():
        y = direct_scale(x, factor=3.0)
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [3, 3])


def test_out_is_written():
    out = nd.zeros(2)
    assert direct_scale(X, out=out) is out
    np.testing.assert_array_equal(out.asnumpy(), [2, 4])


def test_symbols_are_composed():
    net = direct_scale(sym.var("x"), factor=4.0, name="scaled")
    assert net.list_outputs() == ["scaled_output"]
    (found,) = net.simple_bind(od.cpu(), x=(2,)).forward(x=X)
    np.testing.assert_array_equal(found.asnumpy(), [4, 8])


def test_parameters_alone_make_the_property():
    assert isinstance(direct_scale(factor=3.0), direct_scale)
    assert DirectDot(times=2).times == 2


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: direct_scale(np.ones(2)), ArgumentError, "make an NDArray of it with nd.array"),
        (lambda: direct_scale([1, 2]), ArgumentError, "make an NDArray of it with nd.array"),
        (lambda: direct_scale(X, factr=1.0), ParamError, "did you mean 'factor'"),
        (lambda: DirectDot(X), ArgumentError, "got 1 arrays, expected 2: left, right"),
    ],
)
def test_a_mistake_is_said_as_by_a_registered_operator(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("module", [nd, sym])
def test_a_name_that_is_declared_and_not_registered_says_how_to_register_it(module):
    with pytest.raises(OperatorNotFoundError, match=r"operad\.registry\.register\(direct_scale\) adds it"):
        module.direct_scale  # noqa: B018 - looking it up is what fails

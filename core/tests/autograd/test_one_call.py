"""A backward pass that is a single call runs as that call, and makes no binding of a program."""

from __future__ import annotations

import numpy as np
import pytest

import operad as mx
from operad.autograd import program as room


@pytest.fixture
def _no_binding(monkeypatch):
    def refused(*_, **__):
        raise AssertionError("a binding was made")

    monkeypatch.setattr(room, "Binding", refused)


@pytest.mark.usefixtures("_no_binding")
def test_the_gradient_of_one_operator_of_kernels_is_one_call():
    x = mx.nd.array([[1.0, -2.0]])
    x.attach_grad()
    for _ in range(2):
        with mx.autograd.record():
            y = mx.nd.tanh(x)
        y.backward(mx.nd.array([[1.0, 3.0]]))
        np.testing.assert_allclose(x.grad.asnumpy(), [[1, 3]] * (1 - np.tanh([[1, -2]]) ** 2), rtol=1e-6)


def test_calls_of_other_values_have_gradients_of_their_own():
    x = mx.nd.array([1.0, 2.0])
    x.attach_grad()
    for factor in (2.0, 3.0, 2.0):
        with mx.autograd.record():
            y = x * factor
        y.backward()
        assert x.grad.asnumpy().tolist() == [factor, factor]

"""A program as an operator: what a tape keeps, heads, second order, and errors."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from core.tests.autograd.recorded import A, B, variable
from core.tests.compiled.polynomial import gradients, recorded
from operad import autograd, nd
from operad.errors import GradientError, OperadError

pytestmark = pytest.mark.usefixtures("operators")


def test_an_argument_that_gradients_do_not_read_may_be_overwritten() -> None:
    x, y = variable(A), variable(B)
    z = recorded(x, y, od.compile(lambda x, y: x * 2 + y))
    with autograd.pause():
        y[:] = 0
    z.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 2, 2])


def test_some_of_the_results_are_heads() -> None:
    x, y = variable(A), variable(B)
    one, _ = recorded(x, y, od.compile(lambda x, y: (x * y, nd.square(x))))
    one.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), B)


def test_a_gradient_that_no_buffer_takes_may_be_asked_for() -> None:
    x = variable(A, "null")
    (found,) = autograd.grad(recorded(x, variable(B)), x)
    np.testing.assert_allclose(found.asnumpy(), gradients(A, B)[0], rtol=1e-6)


def test_second_order_wants_its_arguments_kept() -> None:
    x, y = variable(A), variable(B)
    with pytest.raises(GradientError, match="create_graph=True"):
        autograd.grad(recorded(x, y), x, create_graph=True)


def test_an_error_names_the_function_the_operator_and_the_node() -> None:
    failing = od.compile(lambda x: nd.explode(x * 2, limit=3) + 1)
    found = failing(nd.array(A))
    with pytest.raises(OperadError, match="a value above 3") as error:
        found.asnumpy()
    text = "".join(error.value.__notes__)
    assert "<lambda>#" in text
    assert "in forward of explode 'explode0'" in text
    np.testing.assert_array_equal(failing(nd.array([0.0, 1.0, -1.0])).asnumpy(), [1, 3, -1])


def test_an_error_of_backward_leaves_the_next_one_alone() -> None:
    failing = od.compile(lambda x: nd.explode_back(x, limit=3) * 1)
    x = variable(A)
    with autograd.record():
        y = failing(x)
    y.backward(nd.array([4.0, 0, 0]), retain_graph=True)
    with pytest.raises(OperadError, match="a value above 3"):
        x.grad.asnumpy()
    y.backward(nd.array([1.0, 2, 3]))
    np.testing.assert_array_equal(x.grad.asnumpy(), [1, 2, 3])

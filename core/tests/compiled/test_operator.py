"""A program as an operator: gradients, their requests, what a tape keeps, and errors."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from core.tests.autograd.recorded import A, B, variable
from operad import autograd, nd
from operad.errors import GradientError, OperadError

pytestmark = pytest.mark.usefixtures("operators")


def polynomial(x, y):
    return nd.square(x) * y - x * y * y


def gradients(x, y):
    return 2 * x * y - y * y, x * x - 2 * x * y


compiled = od.compile(polynomial)


def recorded(x, y, function=compiled):
    with autograd.record():
        return function(x, y)


@pytest.mark.parametrize("is_mixed", [False, True], ids=["alone", "among others"])
class TestGradients:
    """Of a tape that is the one call, and of one with other calls around it."""

    @staticmethod
    def run(x, y, is_mixed):
        return recorded(x, y, lambda x, y: compiled(x * 1.0, y) * 1.0) if is_mixed else recorded(x, y)

    def test_are_those_of_the_function(self, is_mixed, each_engine) -> None:
        x, y = variable(A), variable(B)
        self.run(x, y, is_mixed).backward(nd.array(B))
        for array, expected in zip((x, y), gradients(A, B), strict=True):
            np.testing.assert_allclose(array.grad.asnumpy(), expected * B, rtol=1e-6)

    def test_are_added_where_that_is_asked(self, is_mixed) -> None:
        x, y = variable(A, "add"), variable(B, "null")
        for _ in range(3):
            self.run(x, y, is_mixed).backward()
        np.testing.assert_allclose(x.grad.asnumpy(), 3 * gradients(A, B)[0], rtol=1e-6)
        np.testing.assert_array_equal(y.grad.asnumpy(), [0, 0, 0])

    def test_may_be_computed_again_from_what_was_retained(self, is_mixed) -> None:
        x, y = variable(A), variable(B)
        z = self.run(x, y, is_mixed)
        found = []
        for _ in range(2):
            z.backward(retain_graph=True)
            found.append(x.grad.asnumpy())
        np.testing.assert_array_equal(*found)
        z.backward()
        with pytest.raises(GradientError, match="freed by an earlier backward"):
            z.backward()

    def test_of_several_live_runs_are_apart(self, is_mixed) -> None:
        runs = [(variable(A + i), variable(B - i)) for i in range(5)]
        results = [self.run(x, y, is_mixed) for x, y in runs]
        for z in results[::-1]:
            z.backward()
        for i, (x, _) in enumerate(runs):
            np.testing.assert_allclose(x.grad.asnumpy(), gradients(A + i, B - i)[0], rtol=1e-6)

    def test_an_argument_that_was_overwritten_is_refused(self, is_mixed) -> None:
        x, y = variable(A), variable(B)
        z = self.run(x, y, is_mixed)
        with autograd.pause():
            y[:] = 0
        with pytest.raises(GradientError, match="was overwritten after it was recorded"):
            z.backward()

    def test_one_array_may_be_several_arguments(self, is_mixed) -> None:
        x = variable(A)
        self.run(x, x, is_mixed).backward()
        np.testing.assert_allclose(x.grad.asnumpy(), np.float32([0, 0, 0]), atol=1e-6)

    def test_grad_gives_them_in_arrays_of_their_own(self, is_mixed) -> None:
        x, y = variable(A, "add"), variable(B)
        (found,) = autograd.grad(self.run(x, y, is_mixed), x)
        np.testing.assert_allclose(found.asnumpy(), gradients(A, B)[0], rtol=1e-6)
        np.testing.assert_array_equal(x.grad.asnumpy(), [0, 0, 0])


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


def test_a_gradient_for_which_it_was_not_compiled_says_so() -> None:
    x = variable(A, "null")
    with pytest.raises(GradientError, match="without the gradient"):
        autograd.grad(recorded(x, variable(B)), x)


def test_second_order_wants_its_arguments_kept() -> None:
    x, y = variable(A), variable(B)
    with pytest.raises(GradientError, match="create_graph=True"):
        autograd.grad(recorded(x, y), x, create_graph=True)


def test_the_hidden_output_is_as_large_as_what_backward_reads() -> None:
    x, y = variable(A), variable(B)
    z = recorded(x, y)
    prop = z._autograd[0].plan.prop
    assert prop.list_outputs()[-1] == "arena"
    assert prop.layout.arena_bytes == 128  # the square of x, and x * y
    with autograd.pause():
        compiled(x, y)
    assert "0 bytes kept" in compiled.why()


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

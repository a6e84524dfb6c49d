"""Graphs of several outputs and uses, and operators that write in place, go backward."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.autograd.recorded import A, B, variable
from operad import autograd, nd
from operad.errors import BindError

pytestmark = pytest.mark.usefixtures("operators")


class TestStructures:
    """Programs of one structure share a schedule; others must not."""

    def gradient(self, function, *values, req="write"):
        variables = [variable(value, req) for value in values]
        with autograd.record():
            y = function(*variables)
        y.backward()
        return [x.grad.asnumpy() for x in variables]

    def test_the_same_with_other_values(self):
        for values in (A, B, A + B):
            (grad,) = self.gradient(lambda x: nd.square(nd.tanh(x)), values)
            t = np.tanh(values)
            np.testing.assert_array_equal(grad, 2 * t * (1 - t * t))

    def test_shared_and_separate_inputs(self):
        np.testing.assert_array_equal(self.gradient(lambda x: x * x, A)[0], 2 * A)
        for got, expected in zip(self.gradient(lambda x, y: x * y, A, B), (B, A), strict=True):
            np.testing.assert_array_equal(got, expected)

    def test_the_same_operators_wired_otherwise(self):
        first = lambda x, y: (x * y) * x  # noqa: E731
        second = lambda x, y: (x * y) * y  # noqa: E731
        for got, expected in zip(self.gradient(first, A, B), (2 * A * B, A * A), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-6)
        for got, expected in zip(self.gradient(second, A, B), (B * B, 2 * A * B), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-6)

    def test_shared_and_repeated_parts(self):
        def shared(x):
            y = nd.square(x)
            return y * y

        def repeated(x):
            return nd.square(x) * nd.square(x)

        for function in (shared, repeated, shared):
            np.testing.assert_allclose(self.gradient(function, A)[0], 4 * A**3, rtol=1e-6)

    def test_variables_and_constants(self):
        constant = nd.array(B)
        np.testing.assert_array_equal(self.gradient(lambda x: x * constant, A)[0], B)
        np.testing.assert_array_equal(self.gradient(lambda x: constant * x, A)[0], B)
        np.testing.assert_array_equal(self.gradient(lambda x, y: x * y, A, B)[1], A)

    def test_requests_heads_and_shapes(self):
        for req in ("write", "add", "write"):
            np.testing.assert_array_equal(self.gradient(nd.square, A, req=req)[0], 2 * A)
        np.testing.assert_array_equal(self.gradient(nd.square, A[:2])[0], 2 * A[:2])
        x = variable(A)
        with autograd.record():
            first, second = x * 2, x * 3
        autograd.backward([first, second], [nd.array(A), nd.array(B)], retain_graph=True)
        np.testing.assert_array_equal(x.grad.asnumpy(), 2 * A + 3 * B)
        autograd.backward([second, first], [nd.array(A), nd.array(B)])
        np.testing.assert_array_equal(x.grad.asnumpy(), 3 * A + 2 * B)

    def test_outputs_of_several(self):
        def use(i):
            return lambda x: nd.SineCosine(x)[i] * 1

        np.testing.assert_array_equal(self.gradient(use(0), A)[0], np.cos(A))
        np.testing.assert_array_equal(self.gradient(use(1), A)[0], -np.sin(A))
        np.testing.assert_array_equal(self.gradient(use(0), A)[0], np.cos(A))


class TestInPlace:
    def test_out_may_not_be_recorded(self):
        x = variable(A)
        with autograd.record():
            y = x * 2
            for out in (x, y):
                with pytest.raises(BindError, match="part of what is being recorded"):
                    nd.tanh(nd.array(A), out=out)

    def test_out_becomes_recorded(self):
        x, out = variable(A), nd.empty(3)
        with autograd.record():
            nd.square(x, out=out)
            y = out * 3
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), 6 * A)

    def test_a_recorded_result_may_not_go_into_a_part_of_an_array(self):
        x, whole = variable(A), nd.array(np.zeros(6))
        with autograd.record():
            for write in (
                lambda: nd.square(x, out=whole[:3]),
                lambda: x.copyto(whole[3:]),
                lambda: whole[:3].__iadd__(x),
            ):
                with pytest.raises(BindError, match="part of another array"):
                    write()
            nd.square(nd.array(A), out=whole[:3])
            with autograd.pause():
                x.copyto(whole[3:])
        np.testing.assert_array_equal(whole.asnumpy(), [*(A * A), *A])

    def test_out_may_be_an_input_that_the_gradient_reads(self):
        x, w = nd.array(A), variable(B)
        with autograd.record():
            nd.elemwise_mul(x, w, out=x)
            y = nd.square(x)
        y.backward()
        np.testing.assert_array_equal(w.grad.asnumpy(), 2 * (A * B) * A)

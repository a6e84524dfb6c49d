"""Gradients of recorded programs."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.autograd.recorded import A, B, variable
from core.tests.operators import SineCosine
from operad import autograd, nd
from operad.device import cpu
from operad.errors import ArgumentError, GradientError

pytestmark = pytest.mark.usefixtures("operators")

SHARED = nd.array(A)


class TestHeads:
    def test_default_to_a_gradient_of_ones(self, each_engine):
        x = variable(A)
        with autograd.record():
            y = nd.square(x)
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), 2 * A)

    def test_take_a_gradient(self):
        x = variable(A)
        with autograd.record():
            y = nd.square(x)
        y.backward(nd.array(B))
        np.testing.assert_array_equal(x.grad.asnumpy(), 2 * B * A)

    def test_several_are_summed(self):
        x = variable(A)
        with autograd.record():
            y, z = nd.square(x), x * 3
        autograd.backward([y, z, y], [nd.array(B), None, nd.array(2 * B)])
        np.testing.assert_array_equal(x.grad.asnumpy(), 2 * A * 3 * B + 3)

    def test_need_what_only_training_computes(self, monkeypatch):
        monkeypatch.setattr(SineCosine, "train_only_outputs", frozenset([1]))
        x = variable(np.ones((3, 7)))
        for create_graph in (False, True):
            with autograd.record(train_mode=False):
                sine = nd.SineCosine(x)[0]
            with pytest.raises(
                GradientError, match="reads 'cosine', which is computed only in training; rec"
            ):
                autograd.grad(sine, x, create_graph=create_graph)
            autograd.grad(sine, x, train_mode=False)
        with autograd.record():
            sine = nd.SineCosine(x)[0]
        sine.backward()
        np.testing.assert_allclose(x.grad.asnumpy(), np.cos(np.ones((3, 7))), rtol=1e-6)

    def test_may_be_leaves(self):
        x = variable(A)
        autograd.backward([x, x], [nd.array(A), nd.array(B)])
        np.testing.assert_array_equal(x.grad.asnumpy(), A + B)

    def test_may_depend_on_each_other(self):
        x = variable(A)
        with autograd.record():
            y = x * 2
            z = nd.square(y)
        autograd.backward([y, z])
        np.testing.assert_array_equal(x.grad.asnumpy(), 2 + 2 * (2 * A) * 2)

    def test_the_head_gradient_is_left_as_it_is(self):
        x, head = variable(A), nd.array(B)
        with autograd.record():
            y = nd.tanh(nd.square(x) * 3)
        y.backward(head)
        np.testing.assert_array_equal(head.asnumpy(), B)

    @pytest.mark.parametrize(
        ("head_grads", "message"),
        [
            ([nd.array(A)] * 2, "2 head_grads for 1 heads"),
            ([nd.array([1])], r"head_grads\[0\] is float32\(1,\) on cpu\(0\), expected float32\(3,\)"),
            ([nd.array(A, dtype="float64")], "is float64"),
            ([A], r"head_grads\[0\] is ndarray, expected an NDArray"),
            (A, "3 head_grads for 1 heads"),
        ],
    )
    def test_that_do_not_fit_are_refused(self, head_grads, message):
        x = variable(A)
        with autograd.record():
            y = x * 2
        with pytest.raises(ArgumentError, match=message):
            autograd.backward([y], head_grads)

    def test_that_are_no_arrays_are_refused(self):
        with pytest.raises(ArgumentError, match="head 0 is ndarray, expected an NDArray"):
            autograd.backward([A])
        with pytest.raises(ArgumentError, match="variable 1 is ndarray, expected an NDArray"):
            autograd.grad(variable(A), [variable(A), A])

    def test_that_were_not_recorded_are_refused(self):
        x = variable(A)
        y = x * 2
        for head in (y, nd.array(A)):
            with pytest.raises(GradientError, match="head 0 was not recorded"):
                head.backward()

    def test_say_which_step_was_forgotten(self):
        """The array was made, computed from nothing marked, or computed while nothing was recorded."""
        x, plain = variable(A), nd.array(A)
        with autograd.record():
            from_unmarked, passed_on = plain * 2, plain * 2 + 1
            with autograd.pause():
                paused = x * 2
            detached = (x * 2).detach()
        for head, forgotten in (
            (plain, "it was made, not computed"),
            (nd.empty((2,)), "it was made, not computed"),
            (from_unmarked, "no array it was computed from has a gradient; call attach_grad"),
            (passed_on, "no array it was computed from has a gradient; call attach_grad"),
            (x * 2, "it was computed outside autograd.record"),
            (paused, "it was computed outside autograd.record"),
            (detached, "it was computed outside autograd.record"),
        ):
            with pytest.raises(GradientError, match=rf"backward: head 0 was not recorded: {forgotten}"):
                head.backward()


class TestNoGradient:
    """What MXNet gives for operators without a gradient: zeros."""

    @pytest.mark.parametrize("operator", ["sign", "BlockGrad"])
    @pytest.mark.parametrize(("req", "expected"), [("write", 0), ("add", 7)])
    def test_behind_an_operator_without_one_is_zero(self, operator, req, expected):
        x = variable(A, req)
        x.grad[:] = 7
        with autograd.record():
            y = getattr(nd, operator)(x)
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), np.full(3, expected))

    def test_does_not_stop_that_of_another_head(self):
        x = variable(A)
        with autograd.record():
            y, z = nd.sign(x), nd.square(x)
        autograd.backward([y, z])
        np.testing.assert_array_equal(x.grad.asnumpy(), 2 * A)

    def test_leaves_variables_that_no_head_depends_on(self):
        x, other = variable(A), variable(B)
        other.grad[:] = 7
        with autograd.record():
            y = nd.sign(x)
            nd.sign(other)
        y.backward()
        np.testing.assert_array_equal(other.grad.asnumpy(), np.full(3, 7))

    def test_keeps_no_array(self):
        x = variable(A)
        with autograd.record():
            y = nd.sign(nd.sign(x))
        assert y._autograd[0].saved == []

    def test_of_integers_is_computed_in_integers(self):
        x = nd.array([3, -4], dtype="int32")
        x.attach_grad()
        with autograd.record():
            y = nd.square(x)
        y.backward()
        assert x.grad.dtype == np.int32
        assert x.grad.asnumpy().tolist() == [6, -8]


class TestRequests:
    def test_add_accumulates(self):
        x = variable(A, "add")
        for _ in range(3):
            with autograd.record():
                y = nd.square(x)
            y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), 6 * A)

    @pytest.mark.parametrize("uses", [1, 5, 8, 9, 12, 24])
    def test_any_number_of_uses_adds_exactly(self, uses):
        for grad_req, start in (("write", 0), ("add", 100)):
            x = variable(A, grad_req)
            x.grad[:] = 100
            with autograd.record():
                total = x * 1
                for _ in range(uses - 1):
                    total = total + x
            total.backward()
            np.testing.assert_array_equal(x.grad.asnumpy(), np.full(3, start + uses))

    def test_null_computes_nothing(self):
        x, w = variable(A, "null"), variable(B)
        x.grad[:] = 7
        with autograd.record():
            y = x * w
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), [7, 7, 7])
        np.testing.assert_array_equal(w.grad.asnumpy(), A)

    def test_each_variable_may_have_its_own(self):
        arrays, grads = [nd.array(A), nd.array(B)], [nd.array(A), nd.array(A)]
        autograd.mark_variables(arrays, grads, ["add", "write"])
        with autograd.record():
            y = arrays[0] * arrays[1]
        y.backward()
        np.testing.assert_array_equal(grads[0].asnumpy(), A + B)
        np.testing.assert_array_equal(grads[1].asnumpy(), A)
        assert arrays[0].grad is grads[0]

    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
            (([nd.array(A)], [], "write"), ArgumentError, "1 variables, 0 gradients"),
            ((nd.array(A), nd.array([1]), "write"), ArgumentError, r"the gradient is float32\(1,\)"),
            ((nd.array(A), nd.array(A, cpu(1)), "write"), ArgumentError, r"cpu\(1\), expected"),
            ((nd.array(A), nd.array(A), "sum"), ArgumentError, "grad_req is 'sum'"),
            ((A, nd.array(A), "write"), ArgumentError, "3 variables, 1 gradients"),
            (([A], [nd.array(A)], "write"), ArgumentError, "variable 0 is ndarray"),
            (([nd.array(A)], [A], "write"), ArgumentError, "the gradient is ndarray"),
            ((SHARED, SHARED, "write"), ArgumentError, "would overwrite a variable"),
            (([nd.array(A), nd.array(B)], [SHARED] * 2, "write"), ArgumentError, "or another gradient"),
        ],
    )
    def test_that_cannot_be_are_refused(self, arguments, error, message):
        with pytest.raises(error, match=message):
            autograd.mark_variables(*arguments)


class TestGrad:
    def test_gives_new_arrays_and_leaves_the_buffers(self):
        x, w = variable(A), variable(B)
        with autograd.record():
            y = nd.square(x) * w
        found = autograd.grad(y, [x, w, x], head_grads=nd.array(A))
        for got, expected in zip(found, [2 * A * B * A, A * A * A, 2 * A * B * A], strict=True):
            np.testing.assert_array_equal(got.asnumpy(), expected)
        assert not x.grad.asnumpy().any()

    def test_of_computed_arrays(self):
        x = variable(A)
        with autograd.record():
            y = nd.square(x)
            z = y * 3
        np.testing.assert_array_equal(autograd.grad(z, y)[0].asnumpy(), [3, 3, 3])

    def test_is_a_list_however_variables_are_given(self):
        x, w = variable(A), variable(B)
        for variables, expected in ((x, [B]), ([x], [B]), ((x,), [B]), ((w, x), [A, B])):
            for heads in ((lambda y: y), (lambda y: [y]), (lambda y: (y,))):
                with autograd.record():
                    y = x * w
                found = autograd.grad(heads(y), variables)
                assert type(found) is list
                np.testing.assert_array_equal([g.asnumpy() for g in found], expected)

    def test_of_no_variables_is_refused(self):
        with pytest.raises(ArgumentError, match="grad: variables is empty"):
            autograd.grad(variable(A), [])

    def test_of_what_the_head_does_not_depend_on_is_zero(self):
        x, w = variable(A), variable(B)
        with autograd.record():
            y = x * 2
        gx, gw = autograd.grad(y, [x, w])
        np.testing.assert_array_equal(gx.asnumpy(), [2, 2, 2])
        np.testing.assert_array_equal(gw.asnumpy(), [0, 0, 0])

    def test_of_constants_is_refused(self):
        x = variable(A)
        with autograd.record():
            y = x * nd.array(B)
        with pytest.raises(GradientError, match="variable 0 was not recorded"):
            autograd.grad(y, nd.array(B))

    def test_of_gradients_is_refused(self):
        x = variable(A)
        with autograd.record():
            y = nd.square(x)
        with pytest.raises(GradientError, match="create_graph"):
            autograd.grad(y, x, create_graph=True)


class TestKeepingTheGraph:
    def test_a_second_backward_needs_it(self):
        x = variable(A)
        with autograd.record():
            y = nd.square(x)
        y.backward(retain_graph=True)
        y.backward()
        with pytest.raises(GradientError, match=r"square.*retain_graph=True"):
            y.backward()

    def test_a_part_that_was_freed_is_refused(self):
        x = variable(A)
        with autograd.record():
            y = nd.square(x)
            z, w = y * 2, y * 3
        z.backward()
        with pytest.raises(GradientError, match="freed"):
            w.backward()

    @pytest.mark.parametrize("key", [slice(None), slice(1, None)], ids=["whole", "by a view"])
    def test_recorded_values_that_were_overwritten_are_refused(self, key):
        x, factor = variable(A), nd.array(B)
        with autograd.record():
            y = x * factor
        factor[key] += 1
        with pytest.raises(GradientError, match="elemwise_mul: its rhs was overwritten"):
            y.backward()

    def test_values_that_no_gradient_reads_may_be_overwritten(self):
        x, term = variable(A), nd.array(B)
        with autograd.record():
            y = x + term
        term[:] = 0
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), [1, 1, 1])

    def test_a_variable_may_be_updated_after_backward(self):
        x = variable(A)
        for _ in range(2):
            with autograd.record():
                y = nd.square(x)
            y.backward()
            x -= x.grad * 0.25
        np.testing.assert_array_equal(x.asnumpy(), A / 4)


def test_a_gradient_is_fresh_until_a_program_says_otherwise():
    x, other = nd.array([1.0]), nd.array([1.0])
    assert not x._fresh_grad
    for array in (x, other):
        array.attach_grad()
    with autograd.record():
        y = x * 2
    assert not x._fresh_grad
    y.backward()
    assert (x._fresh_grad, other._fresh_grad, y._fresh_grad) == (1, 0, 0)
    x._fresh_grad = False
    assert not x._fresh_grad

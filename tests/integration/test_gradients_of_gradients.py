"""`autograd.grad(create_graph=True)` on operators of the plugins, against derivatives worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from operad import autograd, nd
from operad.errors import ArgumentError, GradientError

X = np.array([0.3, -0.7, 1.1, 2.0])


def variable(values, grad_req="write"):
    x = nd.array(values, dtype="float64")
    x.attach_grad(grad_req)
    return x


def derivatives(function, values, order):
    """The derivatives of a function of elements, up to one of that order."""
    x = variable(values)
    found = []
    with autograd.record():
        y = function(x)
        for _ in range(order):
            (y,) = autograd.grad(y, x, create_graph=True)
            found.append(y.asnumpy())
    return found


class TestAnyOrder:
    def test_of_sin_cycles(self):
        expected = [np.cos(X), -np.sin(X), -np.cos(X), np.sin(X), np.cos(X)]
        np.testing.assert_allclose(derivatives(nd.sin, X, 5), expected, rtol=1e-12)

    def test_of_exp_stays(self):
        np.testing.assert_allclose(derivatives(nd.exp, X, 4), [np.exp(X)] * 4, rtol=1e-12)

    def test_of_tanh(self):
        t = np.tanh(X)
        s = 1 - t * t
        expected = [s, -2 * t * s, -2 * s * s + 4 * t * t * s]
        np.testing.assert_allclose(derivatives(nd.tanh, X, 3), expected, rtol=1e-12)

    def test_of_a_power_ends_in_zeros(self):
        expected = [3 * X**2, 6 * X, 6 + 0 * X, 0 * X]
        np.testing.assert_allclose(derivatives(lambda x: x * x * x, X, 4), expected, rtol=1e-12)

    def test_of_sigmoid(self):
        y = 1 / (1 + np.exp(-X))
        s = y * (1 - y)
        expected = [s, s * (1 - 2 * y), s * (1 - 6 * y + 6 * y * y)]
        found = derivatives(lambda x: nd.Activation(x, act_type="sigmoid"), X, 3)
        np.testing.assert_allclose(found, expected, rtol=1e-12)

    def test_of_an_operator_that_is_a_mapper(self):
        e = 2 / np.sqrt(np.pi) * np.exp(-X * X)
        np.testing.assert_allclose(
            derivatives(nd.erf, X, 3), [e, -2 * X * e, (4 * X * X - 2) * e], rtol=1e-12
        )


class TestHessians:
    def test_of_a_quadratic_form(self):
        rng = np.random.default_rng(1)
        a, x0, v = rng.normal(size=(3, 3)), rng.normal(size=(3, 1)), rng.normal(size=(3, 1))
        x = variable(x0)
        with autograd.record():
            y = (x * nd.dot(nd.array(a, dtype="float64"), x)).sum()
            (g,) = autograd.grad(y, x, create_graph=True)
        np.testing.assert_allclose(g.asnumpy(), (a + a.T) @ x0, rtol=1e-12)
        g.backward(nd.array(v, dtype="float64"))
        np.testing.assert_allclose(x.grad.asnumpy(), (a + a.T) @ v, rtol=1e-12)

    def test_of_log_sum_exp_is_the_covariance_of_the_softmax(self):
        x = variable(X[None])
        with autograd.record():
            y = nd.log_softmax(x)
            (g,) = autograd.grad(y, x, nd.array([[1, 0, 0, 0]], dtype="float64"), create_graph=True)
        p = np.exp(X) / np.exp(X).sum()
        rows = np.diag(p) - np.outer(p, p)
        for i in range(len(X)):
            one = nd.array(np.eye(len(X))[i : i + 1], dtype="float64")
            (found,) = autograd.grad(g, x, one, retain_graph=True)
            np.testing.assert_allclose(found.asnumpy()[0], -rows[i], rtol=1e-10, atol=1e-14)

    def test_follow_the_head_gradient(self):
        """The gradient is linear in it, so its derivative by it is the slope."""
        x, head = variable(X), variable(X + 1)
        with autograd.record():
            (g,) = autograd.grad(nd.square(x), x, head, create_graph=True)
        g.backward()
        np.testing.assert_allclose(head.grad.asnumpy(), 2 * X)
        np.testing.assert_allclose(x.grad.asnumpy(), 2 * (X + 1))

    def test_through_broadcasting_sum_back(self):
        x, w = variable(np.ones((2, 3))), variable([[1.0, 2.0, 3.0]])
        with autograd.record():
            y = nd.broadcast_mul(nd.square(x), w)
            (gw,) = autograd.grad(y, w, create_graph=True)  # the sum of x^2 over rows
        gw.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), 2 * np.ones((2, 3)))


class TestFirstOrder:
    @pytest.mark.parametrize(
        "function",
        [
            nd.tanh,
            nd.softmax,
            lambda x: nd.broadcast_mul(x, nd.sum(x, axis=1, keepdims=True)),
            lambda x: nd.LeakyReLU(x, act_type="gelu"),
            lambda x: nd.dot(x, x, transpose_b=True),
            lambda x: nd.FullyConnected(x, nd.ones((2, 6)), nd.ones(2), num_hidden=2),
            lambda x: nd.Convolution(
                x.reshape((5, 2, 3)), nd.ones((4, 2, 2)), kernel=(2,), num_filter=4, no_bias=True
            ),
            lambda x: nd.BatchNorm(x, *[nd.ones(6) for _ in range(4)]),
            lambda x: nd.LayerNorm(x, nd.ones(6), nd.ones(6)),
        ],
        ids=[
            "tanh",
            "softmax",
            "broadcast",
            "gelu",
            "dot",
            "FullyConnected",
            "Convolution",
            "BatchNorm",
            "LayerNorm",
        ],
    )
    def test_values_are_the_same_bits(self, function):
        x = nd.array(np.random.default_rng(0).normal(size=(5, 6)).astype(np.float32))
        x.attach_grad()
        with autograd.record():
            y = function(x)
        (plain,) = autograd.grad(y, x, retain_graph=True)
        (recorded,) = autograd.grad(y, x, create_graph=True)
        np.testing.assert_array_equal(recorded.asnumpy(), plain.asnumpy())

    def test_half_precision_stays(self):
        x = nd.array(X[:3], dtype="float16")
        x.attach_grad()
        with autograd.record():
            (g,) = autograd.grad(nd.tanh(x), x, create_graph=True)
        g.backward()
        t = np.tanh(np.float16(X[:3]).astype(np.float64))
        assert x.grad.dtype == np.float16
        np.testing.assert_allclose(x.grad.asnumpy(), -2 * t * (1 - t * t), rtol=4e-3)

    def test_that_is_constant_has_a_gradient_of_zeros(self):
        x = variable(X)
        with autograd.record():
            y = nd.negative(x)
            (g,) = autograd.grad(y, x, create_graph=True)
            loss = nd.square(g).sum()
        loss.backward()
        np.testing.assert_array_equal(g.asnumpy(), -np.ones(4))
        np.testing.assert_array_equal(x.grad.asnumpy(), 0 * X)

    def test_unreached_variables_get_zeros(self):
        x, other = variable(X), variable(X)
        with autograd.record():
            y = nd.square(x)
            z = nd.square(other)
            found = autograd.grad([y], [x, other], create_graph=True)
        assert z is not None
        np.testing.assert_array_equal(found[1].asnumpy(), 0 * X)


class TestGraph:
    def test_a_variable_may_be_used_many_times(self):
        x = variable(X)
        with autograd.record():
            y = x * x + x * x * x + nd.sin(x) * x + x
            (g,) = autograd.grad(y, x, create_graph=True)
        g.backward()
        np.testing.assert_allclose(x.grad.asnumpy(), 2 + 6 * X + 2 * np.cos(X) - X * np.sin(X), rtol=1e-12)

    def test_gradients_may_be_added(self):
        x = variable(X, grad_req="add")
        for _ in range(2):
            with autograd.record():
                (g,) = autograd.grad(x * x * x, x, create_graph=True)
            g.backward()
        np.testing.assert_allclose(x.grad.asnumpy(), 2 * 6 * X)

    def test_the_gradient_and_the_value_go_into_one_loss(self):
        x = variable(X)
        with autograd.record():
            y = nd.square(x)
            (g,) = autograd.grad(y, x, create_graph=True)
            loss = (y + nd.square(g)).sum()
        loss.backward()
        np.testing.assert_allclose(x.grad.asnumpy(), 2 * X + 8 * X)

    def test_is_kept_unless_told_otherwise(self):
        x = variable(X)
        with autograd.record():
            y = nd.sin(x)
            autograd.grad(y, x, create_graph=True)
        y.backward()
        np.testing.assert_allclose(x.grad.asnumpy(), np.cos(X))

    def test_that_is_not_retained_cannot_be_differentiated_again(self):
        x = variable(X)
        with autograd.record():
            y = nd.sin(nd.square(x))
            (g,) = autograd.grad(y, x, retain_graph=False, create_graph=True)
        with pytest.raises(GradientError, match="freed by an earlier backward"):
            g.backward()

    def test_is_recorded_outside_of_record_too(self):
        x = variable(X)
        with autograd.record():
            y = nd.sin(x)
        (g,) = autograd.grad(y, x, create_graph=True)
        assert not autograd.is_recording()
        g.backward()
        np.testing.assert_allclose(x.grad.asnumpy(), -np.sin(X))

    def test_does_not_depend_on_what_is_written_later(self):
        x = variable(X)
        with autograd.record():
            y = nd.sin(x)
            (g,) = autograd.grad(y, x, create_graph=True)
        x[:] = 0
        with pytest.raises(GradientError, match="overwritten after it was recorded"):
            g.backward()

    def test_of_a_copy_of_another_type(self):
        x = nd.array(np.float32(X))
        x.attach_grad()
        with autograd.record():
            y = nd.square(x.astype("float64"))
            (g,) = autograd.grad(y, x, create_graph=True)
        assert g.dtype == np.float32
        g.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), np.full(4, 2, np.float32))

    def test_follows_assignments_to_parts(self):
        x = variable(X)
        with autograd.record():
            y = nd.zeros(6, dtype="float64")
            y[1:5] = x * x * x
            (g,) = autograd.grad(y, x, create_graph=True)
        g.backward()
        np.testing.assert_allclose(x.grad.asnumpy(), 6 * X)

    def test_scalars_of_many_values_share_a_compiled_backward(self):
        """The second backward of `x * s` is compiled once, whatever `s` is."""
        for scale in (2.0, 3.0, 0.0, -0.0):
            x = variable(X)
            with autograd.record():
                (g,) = autograd.grad(nd.square(x) * scale, x, create_graph=True)
            g.backward()
            np.testing.assert_array_equal(x.grad.asnumpy(), np.full(4, 2 * scale))


class TestErrors:
    def test_name_operator_node_and_plugin(self):
        x = variable(np.ones((1, 2)))
        with autograd.record():
            y = nd.SoftmaxOutput(nd.square(x), nd.array([0], dtype="float64"))
            with pytest.raises(GradientError) as caught:
                autograd.grad(y, x, create_graph=True)
        text = str(caught.value)
        assert "SoftmaxOutput (operad-loss" in text
        assert "node 3 of 3" in text
        assert "does not read the gradient of the output" in text
        assert "gradients-of-gradients.md" in text

    def test_leave_the_graph_as_it_was(self):
        x = variable(np.ones((1, 2)))
        with autograd.record():
            y = nd.SoftmaxOutput(x, nd.array([0], dtype="float64"))
            with pytest.raises(GradientError):
                autograd.grad(y, x, create_graph=True)
        assert np.isfinite(autograd.grad(y, x)[0].asnumpy()).all()

    def test_name_a_function_written_by_hand(self):
        class Doubled(autograd.Function):
            def forward(self, x):
                return x * 2

            def backward(self, g):
                return g * 2

        x = variable(X)
        with autograd.record():
            y = Doubled()(x)
        with pytest.raises(
            GradientError, match=r"Doubled .*autograd.Function, whose backward is not recorded"
        ):
            autograd.grad(y, x, create_graph=True)

    def test_that_is_not_on_the_way_does_not_matter(self):
        x, other = variable(np.ones((1, 2))), variable(np.ones((1, 2)))
        label = nd.array([0], dtype="float64")
        with autograd.record():
            y = nd.square(x) + nd.SoftmaxOutput(other, label)
            (g,) = autograd.grad(y, x, create_graph=True)
        g.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), [[2.0, 2.0]])

    def test_of_variables_that_were_not_recorded(self):
        with pytest.raises((GradientError, ArgumentError), match="not recorded"):
            autograd.grad(variable(X), nd.ones(2), create_graph=True)


def test_train_mode_is_that_of_the_call():
    x = variable(X)
    with autograd.record():
        y = nd.sin(x)
        with autograd.train_mode():
            autograd.grad(y, x, create_graph=True, train_mode=False)
            assert autograd.is_training()
    (g,) = autograd.grad(y, x, create_graph=True, train_mode=False)
    assert not autograd.is_training()
    g.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), -np.sin(X))


class TestGradientPenalty:
    """Training with a penalty on the gradient by the data: Gulrajani et al. 2017, equation 3."""

    HIDDEN, RATE, PENALTY = 16, 0.05, 10.0

    def data(self):
        """Noisy pictures of two digits, 5 by 5."""
        one = np.zeros((5, 5))
        one[:, 2] = 1
        zero = np.ones((5, 5))
        zero[1:4, 1:4] = 0
        rng = np.random.default_rng(3)
        pictures = np.stack([one, zero] * 8).reshape(16, 25) + 0.1 * rng.normal(size=(16, 25))
        signs = np.array([1.0, -1.0] * 8)[:, None]
        w1 = rng.normal(size=(self.HIDDEN, 25)) / 5
        return pictures, signs, w1, rng.normal(size=(1, self.HIDDEN)) / 4

    def by_hand(self, x, signs, w1, w2):
        """The loss and its gradients, derived on paper.

        With z = x w1', t = tanh z, s = 1 - t^2, the critic is t w2', and its gradient by x is
        q = (s w2) w1 for each row.
        """
        z = x @ w1.T
        t, count = np.tanh(z), len(x)
        s = 1 - t * t
        q = (s * w2) @ w1
        norm = np.sqrt((q * q).sum(1, keepdims=True) + 1e-12)
        loss = (signs * (t @ w2.T)).mean() + self.PENALTY * ((norm - 1) ** 2).mean()
        dq = self.PENALTY * 2 * (norm - 1) / norm * q / count
        dsw = dq @ w1.T  # of s * w2
        dt = signs / count * w2 + dsw * w2 * (-2 * t)
        dz = dt * s
        dw1 = dz.T @ x + (s * w2).T @ dq
        dw2 = (signs / count * t).sum(0, keepdims=True) + (dsw * s).sum(0, keepdims=True)
        return loss, dw1, dw2

    def test_trains_as_derived_by_hand(self):
        pictures, signs, a, b = self.data()
        w1, w2 = variable(a), variable(b)
        x, y = variable(pictures), nd.array(signs, dtype="float64")
        losses = []
        for _ in range(10):
            with autograd.record():
                hidden = nd.tanh(nd.FullyConnected(x, w1, num_hidden=self.HIDDEN, no_bias=True))
                critic = nd.FullyConnected(hidden, w2, num_hidden=1, no_bias=True)
                (q,) = autograd.grad(critic, x, create_graph=True)
                norm = nd.sqrt(nd.sum(nd.square(q), axis=1, keepdims=True) + 1e-12)
                loss = nd.mean(y * critic) + self.PENALTY * nd.mean(nd.square(norm - 1))
            loss.backward()
            expected, dw1, dw2 = self.by_hand(pictures, signs, a, b)
            np.testing.assert_allclose(loss.asnumpy(), expected, rtol=1e-9)
            np.testing.assert_allclose(w1.grad.asnumpy(), dw1, rtol=1e-7, atol=1e-11)
            np.testing.assert_allclose(w2.grad.asnumpy(), dw2, rtol=1e-7, atol=1e-11)
            losses.append(expected)
            a, b = a - self.RATE * dw1, b - self.RATE * dw2
            w1[:], w2[:] = a, b
        assert np.isfinite(losses).all()
        assert losses[-1] < losses[0]

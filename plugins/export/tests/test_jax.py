"""Operators as functions of JAX's arrays; skipped where JAX is not installed."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from operad_export import PlainOperator

jax = pytest.importorskip("jax")
for plugin in ("normalization", "fully_connected", "dropout", "shape", "elemwise", "indexing", "init"):
    pytest.importorskip(f"operad_{plugin}")

pytestmark = pytest.mark.filterwarnings("ignore")
jnp = jax.numpy


@pytest.fixture
def calls(monkeypatch):
    """Counts calls of operators' forward and backward passes."""
    counts = []
    for name in ("forward", "backward"):
        real = getattr(PlainOperator, name)

        def counted(self, *args, _real=real, _name=name, **options):
            counts.append(_name)
            return _real(self, *args, **options)

        monkeypatch.setattr(PlainOperator, name, counted)
    return counts


def normal(*shape):
    return jnp.asarray(np.random.default_rng(0).normal(size=shape), jnp.float32)


def test_gradients_are_those_of_a_numeric_derivative():
    from jax.test_util import check_grads

    lrn = od.export.jax("LRN", nsize=3)
    check_grads(lrn, [normal(2, 4, 3, 3)], order=1, modes=["rev"], rtol=1e-2, atol=1e-2)


def test_compiled_functions_compute_the_same():
    lrn = od.export.jax("LRN", nsize=3)
    x = normal(2, 4, 3, 3)
    np.testing.assert_array_equal(jax.jit(lrn)(x), lrn(x))
    shape = jax.eval_shape(lrn, x)
    assert (shape.shape, shape.dtype) == (x.shape, x.dtype)


def test_functions_of_no_arguments_are_compiled():
    zeros = od.export.jax("_zeros", shape=(2, 3))
    np.testing.assert_array_equal(zeros(), np.zeros((2, 3), np.float32))
    np.testing.assert_array_equal(jax.jit(zeros)(), zeros())


def test_residuals_are_what_the_wanted_gradients_read():
    dense = od.export.jax("FullyConnected", num_hidden=4)
    x, w, b = normal(3, 5), normal(4, 5), normal(4)
    _, back = jax.vjp(lambda w: dense(x, w, b), w)
    assert [leaf.shape for leaf in jax.tree.leaves(back)] == [x.shape]
    _, back = jax.vjp(lambda b: dense(x, w, b), b)
    assert jax.tree.leaves(back) == []


def test_an_elementwise_operator_runs_once_for_a_batch(calls):
    tanh = od.export.jax("tanh")
    x = normal(5, 3)
    np.testing.assert_array_equal(jax.vmap(tanh)(x), tanh(x))
    assert calls == ["forward"] * 2
    del calls[:]
    np.testing.assert_array_equal(
        jax.vmap(jax.grad(lambda a: tanh(a).sum()))(x), jax.grad(lambda a: tanh(a).sum())(x)
    )
    assert calls == ["forward", "backward"] * 2


def test_any_other_operator_runs_for_each_item(calls):
    softmax = od.export.jax("softmax", axis=0)
    x = normal(5, 3)
    np.testing.assert_array_equal(jax.vmap(softmax)(x), jnp.stack([softmax(row) for row in x]))
    assert calls == ["forward"] * 10


def test_an_operator_that_does_nothing_to_one_item_may_do_something_to_a_batch(calls):
    flatten = od.export.jax("Flatten")
    x = normal(5, 3, 2)
    np.testing.assert_array_equal(jax.vmap(flatten)(x), x)
    assert calls == ["forward"] * 5


def test_new_states_are_returned():
    norm = od.export.jax("BatchNorm", fix_gamma=False, momentum=0.5)
    x, ones, zeros = normal(8, 4), jnp.ones(4), jnp.zeros(4)
    output, (mean, var) = jax.jit(lambda *a: norm(*a, is_train=True))(x, ones, zeros, zeros, ones)
    assert output.shape == x.shape
    np.testing.assert_allclose(mean, x.mean(0) / 2, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(var, 0.5 + x.var(0) / 2, rtol=1e-5)
    assert not zeros.any()


def test_a_key_decides_what_is_drawn():
    drop = od.export.jax("Dropout", p=0.5)
    x, key = jnp.ones(64), jax.random.key(1)
    first = drop(x, is_train=True, key=key)
    np.testing.assert_array_equal(jax.jit(lambda k: drop(x, is_train=True, key=k))(key), first)
    np.testing.assert_array_equal(drop(x, is_train=True, key=jax.random.PRNGKey(1)), first)
    both = jax.vmap(lambda k: drop(x, is_train=True, key=k))(jax.random.split(key))
    assert (both[0] != both[1]).any()
    with pytest.raises(ArgumentError, match="Dropout: key is missing"):
        drop(x, is_train=True)


def test_any_number_of_arrays_and_integers_without_a_gradient():
    concat = od.export.jax("Concat", dim=0)
    a, b = normal(2, 3), normal(1, 3)
    np.testing.assert_array_equal(concat(a, b), jnp.concatenate([a, b]))
    np.testing.assert_array_equal(concat([a, b]), concat(a, b))
    take = od.export.jax("take")
    index = jnp.array([0, 1, 1])
    grad = jax.grad(lambda a: take(a, index).sum())(a)
    np.testing.assert_array_equal(grad, [[1, 1, 1], [2, 2, 2]])


def test_errors_are_raised_when_a_function_is_traced():
    dense = od.export.jax("FullyConnected", num_hidden=4)
    with pytest.raises(ShapeError, match="weight has shape"):
        jax.jit(dense)(normal(3, 5), normal(4, 6), normal(4))
    with pytest.raises(ArgumentError, match="bias is missing"):
        dense(normal(3, 5), normal(4, 5))
    with pytest.raises(DTypeError, match="bfloat16"):
        dense(normal(3, 5).astype(jnp.bfloat16), normal(4, 5), normal(4))
    with pytest.raises(UnsupportedError, match="shapes of its outputs depend on values"):
        od.export.jax("_contrib_boolean_mask")(normal(3, 2), jnp.ones(3))


def test_large_arrays():
    lrn = od.export.jax("LRN", nsize=3)
    x = normal(32, 16, 32, 32)
    found = jax.jit(jax.grad(lambda a: lrn(a).sum()))(x)
    assert bool(jnp.isfinite(found).all())

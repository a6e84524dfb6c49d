import copy
import pickle

import numpy as np
import pytest

from operad import autograd, nd, sym
from operad.errors import ArgumentError


def test_gives_what_the_symbol_computes_and_gradients() -> None:
    network = sym.FullyConnected(sym.var("x"), num_hidden=2, no_bias=True, name="fc").square()
    x, weight = nd.array([[1, 2]]), nd.array([[1, 0], [1, 1]])
    x.attach_grad()
    with autograd.record():
        y = nd.CachedOp(network)(x, weight)
    y.backward()
    np.testing.assert_array_equal(y.asnumpy(), [[1, 9]])
    np.testing.assert_array_equal(x.grad.asnumpy(), [[2 * 1 + 6, 6]])


def test_several_outputs_are_a_list_and_may_be_given() -> None:
    x = sym.var("x")
    op = nd.CachedOp(sym.Group([sym.tanh(x), sym.split(x, num_outputs=2)[1]]))
    one, half = op(nd.array([[0, 1]]))
    np.testing.assert_array_equal(half.asnumpy(), [[1]])
    given = [nd.zeros((1, 2)), nd.zeros((1, 1))]
    assert op(nd.array([[0, 1]]), out=given)[1] is given[1]
    np.testing.assert_array_equal(given[0].asnumpy(), one.asnumpy())


def test_states_are_among_the_inputs_and_updated() -> None:
    op = nd.CachedOp(sym.BatchNorm(sym.var("x"), name="n", fix_gamma=False))
    mean, variance = nd.zeros(1), nd.ones(1)
    with autograd.train_mode():
        op(nd.array([[1], [3]]), nd.ones(1), nd.zeros(1), mean, variance)
    assert mean.asscalar() == pytest.approx(0.2)


def test_another_number_of_arrays_is_refused() -> None:
    with pytest.raises(ArgumentError, match="got 0 arrays, expected 1: x"):
        nd.CachedOp(sym.tanh(sym.var("x")))()


def test_lengths_that_others_tell_complete_the_shapes_of_made_arrays() -> None:
    cached = nd.CachedOp(sym.zeros(shape=(0, 2)) + sym.var("x"))
    for length in (3, 1):
        assert cached(nd.ones((length, 2))).shape == (length, 2)


def test_it_is_copied_and_pickled_as_its_symbol() -> None:
    op, x = nd.CachedOp(sym.square(sym.var("x"))), nd.array([1, 2])
    op(x)
    for again in (pickle.loads(pickle.dumps(op)), copy.copy(op), copy.deepcopy(op)):
        np.testing.assert_array_equal(again(x).asnumpy(), [1, 4])

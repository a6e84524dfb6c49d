"""What would lose a derivative raises, and what is written is read."""

from __future__ import annotations

import math

import numpy as np
import pytest

from operad_sdk import mapper
from operad_sdk.differentiate import TraceError, vector_jacobian

X = np.array([[0.25, 0.5], [0.75, 1.0]])


def gradient(function, x=X):
    (found,) = vector_jacobian(lambda xs: [function(xs[0])], [x], [np.ones_like(x)], [True])
    return found


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: np.asarray(x) * 2, "made a plain array of"),
        (lambda x: x * float(x[0, 0]), "made a number of"),
        (lambda x: x if x[0, 0] else -x, "asked whether it is true"),
        (lambda x: np.multiply(x, x, out=np.empty((2, 2))), "np.empty_like"),
        (lambda x: np.add.at(np.zeros((2, 2)), 0, x), "np.zeros_like"),
        (lambda x: np.copyto(np.zeros((2, 2)), x), "np.empty_like"),
        (lambda x: np.fft.fft(x), "no rule for numpy.fft"),
        (lambda x: np.spacing(x), "no rule for numpy.spacing"),
        (lambda x: np.pad(x, 1, mode="maximum"), "no rule for numpy.pad with mode="),
        (lambda x: np.einsum("ii->i", x), "no rule for numpy.einsum"),
    ],
    ids=["asarray", "float", "bool", "out", "add.at", "copyto", "function", "ufunc", "pad", "einsum"],
)
def test_what_would_lose_the_derivative_is_refused(function, message):
    with pytest.raises(TraceError, match=message):
        gradient(function)


def test_a_view_sees_what_is_written_to_the_whole():
    def function(x):
        whole = x * 1
        view = whole[0]
        whole *= 3
        return np.broadcast_to(view, (2, 2))

    np.testing.assert_array_equal(gradient(function), [[6.0, 6.0], [0.0, 0.0]])


def test_the_whole_sees_what_is_written_to_a_view_of_a_view():
    def function(x):
        whole = np.zeros_like(x)
        whole.T[1][:1] = x[1, 1] * 5
        return whole

    np.testing.assert_array_equal(gradient(function), [[0.0, 0.0], [0.0, 5.0]])


def test_a_copy_does_not_see_it():
    def function(x):
        copy = x.copy()
        copy[...] = 0
        return x * 2 + copy

    np.testing.assert_array_equal(gradient(function), np.full((2, 2), 2.0))


def test_an_index_out_of_range_raises_as_numpy_does():
    with pytest.raises(IndexError):
        gradient(lambda x: x[5] * x)


def test_other_inputs_are_constants():
    def function(xs):
        return [xs[0] * xs[1]]

    found = vector_jacobian(function, [X, X + 1], [np.ones_like(X)], [False, True])
    assert len(found) == 1
    np.testing.assert_array_equal(found[0], X)


def test_an_input_that_is_not_used_has_zeros():
    np.testing.assert_array_equal(gradient(lambda x: np.ones_like(x)), 0 * X)


def test_types_stay():
    x = X.astype(np.float32)
    assert gradient(lambda x: np.exp(x) * 2.0, x).dtype == np.float32


@mapper
def _bump(x, width):
    """A function of elements with a branch."""
    return x * x * width if x < 0.6 else math.pi * x


def test_mappers_have_their_slopes():
    found = gradient(lambda x: _bump.map(x, 2.0))
    np.testing.assert_allclose(found, np.where(X < 0.6, 4 * X, math.pi))
    second = gradient(lambda x: gradient_of_bump(x))
    np.testing.assert_allclose(second, np.where(X < 0.6, 4.0, 0.0))


def gradient_of_bump(x):
    (found,) = vector_jacobian(lambda xs: [_bump.map(xs[0], 2.0)], [x], [np.ones_like(X)], [True])
    return found


def test_a_constant_may_be_asked_whether_it_is_true():
    def function(xs):
        return [xs[0] * 3 if np.zeros_like(xs[0])[0, 0] + 1 else xs[0]]

    (found,) = vector_jacobian(function, [X], [np.ones_like(X)], [True])
    np.testing.assert_array_equal(found, np.full((2, 2), 3.0))


def test_a_refusal_lasts_where_the_function_catches_it():
    def guarded(x):
        try:
            return x * float(x[0])
        except TypeError:
            return x

    with pytest.raises(TraceError, match="made a number of"):
        vector_jacobian(lambda cells: [guarded(cells[0])], [np.ones(3)], [np.ones(3)], [True])

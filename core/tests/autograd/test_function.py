"""Functions whose gradients a program computes, and copies, on the tape."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.autograd.recorded import variable
from operad import autograd, nd
from operad.autograd import record_function
from operad.errors import GradientError

pytestmark = pytest.mark.usefixtures("operators")


def cube(x, gradients=None, name="cube"):
    """`x` cubed outside of all operators, and noted on the tape."""
    value = nd.array(x.asnumpy() ** 3)
    (made,) = record_function(
        name, [x], [value], gradients or (lambda heads: [heads[0] * nd.square(x.detach()) * 3])
    )
    return made


def test_its_gradient_is_what_the_program_computes():
    x = variable([1, 2, 3])
    with autograd.record():
        y = cube(nd.tanh(x)) * 2
    y.backward()
    t = np.tanh(np.float32([1, 2, 3]))
    np.testing.assert_allclose(x.grad.asnumpy(), 6 * t**2 * (1 - t**2), rtol=1e-5)


def test_gradients_are_asked_for_in_a_thread_that_does_not_record():
    x, seen = variable([1, 2]), []

    def gradients(heads):
        seen.append(autograd.is_recording())
        return heads

    with autograd.record():
        y = cube(x, gradients)
        y.backward(nd.array([1, 1]))
    assert seen == [False]


def test_nothing_is_noted_outside_recording_or_where_no_gradient_flows():
    x = variable([1, 2])
    outside = cube(x)
    with autograd.record():
        constant = cube(nd.array([1, 2]))
    assert outside._autograd is None
    assert constant._autograd is None


def test_results_are_new_arrays_over_the_same_memory():
    x, value = variable([1, 2]), nd.array([5, 6])
    with autograd.record():
        (made,) = record_function("f", [x], [value], lambda heads: heads)
    assert made is not value
    assert made._chunk is value._chunk
    assert value._autograd is None


def test_a_second_derivative_is_refused_with_the_name_and_the_way_out():
    x = variable([1, 2])
    with autograd.record():
        y = cube(x, name="mine")
        with pytest.raises(GradientError, match=r"mine.*autograd\.Function, whose backward is not recorded"):
            autograd.grad([y], [x], create_graph=True)


def test_a_copy_hands_the_gradient_back_in_the_type_of_its_source():
    x = variable([1, 2])
    target = nd.empty(2, dtype="float64")
    with autograd.record():
        x.copyto(target)
        y = target * 3
    y.backward()
    assert x.grad.dtype == np.float32
    assert x.grad.asnumpy().tolist() == [3, 3]

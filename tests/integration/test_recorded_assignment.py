"""Assignment while recording: what the new contents depend on, and what the old ones did."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad import autograd, nd
from operad.errors import BindError

OLD = np.float32([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]])
HEADS = np.arange(12, dtype=np.float32).reshape(3, 4) + 1


def marked(values):
    array = nd.array(values)
    array.attach_grad()
    return array


KEYS = [
    slice(None), ..., 1, -1, slice(1, 3), slice(None, None, 2), (slice(None), 2), (1, slice(1, 3)), (0, 3),
    (slice(None, None, -1), slice(3)), (None, 1), (..., None, 0),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_gradients_are_the_part_for_the_value_and_zero_there_for_the_old_contents(key):
    new = np.random.default_rng(0).standard_normal(OLD[key].shape).astype(np.float32)
    x, old = marked(new), marked(OLD)
    with autograd.record():
        y = old * 2
        y[key] = x
        z = y * 3
    z.backward(nd.array(HEADS))

    expected, kept = OLD * 2, HEADS * 6
    expected[key], kept[key] = new, 0
    np.testing.assert_array_equal(y.asnumpy(), expected)
    np.testing.assert_array_equal(x.grad.asnumpy(), (HEADS * 3)[key])
    np.testing.assert_array_equal(old.grad.asnumpy(), kept)


@pytest.mark.parametrize("shape", [(4,), (1, 4), (3, 1), (1,), (1, 1, 4)])
def test_a_value_that_is_broadcast_gets_the_sum(shape):
    x, y = marked(np.ones(shape)), nd.zeros((3, 4))
    with autograd.record():
        y[:] = x
        z = y * nd.array(HEADS)
    z.backward()

    axes = tuple(
        i for i, length in enumerate((1, *shape)[-2:] if len(shape) < 3 else shape[1:]) if length == 1
    )
    np.testing.assert_array_equal(x.grad.asnumpy(), HEADS.sum(axes, keepdims=True).reshape(shape))


def test_a_constant_assigned_to_a_result_stops_its_gradient():
    x = marked(OLD)
    with autograd.record():
        y = x * 2
        y[1] = 7
        y[2] = np.float32([1, 2, 3, 4])
        z = y * y
    z.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [[8, 16, 24, 32], [0] * 4, [0] * 4])


def test_a_value_of_another_type_gets_a_gradient_of_its_own():
    x, y = marked(np.ones(4)), nd.zeros((4,), dtype="float64")
    with autograd.record():
        y[:] = x
        z = y * 3
    z.backward()
    assert x.grad.dtype == np.float32
    np.testing.assert_array_equal(x.grad.asnumpy(), [3, 3, 3, 3])


def test_what_an_earlier_gradient_reads_must_not_be_assigned_to():
    x = marked(OLD)
    with autograd.record():
        y = x * 2
        z = y * y
        y[0] = 1
    with pytest.raises(od.OperadError, match="overwritten"):
        z.backward()


def test_a_marked_array_is_not_assigned_to_while_recording():
    x = marked(OLD)
    with autograd.record(), pytest.raises(BindError, match=r"autograd\.pause"):
        x[0] = marked(OLD[0])


def test_a_part_of_an_array_is_not_assigned_a_recorded_value():
    whole, x = nd.zeros((3, 4)), marked(OLD[0])
    part = whole[1]
    with autograd.record(), pytest.raises(BindError, match="part of another array"):
        part[:] = x

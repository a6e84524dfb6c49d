"""Python's operators on arrays."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests import operators as test_operators
from operad import autograd, config, nd, registry
from operad.errors import BindError, BlockedPluginError, DTypeError, OperatorNotFoundError

pytestmark = pytest.mark.usefixtures("operators")

A, B = np.float32([1, 2, 3]), np.float32([4, 5, 6])


def test_arrays_of_equal_shape_combine():
    x, y = nd.array(A), nd.array(B)
    np.testing.assert_array_equal(((x + y) * x - y).asnumpy(), (A + B) * A - B)


def test_scalars_stand_on_either_side():
    x = nd.array(A)
    np.testing.assert_array_equal((2 + x * 3 - 1).asnumpy(), 2 + A * 3 - 1)
    np.testing.assert_array_equal((10 - x).asnumpy(), 10 - A)
    np.testing.assert_array_equal((np.float64(2) * x).asnumpy(), 2 * A)
    np.testing.assert_array_equal((-x).asnumpy(), -A)


@pytest.mark.parametrize("other", [B, B.astype(np.float64), B.tolist(), tuple(B)])
def test_numpy_values_combine_on_either_side(other):
    x = nd.array(A)
    for result, expected in ((x - other, A - B), (other - x, B - A), (other + x, A + B)):
        assert isinstance(result, nd.NDArray)
        assert result.dtype == np.float32
        np.testing.assert_array_equal(result.asnumpy(), expected)


def test_values_that_would_lose_their_fraction_are_refused():
    with pytest.raises(DTypeError, match="float64 do not fit an array of int32"):
        nd.array([1, 2], dtype="int32") + np.array([0.5, 0.5])


def test_a_scalar_takes_the_arrays_type():
    assert (nd.array([1, 2], dtype="int32") + 1.9).asnumpy().tolist() == [2, 3]
    assert (nd.array([1, 2], dtype="float16") * 0.1).dtype == np.float16


@pytest.mark.parametrize("scalar", [1j, np.complex64(1)])
def test_complex_numbers_are_refused(scalar):
    with pytest.raises(DTypeError, match="complex"):
        nd.array(A) + scalar


@pytest.mark.parametrize("calculate", [lambda x: x + (2**60 + 1), lambda x: (2**60 + 1) - x])
def test_an_integer_that_would_lose_digits_is_refused(calculate):
    with pytest.raises(DTypeError, match="more digits than a scalar operand keeps"):
        calculate(nd.array([1, 2], dtype="int64"))
    assert calculate(nd.array([0.0])).asnumpy()[0] == 2.0**60


def test_a_number_beyond_every_type_is_refused():
    with pytest.raises(DTypeError, match="beyond what an array can hold"):
        nd.array(A) + 10**400


def test_what_is_no_number_is_a_type_error():
    with pytest.raises(TypeError):
        nd.array(A) + "1"
    assert (nd.array(A) == None) is False  # noqa: E711 - the point


def test_comparisons_give_numbers():
    assert (nd.array(A) > 1.5).asnumpy().tolist() == [0, 1, 1]
    assert (nd.array(A) == nd.array([1, 0, 3])).asnumpy().tolist() == [1, 0, 1]


def test_in_place_arithmetic_keeps_memory_and_views():
    x = nd.array([A, B])
    row, chunk = x[1], x._chunk
    x += 1
    row *= nd.array([2, 2, 2])
    assert x._chunk is chunk
    np.testing.assert_array_equal(x.asnumpy(), [A + 1, (B + 1) * 2])


def test_an_array_may_be_both_operands_and_the_target():
    x = nd.array(A)
    x *= x
    x -= x + x
    np.testing.assert_array_equal(x.asnumpy(), A * A - (A * A + A * A))


def test_in_place_on_a_recorded_array_is_refused():
    x = nd.array(A)
    x.attach_grad()
    with autograd.record():
        y = x * 2
        for array in (x, y):
            with pytest.raises(BindError, match="corrupt its gradient"):
                array += 1
    x += 1
    np.testing.assert_array_equal(x.asnumpy(), A + 1)


def test_in_place_with_a_recorded_operand_uses_the_old_value_in_the_gradient():
    x, total = nd.array(A), nd.array(B)
    x.attach_grad()
    with autograd.record():
        total *= x
    total.backward()
    np.testing.assert_array_equal(total.asnumpy(), A * B)
    np.testing.assert_array_equal(x.grad.asnumpy(), B)


def test_shapes_that_differ_need_the_broadcast_plugin(monkeypatch):
    monkeypatch.setenv("OPERAD_SAFE", "1")
    config.reload()
    registry.refresh()
    try:
        assert {prop.name for prop in test_operators.PROPERTIES} <= set(registry.list_operators())
        # With and without the plugin installed, the message names it.
        with pytest.raises(
            (OperatorNotFoundError, BlockedPluginError), match=r"'broadcast_add'.*(operad-|plugins/)broadcast"
        ):
            nd.array([A, B]) + nd.array(A)
    finally:
        monkeypatch.undo()
        config.reload()
        registry.refresh()

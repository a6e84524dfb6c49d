"""Comparing arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od

tu = od.test_utils


def test_tolerances_are_those_of_mxnet() -> None:
    """As MXNet 1.9.1 said once."""
    types = [np.dtype(name) for name in ("float16", "float32", "float64", "int32", "bool")]
    assert [tu.default_rtols()[each] for each in types] == [0.01, 1e-4, 1e-5, 0, 0]
    assert [tu.default_atols()[each] for each in types] == [0.1, 1e-3, 1e-20, 0, 0]
    assert list(tu.default_numeric_eps().values()) == [0.015625, 0.001953125, 6.103515625e-05]
    assert (tu.get_rtol(), tu.get_atol(), tu.get_etol(), tu.get_etol(0.1)) == (1e-5, 1e-20, 0, 0.1)
    assert (tu.get_rtol(0.25), tu.get_rtol(dtype="float16")) == (0.25, 0.01)
    assert tu.default_dtype() is np.float32


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("float32", "float64", (1e-4, 1e-3)), ("float16", "float32", (0.01, 0.1)), ("int32", "int64", (0, 0))],
)
def test_the_coarser_type_decides(one: str, other: str, expected: Any) -> None:
    x, y = np.ones(2, one), od.nd.ones(2, dtype=other)
    assert tu.get_tols(x, y, None, None) == tu.get_tols(y, x, None, None) == expected
    assert tu.get_tols(x, y, 0.5, {"float16": 0.25, other: 0.125})[0] == 0.5
    assert tu.get_tols(x, y, None, {one: 9, other: 8})[1] == 9


def test_the_error_begins_with_the_place_of_the_largest_violation() -> None:
    a, b = np.array([[1.0, 2], [3, 4]]), np.array([[1, 2.1], [3, 5.0]])
    with pytest.raises(AssertionError) as raised:
        tu.assert_almost_equal(a, od.nd.array(b, dtype="float64"), names=("found", "wanted"))
    head, first, second, *_ = str(raised.value).splitlines()
    assert head == "found and wanted differ in 2 of 4 elements (50.000%), with rtol=1e-05 and atol=1e-20"
    assert first == "largest error at (1, 1): found is 4.0, wanted is 5.0, 20000 times what is allowed"
    assert second == "error at (0, 1): found is 2.0, wanted is 2.1, 4761.9 times what is allowed"
    assert tu.find_max_violation(a, b) == ((1, 1), pytest.approx(20000))
    with pytest.raises(AssertionError) as raised:
        tu.assert_almost_equal(np.zeros(50), np.ones(50), mismatches=(3, 3))
    assert str(raised.value).count("times what is allowed") == 3


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([1, 2.0], [1, 2.00001], True),
        ([1, 2.0], [1, 2.0001], False),
        ([1, np.nan], [1, np.nan], False),
        ([1, np.nan], [1, 2], False),
        ([np.inf, -np.inf], [np.inf, -np.inf], True),
        ([np.inf], [-np.inf], False),
        ([1.0], [np.inf], False),
        ([[1.0, 1]], [1.0], True),
        ([2**60], [2**60 + 1], False),
        ([0.0], [0.0], True),
    ],
)
def test_almost_equal_is_numpys_within_the_default_tolerance(a: Any, b: Any, expected: bool) -> None:
    assert tu.almost_equal(np.array(a), np.array(b)) is expected
    if expected:
        tu.assert_almost_equal(np.array(a), np.array(b))
    else:
        with pytest.raises(AssertionError):
            tu.assert_almost_equal(np.array(a), np.array(b))


def test_nan_can_be_equal_or_ignored() -> None:
    a, b = np.array([1, np.nan, 3.0]), np.array([1, 2, np.nan])
    tu.assert_almost_equal(a, a, equal_nan=True)
    tu.assert_almost_equal_ignore_nan(a, b)
    with pytest.raises(AssertionError, match=r"largest error at \(0,\)"):
        tu.assert_almost_equal_ignore_nan(a + 1, b)
    assert np.isnan(a[1])


def test_a_part_of_the_elements_may_differ() -> None:
    numbers = np.arange(10.0)
    tu.assert_almost_equal_with_err(numbers, np.where(numbers == 3, 99, numbers), etol=0.1)
    with pytest.raises(AssertionError, match="differ in 2 of 10 elements"):
        tu.assert_almost_equal_with_err(numbers, np.where(numbers < 2, 99, numbers), etol=0.1)


def test_shapes_differ_where_broadcasting_is_off() -> None:
    with pytest.raises(AssertionError, match=r"shapes differ: \(2, 3\) and \(3,\)"):
        tu.assert_almost_equal(np.ones((2, 3)), np.ones(3), use_broadcast=False)
    with pytest.raises(ValueError, match="broadcast"):
        tu.assert_almost_equal(np.ones(2), np.ones(3))


def test_same_takes_no_tolerance() -> None:
    assert tu.same(od.nd.ones(2), np.ones(2))
    assert not tu.same(np.ones(2), np.ones(2) + 1e-12)
    assert not tu.same(np.ones(2), np.ones((1, 2)))


def test_tuples_are_compared_inside() -> None:
    one = od.nd.ones(1)
    tu.compare_ndarray_tuple((one, (one, None)), (one, (one, None)))
    with pytest.raises(AssertionError, match=r"a is 1\.0, b is 2\.0"):
        tu.compare_ndarray_tuple((one, (one,)), (one, (one * 2,)))


def test_an_exception_is_expected_also_where_it_comes_late() -> None:
    tu.assert_exception(lambda: 1 / 0, ZeroDivisionError)
    tu.assert_exception(od.nd.dot, od.OperadError, od.nd.ones((2, 3)), od.nd.ones((2, 3)))
    with pytest.raises(AssertionError, match="raised nothing, expected"):
        tu.assert_exception(lambda: od.nd.ones(1), ValueError)
    with pytest.raises(ZeroDivisionError):
        tu.assert_exception(lambda: 1 / 0, ValueError)


def test_what_broadcasting_added_is_summed_up() -> None:
    summed = tu.collapse_sum_like(np.arange(24.0).reshape(2, 3, 4), (3, 1))
    np.testing.assert_array_equal(summed, np.arange(24.0).reshape(2, 3, 4).sum(axis=(0, 2))[:, None])

"""Indexing: NumPy is the reference."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from operad import autograd, nd
from operad.errors import BindError, IndexOutOfRangeError

pytestmark = pytest.mark.usefixtures("operators")

SHAPE = (4, 3, 5)
VALUES = np.arange(60, dtype=np.float32).reshape(SHAPE)
BASIC = [
    0, -1, np.int64(2), slice(None), slice(3, 0, -2), slice(2, 2), ..., None, (1, 2), (1, 2, 3), (..., 0),
    (None, 1, ..., None), (slice(1, 3), 0), (slice(None, None, -1), ..., slice(1, 4)), (),
]  # fmt: skip
ADVANCED = [
    [0, 2], [], np.array([[1, -1], [0, 3]]), np.array([True, False, True, False]), VALUES > 7, (0, [1, 2]),
    ([0, 1], [1, 2]), (slice(1, 3), [0, 0]), ([[0], [1]], [[0, 1]], 2), True, False,
]  # fmt: skip


def _name(key):
    return repr(key).replace("\n", "")[:40]


@pytest.mark.parametrize("key", BASIC, ids=_name)
def test_basic_indices_give_views(key):
    x = nd.array(VALUES)
    view = x[key]
    np.testing.assert_array_equal(view.asnumpy(), VALUES[key])
    assert view._chunk is x._chunk
    view[...] = -1
    expected = VALUES.copy()
    expected[key] = -1
    np.testing.assert_array_equal(x.asnumpy(), expected)


@pytest.mark.parametrize("key", ADVANCED, ids=_name)
def test_index_arrays_give_copies(key):
    x = nd.array(VALUES)
    found = x[key]
    np.testing.assert_array_equal(found.asnumpy(), VALUES[key])
    found[...] = -1
    np.testing.assert_array_equal(x.asnumpy(), VALUES)


@pytest.mark.walk
@pytest.mark.parametrize("key", BASIC + ADVANCED, ids=_name)
def test_assignment_casts_and_broadcasts(key):
    x = nd.array(VALUES)
    x[key] = 0.5
    expected = VALUES.copy()
    expected[key] = 0.5
    np.testing.assert_array_equal(x.asnumpy(), expected)


@pytest.mark.parametrize(
    "value", [np.arange(5), nd.array(np.arange(5)), [9] * 5, nd.array([3], dtype="int8")]
)
@pytest.mark.parametrize("key", [0, ([0, 2],), (slice(1, 3), ..., slice(None))])
def test_values_of_every_kind_can_be_assigned(key, value):
    x = nd.array(VALUES)
    x[key] = value
    expected = VALUES.copy()
    expected[key] = np.asarray(value)
    np.testing.assert_array_equal(x.asnumpy(), expected)


@given(key=npst.basic_indices(SHAPE, allow_newaxis=True, allow_ellipsis=True), rest=st.integers(-3, 3))
def test_any_basic_index_reads_and_writes_like_numpy(key, rest):
    x, expected = nd.array(VALUES), VALUES.copy()
    np.testing.assert_array_equal(x[key].asnumpy(), expected[key])
    x[key] = rest
    expected[key] = rest
    np.testing.assert_array_equal(x.asnumpy(), expected)


@given(key=npst.integer_array_indices(SHAPE))
def test_any_integer_array_index_reads_like_numpy(key):
    np.testing.assert_array_equal(nd.array(VALUES)[key].asnumpy(), VALUES[key])


def test_an_ndarray_may_be_the_index():
    x = nd.array(VALUES)
    np.testing.assert_array_equal(x[nd.array([0, 2])].asnumpy(), VALUES[[0, 2]])
    np.testing.assert_array_equal(x[(nd.array(VALUES) > 7).astype(bool)].asnumpy(), VALUES[VALUES > 7])


@pytest.mark.walk
@pytest.mark.parametrize(
    ("shape", "key"),
    [((4,), 0), ((4,), -1), ((4,), np.int64(1)), ((4,), (0,)), ((4,), (..., 0)), ((4,), (0, ...)),
     ((4,), np.array(1)), ((2, 3), (0, 1)), ((2, 3), (..., 0, 1)), ((2, 3, 4), (1, 1, 1)),
     ((4,), nd.array(2))],
)  # fmt: skip
@pytest.mark.parametrize("recorded", [False, True])
def test_one_element_has_the_shape_1_and_is_a_view(shape, key, recorded):
    x = nd.array(np.arange(np.prod(shape)).reshape(shape))
    plain = int(key.asscalar()) if isinstance(key, nd.NDArray) else key
    expected = x.asnumpy()[plain]
    if recorded:
        x.attach_grad()
        with autograd.record():
            found = x[key]
    else:
        found = x[key]
        assert found._chunk is x._chunk
    assert found.shape == (1,)
    assert found.asscalar() == expected
    x[key] = 70
    assert x.asnumpy()[plain] == 70


def test_an_index_of_nothing_keeps_an_array_without_axes():
    assert nd.array(5.0)[()].shape == nd.array(5.0)[...].shape == ()


def test_iteration_over_a_vector_gives_arrays_of_one_element():
    assert [x.shape for x in nd.array([1, 2])] == [(1,), (1,)]


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("compare", [lambda x: x > 1, lambda x: x == 2, lambda x: (x == 1) * 1 == 1])
def test_the_result_of_a_comparison_is_no_index(dtype, compare):
    x = nd.array([1, 2, 3], dtype=dtype)
    for use in (lambda key: x[key], lambda key: setting(x, key)):
        with pytest.raises(IndexOutOfRangeError, match=r"result of a comparison.*astype\('bool'\)"):
            use(compare(x))
    mask = compare(x).astype("bool")
    np.testing.assert_array_equal(x[mask].asnumpy(), x.asnumpy()[mask.asnumpy()])
    setting(x, mask)
    assert (x.asnumpy()[mask.asnumpy()] == 70).all()


def test_a_result_of_a_comparison_that_was_overwritten_by_indices_is_an_index():
    key = nd.array([1, 2, 3]) > 1
    key[:] = nd.array([2, 0, 0])
    assert nd.array([1, 2, 3])[key].tolist() == [3, 1, 1]


def setting(x, key):
    x[key] = 70
    return x


def test_overlapping_assignment_reads_before_it_writes():
    x = nd.array(np.arange(5))
    x[1:] = x[:-1]
    assert x.asnumpy().tolist() == [0, 0, 1, 2, 3]
    x[[0, 1, 2]] = x[2:]
    assert x.asnumpy().tolist() == [1, 2, 3, 2, 3]


def test_a_view_of_a_view_writes_through():
    x = nd.array(np.zeros((4, 4)))
    x[1:3][:, 1:3][0, 1] = 7
    assert x.asnumpy()[1, 2] == 7


def test_views_outlive_the_array_they_came_from():
    view = nd.array(VALUES)[1]
    np.testing.assert_array_equal(view.asnumpy(), VALUES[1])


@pytest.mark.parametrize(
    "key", [4, -5, (0, 3), (0, 0, 0, 0), ([0, 4],), np.ones(3, bool), 1.5, "x", (..., ...)]
)
def test_a_wrong_index_names_shape_and_key(key):
    with pytest.raises(IndexOutOfRangeError, match=r"cannot index an array of shape \(4, 3, 5\)"):
        nd.array(VALUES)[key]
    with pytest.raises(IndexOutOfRangeError, match=r"cannot index an array of shape \(4, 3, 5\)"):
        nd.array(VALUES)[key] = 0


@pytest.mark.parametrize("key", [0, ([0, 1],)])
@pytest.mark.parametrize("shape", [(7,), (2, 1, 3, 5, 1)])
def test_a_value_that_does_not_fit_is_refused(key, shape):
    with pytest.raises(BindError, match=rf"cannot assign a value of shape \({shape[0]},"):
        nd.array(VALUES)[key] = np.zeros(shape)


@pytest.mark.parametrize("kind", [np.asarray, nd.array])
@pytest.mark.parametrize("key", [0, (0, 1), ([0, 2],)])
def test_leading_axes_of_length_1_may_be_too_many(key, kind):
    x, expected = nd.array(VALUES), VALUES.copy()
    value = -VALUES[key][None, None]
    x[key] = kind(value)
    expected[key] = value
    np.testing.assert_array_equal(x.asnumpy(), expected)


@pytest.mark.parametrize("index", [0.5, np.nan])
def test_an_index_that_is_no_whole_number_is_refused(index):
    with pytest.raises(IndexOutOfRangeError, match=f"an index is {index}, expected an integer"):
        nd.array(VALUES)[nd.array([0, index])]


class TestRecorded:
    @pytest.mark.parametrize("key", [key for key in BASIC if key is not None], ids=_name)
    def test_gradients_flow_through_views(self, key):
        x = nd.array(VALUES)
        x.attach_grad()
        with autograd.record():
            y = x[key] * 2
        y.backward()
        expected = np.zeros_like(VALUES)
        expected[key] = 2
        np.testing.assert_array_equal(y.asnumpy(), 2 * VALUES[key])
        np.testing.assert_array_equal(x.grad.asnumpy(), expected)

    def test_assignment_into_a_recorded_array_is_refused(self):
        x = nd.array(VALUES)
        x.attach_grad()
        with autograd.record(), pytest.raises(BindError, match=r"autograd\.pause"):
            x[0] = 1
        with autograd.record(), autograd.pause():
            x[0] = 1
        assert x[0, 0, 0].asscalar() == 1

    def test_assignment_of_a_recorded_array_by_index_arrays_is_refused(self):
        x = nd.array(VALUES)
        x.attach_grad()
        buffer = nd.empty(SHAPE)
        with autograd.record():
            y = x * 2
            with pytest.raises(BindError, match="lose the gradient"):
                buffer[[0, 1]] = y[0]
            buffer[[0, 1]] = y[0].detach()
        np.testing.assert_array_equal(buffer[0].asnumpy(), 2 * VALUES[0])

    def test_gradients_flow_through_rows_chosen_by_number(self):
        x = nd.array(VALUES)
        x.attach_grad()
        with autograd.record():
            y = x[[-1, 0, -1]]
        y.backward()
        np.testing.assert_array_equal(y.asnumpy(), VALUES[[-1, 0, -1]])
        np.testing.assert_array_equal(x.grad.asnumpy()[:, 0, 0], [1, 0, 0, 2])
        with autograd.record(), pytest.raises(IndexOutOfRangeError):
            x[[4]]

    def test_rows_are_those_that_an_array_named_at_the_call(self):
        x, index = nd.array(VALUES), np.array([2, 0])
        x.attach_grad()
        with autograd.record():
            y = x[index]
        index[:] = 1
        y.backward()
        np.testing.assert_array_equal(y.asnumpy(), VALUES[[2, 0]])
        np.testing.assert_array_equal(x.grad.asnumpy()[:, 0, 0], [1, 0, 1, 0])

    def test_masks_are_refused(self):
        x = nd.array(VALUES)
        x.attach_grad()
        with autograd.record(), pytest.raises(BindError, match="not recorded"):
            x[VALUES > 3]


@pytest.mark.walk
@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool"]
)
@pytest.mark.parametrize("key", [slice(None), slice(0, 2, 2), -1, Ellipsis, None], ids=str)
@pytest.mark.parametrize("value", [0, 1, -1, 127, 128, -129, 300, 2049, 70000, True, 2.75])
def test_a_number_is_assigned_as_numpy_casts_it(dtype: str, value: float, key: Any) -> None:
    x, expected = nd.full((3, 2), 5, dtype=dtype), np.full((3, 2), 5).astype(dtype)
    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # 70000 is infinite in half precision
        x[key] = value
        expected[key] = np.array(value).astype(dtype)
    assert x.asnumpy().tolist() == expected.tolist()

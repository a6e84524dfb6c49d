"""Elements at points, elements of rows, masks and replaced rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import BindError, OperadError, ParamError, ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_indexing.boolean_mask import boolean_mask
from operad_indexing.choose import batch_take, fill_element_0index, pick
from operad_indexing.flat_indices import ravel_multi_index, unravel_index
from operad_indexing.histogram import histogram
from operad_indexing.index_copy import index_copy
from operad_indexing.one_hot import one_hot
from operad_indexing.points import backward_gather_nd, gather_nd, scatter_nd, scatter_set_nd
from operad_indexing.where import where

RNG = np.random.default_rng(79)
POINTS = np.array([[0, 1, -1], [2, 0, -1]])
TWICE = np.array([[0, 1, 0], [2, 0, 2]])


def test_points_are_read_as_numpy_does() -> None:
    data = RNG.normal(size=(2, 3, 4))
    check_forward(gather_nd, [data, POINTS], data[tuple(POINTS)])
    check_forward(gather_nd, [data, np.array([[[0], [1]]])], data[np.array([[0], [1]])])
    gradient_check(gather_nd, [data, TWICE.astype("float64")])


def test_values_at_one_point_are_added_or_the_last_stays() -> None:
    values = np.array([[1.0], [2.0], [4.0]])
    added, last = np.zeros((2, 3, 1)), np.zeros((2, 3, 1))
    added[[0, 1], [2, 0], 0], last[[0, 1], [2, 0], 0] = (5, 2), (4, 2)
    check_forward(backward_gather_nd, [values, TWICE], added, shape=(2, 3, 1))
    check_forward(scatter_nd, [values, TWICE], last, shape=(2, 3, 1))
    check_forward(scatter_set_nd, [np.zeros((2, 3, 1)), values, TWICE], last, shape=(2, 3, 1))


def test_half_precision_is_added_at_points_in_single() -> None:
    values = np.full(3, 0.5, "float16")
    values[0] = 2048
    check_forward(backward_gather_nd, [values, np.zeros((1, 3))], np.array([2049], "float16"), shape=(1,))


@pytest.mark.parametrize("indices", [[[0, 2], [0, 0]], [[0, -3], [0, 0]], [[0, 0], [0, 3]]])
@pytest.mark.parametrize("name", ["gather_nd", "scatter_nd", "_backward_gather_nd"])
def test_a_point_out_of_range_is_an_error(name: str, indices: Any) -> None:
    data = od.nd.zeros((2, 3)) if name == "gather_nd" else od.nd.zeros(2)
    params = {} if name == "gather_nd" else {"shape": (2, 3)}
    with pytest.raises(OperadError, match=f"{name}: indices of axis"):
        getattr(od.nd, name)(data, od.nd.array(indices), **params).asnumpy()


def test_setting_at_points_touches_nothing_else_of_a_given_array() -> None:
    lhs = od.nd.zeros((2, 3))
    out = od.nd._scatter_set_nd(
        lhs, od.nd.array([7, 8]), od.nd.array([[0, 1], [2, 0]]), shape=(2, 3), out=lhs
    )
    assert out is lhs
    assert lhs.asnumpy().tolist() == [[0, 0, 7], [8, 0, 0]]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("mode", ["clip", "wrap"])
def test_pick_takes_one_of_each_row(mode: str, axis: int, keepdims: bool) -> None:
    data = RNG.normal(size=(3, 4, 5))
    kept = np.delete(data.shape, axis)
    index = RNG.integers(-9, 9, kept)
    length = data.shape[axis]
    places = index % length if mode == "wrap" else np.clip(index, 0, length - 1)
    expected = np.take_along_axis(data, np.expand_dims(places, axis), axis)
    expected = expected if keepdims else expected.squeeze(axis)
    params = {"axis": axis, "mode": mode, "keepdims": keepdims}
    check_forward(pick, [data, index], expected, **params)
    check_forward(pick, [data, np.expand_dims(index, axis)], expected, **params)
    gradient_check(pick, [data, index.astype("float64")], **params)


def test_pick_infers_its_index_and_refuses_no_axis() -> None:
    assert pick(keepdims=True).infer_shape([(3, 4), None])[0] == [(3, 4), (3,)]
    with pytest.raises(ParamError, match="axis is None"):
        pick(axis=None).infer_shape([(3, 4), None])


def test_batch_take_reads_rows_and_has_a_gradient() -> None:
    a, indices = RNG.normal(size=(2, 3, 4)), np.array([[0, 3, 9], [-1, 2, 1]], "int32")
    check_forward(
        batch_take, [a, indices], np.take_along_axis(a, np.clip(indices, 0, 3)[..., None], 2)[..., 0]
    )
    gradient_check(batch_take, [a, indices])
    with pytest.raises(ShapeError, match="expected 6 elements, one for each row"):
        batch_take().infer_shape([(2, 3, 4), (5,)])


def test_a_row_whose_number_is_out_of_range_stays() -> None:
    lhs, numbers = np.zeros((3, 2)), np.array([-1.0, 1.9, 2.0])
    check_forward(
        fill_element_0index, [lhs, np.array([1.0, 2, 3]), numbers], np.array([[0, 0], [0, 2], [0, 0]])
    )
    check_forward(one_hot, [numbers], np.array([[0, 0], [0, 1], [0, 0]], "float32"), depth=2)


def test_one_hot_values_become_integers_as_c_has_it() -> None:
    check_forward(
        one_hot,
        [np.array([1])],
        np.array([[254, 4]], "uint8"),
        depth=2,
        on_value=260,
        off_value=-2,
        dtype="uint8",
    )
    with pytest.raises(ParamError, match="on_value is inf, expected a finite number for int8"):
        od.nd.one_hot(od.nd.array([1]), depth=2, on_value=float("inf"), dtype="int8").asnumpy()


def test_where_chooses_elements_or_rows() -> None:
    x, y = RNG.normal(size=(2, 3, 2)), np.full((2, 3, 2), np.nan)
    elements = RNG.integers(-1, 2, x.shape)
    check_forward(where, [elements, x, y], np.where(elements, x, y))
    check_forward(where, [np.array([0.0, np.nan]), x, y], np.stack([y[0], x[1]]))
    with pytest.raises(ShapeError, match="condition has shape"):
        where().infer_shape([(2, 3), (2, 3, 2), (2, 3, 2)])


def test_gradients_do_not_pass_where_the_other_was_chosen() -> None:
    x, y = od.nd.array([1, 2]), od.nd.array([3, 4])
    for array in (x, y):
        array.attach_grad()
    with od.autograd.record():
        chosen = od.nd.where(od.nd.array([1, 0]), x, y)
    chosen.backward(od.nd.array([np.inf, np.nan]))
    assert x.grad.asnumpy().tolist() == [np.inf, 0]
    assert np.isnan(y.grad.asnumpy()).tolist() == [False, True]


def test_a_mask_decides_how_many_rows_there_are() -> None:
    data = od.nd.array(RNG.normal(size=(4, 2)))
    data.attach_grad()
    for mask in ([1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 0.5, 0, -1]):
        with od.autograd.record():
            rows = od.nd._contrib_boolean_mask(data, od.nd.array(mask))
            total = (rows * rows).sum() if rows.shape[0] else rows
        total.backward()
        holds = np.array(mask) != 0
        np.testing.assert_array_equal(rows.asnumpy(), data.asnumpy()[holds])
        np.testing.assert_array_equal(data.grad.asnumpy(), 2 * data.asnumpy() * holds[:, None])


def test_a_mask_cannot_be_bound() -> None:
    rows = od.sym._contrib_boolean_mask(od.sym.var("data"), od.sym.var("mask"), name="rows")
    assert rows.infer_shape_partial(data=(3, 2))[0] == [(3, 2), (3,)]
    with pytest.raises(BindError, match="'rows_output' depends on values"):
        (rows * 2).simple_bind(od.cpu(), data=(3, 2), mask=(3,))
    with pytest.raises(ParamError, match="axis is 1, expected 0"):
        boolean_mask(axis=1)


def test_rows_are_replaced_in_place_or_in_a_copy() -> None:
    old, rows, new = RNG.normal(size=(4, 2)), np.array([2.0, 0.0]), RNG.normal(size=(2, 2))
    expected = old.copy()
    expected[[2, 0]] = new
    check_forward(index_copy, [old, rows, new], expected)
    gradient_check(index_copy, [old, rows, new])
    for wrong in (-1, 4):
        with pytest.raises(OperadError, match="expected 0 to 3, the rows of old_tensor"):
            od.nd._contrib_index_copy(od.nd.array(old), od.nd.array([wrong]), od.nd.ones((1, 2))).asnumpy()


def test_numbers_of_points_go_back_to_points() -> None:
    shape, numbers = (3, 4, 5), np.arange(60)
    points = np.array(np.unravel_index(numbers, shape))
    check_forward(unravel_index, [numbers], points, shape=shape)
    check_forward(ravel_multi_index, [points], numbers, shape=(-1, 4, 5))
    check_forward(
        unravel_index, [np.array([-1, 21])], np.array([[0, 4], [-1, 1]]), shape=(4, 5)
    )  # as C divides
    for wrong in (None, (3, 0)):
        with pytest.raises(ParamError, match="shape is"):
            unravel_index(shape=wrong)


def test_a_histogram_is_numpys() -> None:
    data = np.append(RNG.normal(size=200), [-1.5, 2.0])
    for edges in (np.linspace(-1.5, 2, 8), np.array([-1.5, 0, 0.1, 2])):
        check_forward(histogram, [np.append(data, np.nan), edges], [np.histogram(data, edges)[0], edges])
    counts, _ = check_forward(histogram, [data], bin_cnt=7, range=(-1.5, 2.0))
    np.testing.assert_array_equal(counts, np.histogram(data, 7, (-1.5, 2))[0])
    with pytest.raises(ParamError, match="give both bin_cnt and range"):
        histogram(bin_cnt=3)

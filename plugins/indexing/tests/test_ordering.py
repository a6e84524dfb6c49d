"""`sort`, `argsort` and `topk`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_indexing.ordering import argsort, sort, topk

RNG = np.random.default_rng(73)


def _order(data: Any, axis: int | None, is_ascend: bool) -> Any:
    """By keys: descending, each value's rank counts backward, and the index decides among equals."""
    _, rank = np.unique(data, return_inverse=True)
    keys = rank.reshape(data.shape) * (1 if is_ascend else -1)
    return np.argsort(keys, axis=axis, kind="stable")


@pytest.mark.walk
@pytest.mark.parametrize("dtype", ["float16", "float32", "uint8", "int64", "bool"])
@pytest.mark.parametrize("is_ascend", [True, False])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_equal_elements_keep_their_order(axis: int | None, is_ascend: bool, dtype: str) -> None:
    data = RNG.integers(0, 4, (5, 6, 2)).astype(dtype)
    order, params = _order(data, axis, is_ascend), {"axis": axis, "is_ascend": is_ascend}
    check_forward(argsort, [data], order.astype("int32"), dtype="int32", **params)
    values = np.sort(data, axis)
    check_forward(sort, [data], values if is_ascend else np.flip(values, axis or 0), **params)


@pytest.mark.parametrize("is_ascend", [True, False])
@pytest.mark.parametrize("values", [4, 100_000])
@pytest.mark.parametrize("k", [1, 7, 300])
def test_long_rows_are_selected_from_as_if_they_were_sorted(k: int, values: int, is_ascend: bool) -> None:
    data = RNG.integers(0, values, (3, 400)).astype("float32")
    order = _order(data, 1, is_ascend)[:, :k]
    params = {"k": k, "is_ascend": is_ascend, "ret_typ": "both", "dtype": "int64"}
    check_forward(topk, [data], [np.take_along_axis(data, order, 1), order], **params)


def test_nan_is_the_largest_also_in_long_rows() -> None:
    data = np.arange(200, dtype="float32")
    data[[3, 70]] = np.nan
    check_forward(topk, [data], np.array([3, 70, 199]), k=3, dtype="int64")
    check_forward(topk, [data], np.array([0, 1, 2]), k=3, dtype="int64", is_ascend=True)


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_a_mask_marks_what_is_chosen(axis: int | None) -> None:
    data = RNG.permutation(24).reshape(4, 6).astype("float32")
    (mask,) = check_forward(topk, [data], ret_typ="mask", k=3, axis=axis)
    least = np.sort(data, axis).take(-3, axis)
    np.testing.assert_array_equal(mask, data >= (least if axis != -1 else least[:, None]))


@pytest.mark.parametrize("params", [{"axis": None}, {"axis": 0}, {"axis": -1}])
def test_gradients_go_to_where_elements_came_from(params: dict[str, Any]) -> None:
    data = RNG.permutation(12).reshape(3, 4) / 4.0
    gradient_check(sort, [data], is_ascend=False, **params)
    gradient_check(topk, [data], ret_typ="value", k=2, **params)


def test_numbers_that_the_type_cannot_hold_are_refused() -> None:
    with pytest.raises(
        ShapeError, match="dtype is uint8, which holds integers up to 255, expected up to 256"
    ):
        argsort(dtype="uint8").infer_shape([(2, 257)])
    assert argsort(dtype="uint8").infer_shape([(2, 256)])[1] == [(2, 256)]
    with pytest.raises(ShapeError, match="dtype is float16"):
        topk(dtype="float16", axis=None).infer_shape([(100, 100)])
    assert topk(dtype="float16", ret_typ="value", axis=None).infer_shape([(100, 100)])[1][0] == (1,)


def test_more_than_there_are_cannot_be_asked_for() -> None:
    for ret_typ in ("indices", "mask", "value", "both"):
        with pytest.raises(ShapeError, match="k is 4, expected at most 3"):
            topk(k=4, ret_typ=ret_typ).infer_shape([(2, 3)])


def test_sorting_in_prediction_has_a_gradient_too() -> None:
    data = od.nd.array([3, 1, 2])
    net = od.sym.sort(od.sym.var("data"))
    executor = net.bind(od.cpu(), {"data": data}, args_grad={"data": od.nd.zeros(3)})
    executor.forward(is_train=False)
    executor.backward(od.nd.array([10, 20, 30]))
    assert executor.grad_dict["data"].asnumpy().tolist() == [30, 10, 20]

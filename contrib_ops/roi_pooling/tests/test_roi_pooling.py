from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad_check.testing import gradient_check
from operad_roi_pooling.roi_pooling import ROIPooling
from operad_sdk import ParamError, ShapeError

DATA = np.arange(20.0).reshape(1, 1, 4, 5)


def pool(rois: Any, data: Any = DATA, **params: Any) -> np.ndarray:
    given = {"pooled_size": (2, 2), "spatial_scale": 1.0, **params}
    return od.nd.ROIPooling(od.nd.array(data), od.nd.array(rois), **given).asnumpy()


def test_the_last_pixel_belongs_to_a_region() -> None:
    np.testing.assert_array_equal(pool([[0, 0, 0, 3, 3]])[0, 0], [[6, 8], [16, 18]])


def test_corners_are_scaled_and_halves_rounded_away_from_zero() -> None:
    np.testing.assert_array_equal(pool([[0, 1, 1, 5, 5]], spatial_scale=0.5), pool([[0, 1, 1, 3, 3]]))
    np.testing.assert_array_equal(pool([[0, -0.5, -0.5, 1.5, 1.5]]), pool([[0, -1, -1, 2, 2]]))


def test_bins_overlap_where_there_are_more_than_pixels() -> None:
    np.testing.assert_array_equal(pool([[0, 1, 1, 2, 2]], pooled_size=(1, 3))[0, 0], [[11, 12, 12]])


def test_bins_without_a_pixel_are_zero() -> None:
    assert not pool([[0, 10, 10, 13, 13], [0, -9, -9, -5, -5]], DATA + 1).any()
    np.testing.assert_array_equal(pool([[0, 3, 0, 6, 3]], DATA + 1)[0, 0], [[10, 0], [20, 0]])


@pytest.mark.parametrize("image", [-1, 1, float("nan"), float("inf")])
def test_a_region_in_no_image_is_zero(image: float) -> None:
    assert not pool([[image, 0, 0, 3, 3]], DATA + 1).any()


def test_the_gradient_goes_to_the_first_of_equal_elements() -> None:
    data, rois = od.nd.zeros((1, 1, 2, 2)), od.nd.array([[0, 0, 0, 1, 1]] * 2)
    data.attach_grad()
    with od.autograd.record():
        output = od.nd.ROIPooling(data, rois, pooled_size=(1, 1), spatial_scale=1.0)
    output.backward()
    assert data.grad is not None
    np.testing.assert_array_equal(data.grad.asnumpy()[0, 0], [[2, 0], [0, 0]])


def test_gradients_of_regions_that_overlap_are_added() -> None:
    data = np.random.default_rng(0).permutation(np.arange(40.0)).reshape(2, 1, 4, 5)
    rois = np.array([[0, 0, 0, 3, 3], [0, 1, 1, 4, 3], [1, 0, 0, 4, 3], [1, 9, 9, 9, 9.0]])
    gradient_check(ROIPooling, [data, rois], pooled_size=(2, 2), spatial_scale=1.0)


def test_nan_and_negative_infinity_are_passed_on() -> None:
    values = pool([[0, 0, 0, 0, 0], [0, 1, 0, 1, 0]], [[[[np.nan, -np.inf]]]], pooled_size=(1, 1))
    np.testing.assert_array_equal(values.ravel(), [np.nan, -np.inf])


def test_no_regions_give_an_empty_result() -> None:
    assert pool(np.zeros((0, 5))).shape == (0, 1, 2, 2)


def test_what_makes_no_bins_or_regions_is_refused() -> None:
    with pytest.raises(ParamError, match=r"pooled_size is \(2,\), expected two numbers"):
        pool([[0, 0, 0, 1, 1]], pooled_size=(2,))
    with pytest.raises(ShapeError, match="rois"):
        pool([[0, 0, 0, 1]])

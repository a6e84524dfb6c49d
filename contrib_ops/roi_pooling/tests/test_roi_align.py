from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad_check.testing import gradient_check
from operad_roi_pooling.roi_align import ROIAlign
from operad_sdk import ShapeError

ROWS, COLUMNS = np.mgrid[:6, :7].astype("float64")


def align(rois: Any, data: Any, **params: Any) -> np.ndarray:
    given = {"pooled_size": (1, 1), "spatial_scale": 1.0, **params}
    arrays = (od.nd.array(values, dtype="float64") for values in (data, rois))
    return od.nd._contrib_ROIAlign(*arrays, **given).asnumpy()


def test_a_plane_is_sampled_at_the_centre_of_each_bin() -> None:
    plane = (2 * ROWS + 3 * COLUMNS)[None, None]
    found = align([[0, 1, 0.5, 5, 2.5]], plane, pooled_size=(2, 4))[0, 0]
    np.testing.assert_allclose(found, 2 * np.array([[1.0], [2.0]]) + 3 * np.array([1.5, 2.5, 3.5, 4.5]))


def test_aligned_corners_are_half_a_pixel_less() -> None:
    plane = COLUMNS[None, None]
    corners = np.array([[0, 1.25, 1, 3.75, 3]])
    moved = corners + np.array([0, 0.5, 0.5, 0.5, 0.5])
    np.testing.assert_allclose(align(moved, plane, aligned=True), align(corners, plane))


def test_a_region_is_one_pixel_large_at_least_unless_aligned() -> None:
    plane = COLUMNS[None, None]
    assert align([[0, 2, 2, 2.25, 2.25]], plane).item() == 2.5
    assert align([[0, 2.5, 2.5, 2.75, 2.75]], plane, aligned=True).item() == 2.125


@pytest.mark.parametrize(("x", "expected"), [(-2.5, 0), (-0.75, 3), (6.75, 9), (8, 0)])
def test_a_sample_within_a_pixel_of_the_data_has_the_value_at_the_edge(x: float, expected: int) -> None:
    plane = (COLUMNS + 3)[None, None]
    assert align([[0, x - 0.5, 2, x + 0.5, 3]], plane, sample_ratio=1).item() == expected


def test_each_bin_has_channels_of_its_own_if_position_sensitive() -> None:
    data = np.broadcast_to(np.arange(12.0)[None, :, None, None], (1, 12, 4, 4))
    found = align([[0, 0, 0, 3, 3]], data, pooled_size=(2, 3), position_sensitive=True)
    np.testing.assert_array_equal(found[0], np.arange(12).reshape(2, 2, 3))


def test_an_infinite_pixel_spoils_only_the_bins_that_use_it() -> None:
    plane = COLUMNS.copy()
    plane[:, 5] = np.inf
    found = align([[0, 0, 0, 6, 4]], plane[None, None], pooled_size=(1, 3), sample_ratio=2)
    np.testing.assert_array_equal(np.isfinite(found.ravel()), [True, True, False])


@pytest.mark.parametrize("params", [{}, {"aligned": True}, {"sample_ratio": 2}, {"position_sensitive": True}])
def test_the_gradient_is_that_of_the_samples(params: dict[str, Any]) -> None:
    data = np.random.default_rng(0).normal(size=(2, 4, 4, 5))
    rois = np.array([[0, 0.3, 0, 3.2, 2.9], [1, -2, 1, 6, 3], [0, 1, 1, 2, 2], [7, 0, 0, 3, 3]])
    gradient_check(ROIAlign, [data, rois], pooled_size=(2, 2), spatial_scale=1.0, **params)


def test_a_region_without_area_is_zero_if_aligned() -> None:
    assert align([[0, 3, 3, 1, 1]], COLUMNS[None, None], aligned=True).item() == 0


def test_data_without_pixels_is_refused() -> None:
    with pytest.raises(ShapeError, match="expected at least one pixel"):
        align([[0, 0, 0, 1, 1]], np.zeros((1, 1, 0, 3)))


def test_channels_that_are_no_multiple_of_the_bins_are_refused() -> None:
    with pytest.raises(ShapeError, match="data has shape"):
        align([[0, 0, 0, 1, 1]], np.zeros((1, 3, 4, 4)), pooled_size=(2, 2), position_sensitive=True)

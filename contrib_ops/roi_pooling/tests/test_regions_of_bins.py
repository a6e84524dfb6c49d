"""`_contrib_PSROIPooling` and `_contrib_RROIAlign`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad_check.testing import gradient_check
from operad_roi_pooling.psroi_pooling import PSROIPooling
from operad_sdk import ShapeError

ROWS, COLUMNS = np.mgrid[:6, :7].astype("float64")
BINS: dict[str, Any] = {"spatial_scale": 1.0, "output_dim": 1, "pooled_size": 2}


def turned(rois: Any, plane: Any = 2 * ROWS + 3 * COLUMNS, **params: Any) -> np.ndarray:
    given = {"pooled_size": (1, 2), "spatial_scale": 1.0, **params}
    arrays = (od.nd.array(v, dtype="float64") for v in (plane[None, None], rois))
    return od.nd.contrib.RROIAlign(*arrays, **given).asnumpy()[:, 0]


def test_each_bin_reads_channels_of_its_own() -> None:
    data = np.broadcast_to(np.arange(4.0)[None, :, None, None], (1, 4, 4, 4))
    found = od.nd.contrib.PSROIPooling(od.nd.array(data), od.nd.array([[0, 0, 0, 3, 3]]), **BINS)
    np.testing.assert_array_equal(found.asnumpy()[0, 0], [[0, 1], [2, 3]])


def test_bins_of_one_group_share_their_channels() -> None:
    data = np.broadcast_to(COLUMNS[:4, :4], (1, 1, 4, 4))
    found = od.nd.contrib.PSROIPooling(
        od.nd.array(data), od.nd.array([[0, 0, 0, 3, 3]]), **BINS, group_size=1
    )
    np.testing.assert_array_equal(found.asnumpy()[0, 0], [[0.5, 2.5], [0.5, 2.5]])


def test_a_region_in_no_image_is_zero() -> None:
    for rois in ([[5, 0, 0, 3, 3]], [[-1, 0, 0, 3, 3]]):
        found = od.nd.contrib.PSROIPooling(od.nd.ones((1, 4, 4, 4)), od.nd.array(rois), **BINS)
        assert not found.asnumpy().any()
    assert not turned([[3, 2, 2, 2, 2, 0]]).any()


def test_gradients_of_bins_are_shared_by_their_pixels() -> None:
    data = np.random.default_rng(0).normal(size=(2, 8, 4, 5))
    rois = np.array([[0, 0, 0, 3, 3], [1, -2, 1, 6, 3], [0, 1, 1, 2, 2.0]])
    gradient_check(PSROIPooling, [data, rois], **{**BINS, "output_dim": 2})


def test_a_plane_is_sampled_at_the_centres_of_bins_that_are_turned() -> None:
    np.testing.assert_allclose(turned([[0, 3, 3, 2, 1, 0]])[0], [[13.5, 16.5]])
    # Turned against the clock by a right angle, the first bin lies below the second.
    np.testing.assert_allclose(turned([[0, 3, 3, 2, 1, 90]])[0], [[16.0, 14.0]])
    np.testing.assert_allclose(turned([[0, 3, 3, 2, 1, 180]])[0], [[16.5, 13.5]])


def test_a_turned_region_of_a_plane_has_the_mean_of_its_centre() -> None:
    found = turned([[0, 3, 3, 2, 2, angle] for angle in (0, 30, 45, 77)], pooled_size=(2, 2))
    np.testing.assert_allclose(found.mean(axis=(1, 2)), 15)


def test_channels_that_are_no_multiple_of_the_groups_are_refused() -> None:
    with pytest.raises(ShapeError, match="data has shape"):
        od.nd.contrib.PSROIPooling(od.nd.ones((1, 3, 4, 4)), od.nd.ones((1, 5)), **BINS)

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad_bilinear_resize import BilinearResize2D
from operad_check.testing import gradient_check
from operad_sdk import ShapeError

ROWS, COLUMNS = np.mgrid[:4, :5].astype("float64")


def resized(plane: Any, **params: Any) -> np.ndarray:
    return od.nd.contrib.BilinearResize2D(
        od.nd.array(plane[None, None], dtype="float64"), **params
    ).asnumpy()[0, 0]


def test_a_plane_stays_one_where_corners_are_aligned() -> None:
    found = resized(2 * ROWS + 3 * COLUMNS, height=7, width=9)
    np.testing.assert_allclose(found, 2 * np.linspace(0, 3, 7)[:, None] + 3 * np.linspace(0, 4, 9))


def test_centres_of_halves_are_means_of_pairs() -> None:
    np.testing.assert_allclose(resized(ROWS, height=2, width=5, align_corners=False)[:, 0], [0.5, 2.5])


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"scale_height": 0.5, "scale_width": 2.0}, (2, 10)),
        ({"mode": "odd_scale", "scale_height": 0.5, "scale_width": 2.0}, (2, 9)),
        ({"mode": "to_even_down"}, (4, 4)),
        ({"mode": "to_even_up"}, (4, 6)),
        ({"mode": "to_odd_down"}, (3, 5)),
        ({"mode": "to_odd_up"}, (5, 5)),
    ],
    ids=str,
)
def test_the_size_is_what_the_mode_says(params: dict[str, Any], expected: tuple[int, int]) -> None:
    assert resized(ROWS, **params).shape == expected


def test_another_array_lends_its_size() -> None:
    data, like = od.nd.ones((1, 2, 4, 5)), od.nd.zeros((3, 1, 6, 2))
    assert od.nd.contrib.BilinearResize2D(data, like, mode="like").shape == (1, 2, 6, 2)


def test_a_size_of_nothing_is_refused() -> None:
    with pytest.raises(ShapeError, match="expected at least 1"):
        resized(ROWS, scale_height=0.1)


def test_an_infinite_pixel_spoils_no_sample_on_another_one() -> None:
    plane = COLUMNS.copy()
    plane[:, 4] = np.inf
    assert np.isfinite(resized(plane, height=4, width=9)[:, ::2][:, :4]).all()


@pytest.mark.parametrize("align_corners", [True, False])
def test_the_gradient_is_that_of_the_weights(align_corners: bool) -> None:
    data = np.random.default_rng(0).normal(size=(1, 2, 3, 4))
    gradient_check(BilinearResize2D, [data], height=5, width=3, align_corners=align_corners)

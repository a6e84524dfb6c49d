from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad_box import definitions, suppression
from operad_box.box_nms import box_nms
from operad_box.geometry import Corners
from operad_check.testing import gradient_check
from operad_sdk import ParamError, ShapeError

SAME, APART = [0.0, 0.0, 1.0, 1.0], [5.0, 5.0, 6.0, 6.0]


def nms(rows: Any, **params: Any) -> np.ndarray:
    return od.nd._contrib_box_nms(od.nd.array(rows), **params).asnumpy()


def scores(rows: Any, **params: Any) -> list[float]:
    """Those of the rows that stayed, in order."""
    found = nms(rows, **params)[:, 1]
    return [round(float(score), 3) for score in found if score != -1]


def test_rows_that_stay_come_first_best_first_and_the_others_are_minus_one() -> None:
    found = nms([[0, 0.5, *SAME], [1, 0.75, *APART], [2, 0.625, *SAME]])
    np.testing.assert_array_equal(found, [[1, 0.75, *APART], [2, 0.625, *SAME], [-1] * 6])


def test_of_equal_scores_the_first_stays() -> None:
    assert nms([[7, 0.5, *SAME], [8, 0.5, *SAME]])[:, 0].tolist() == [7, -1]


def test_a_suppressed_box_suppresses_none() -> None:
    chain = [[0, 0.9, 0, 0, 1, 1], [0, 0.8, 0.4, 0, 1.4, 1], [0, 0.7, 0.8, 0, 1.8, 1]]
    assert scores(chain, overlap_thresh=0.3) == [0.9, 0.7]


def test_an_overlap_or_a_score_equal_to_its_threshold_is_within() -> None:
    assert scores([[0, 0.5, 0, 0, 1, 1], [0, 0.25, 0, 0, 2, 1]], overlap_thresh=0.5) == [0.5, 0.25]
    assert scores([[0, 0.5, *SAME], [0, 0.25, *APART]], valid_thresh=0.25) == [0.5]


def test_classes_are_apart_unless_forced() -> None:
    rows = [[0, 0.9, *SAME], [1, 0.8, *SAME], [0, 0.7, *SAME]]
    assert scores(rows, id_index=0) == [0.9, 0.8]
    assert scores(rows, id_index=0, force_suppress=True) == [0.9]


def test_the_background_is_left_out_before_topk_counts() -> None:
    rows = [[0, 0.9, *SAME], [1, 0.8, *SAME], [1, 0.7, *APART]]
    assert scores(rows, id_index=0, background_id=0, topk=1) == [0.8]


def test_topk_counts_candidates_not_what_stays() -> None:
    rows = [[0, 0.9, *SAME], [0, 0.8, *SAME], [0, 0.7, *APART]]
    assert scores(rows, topk=2) == [0.9]
    assert scores(rows, topk=0) == [0.9, 0.7]


def test_a_score_that_is_no_number_does_not_count() -> None:
    assert scores([[0, np.nan, *SAME], [0, 0.5, *APART]]) == [0.5]


@pytest.mark.parametrize("formats", [("corner", "center"), ("center", "corner"), ("center", "center")])
def test_the_gradient_goes_through_the_conversion_to_the_rows_that_stay(formats: tuple[str, str]) -> None:
    rows = np.array([[0, 0.5, 0, 0, 2, 2], [0, 0.7, 0, 0, 2.5, 2], [0, 0.9, 5, 5, 2, 1]])
    gradient_check(box_nms, [rows], in_format=formats[0], out_format=formats[1])


@pytest.mark.parametrize("seed", range(5))
def test_many_boxes_are_suppressed_as_defined(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.random((2, 60, 7)).astype("float32")
    rows[..., 0] = rng.integers(-1, 3, (2, 60))
    rows[..., 4:6] += rows[..., 2:4]
    params: dict[str, Any] = {"overlap_thresh": 0.3, "valid_thresh": 0.1, "topk": 40, "id_index": 0}
    defaults = {"coord_start": 2, "score_index": 1, "background_id": -1, "force_suppress": False}
    formats = {"in_format": "corner", "out_format": "center"}
    expected, _ = definitions.box_nms(rows, **params, **defaults, **formats)
    np.testing.assert_allclose(nms(rows, **params, **formats), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"score_index": 3}, "score_index is 3, among the coordinates 2 to 5"),
        ({"id_index": 1}, "id_index and score_index are both 1"),
    ],
)
def test_places_in_a_row_that_clash_are_refused(params: dict[str, int], message: str) -> None:
    with pytest.raises(ParamError, match=message):
        od.nd._contrib_box_nms(od.nd.zeros((2, 6)), **params)


def test_rows_that_are_too_short_are_refused() -> None:
    with pytest.raises(ShapeError, match="expected rows of at least 6 numbers: axis 1 is 5"):
        od.nd._contrib_box_nms(od.nd.zeros((2, 5)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("is_inclusive", [False, True])
@pytest.mark.parametrize("threshold", [0.0, 0.25, 0.5])
def test_compiled_and_other_code_keep_the_same_boxes(
    dtype: str, is_inclusive: bool, threshold: float
) -> None:
    pytest.importorskip("numba", reason="needs numba: pip install operad-sdk[fast]")
    rng = np.random.default_rng(0)
    first = rng.integers(0, 16, (2, 400)) / 16
    last = first + rng.integers(-1, 5, first.shape) / 16  # ties, and boxes without area
    boxes = Corners(*np.concatenate([first, last]).astype(dtype))
    classes = rng.integers(0, 3, 400)
    for grouped in (None, classes):
        steps = suppression.kept(np, boxes, grouped, threshold, is_inclusive=is_inclusive)
        loop = suppression.kept_by_loop(np, boxes, grouped, threshold, is_inclusive=is_inclusive)
        np.testing.assert_array_equal(loop, steps)

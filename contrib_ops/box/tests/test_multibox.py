from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad_box.coding import decoded, encoded
from operad_box.geometry import corners
from operad_sdk import ParamError

QUARTERS = [[0.0, 0.0, 0.5, 0.5], [0.5, 0.5, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0], [0.1, 0.1, 0.4, 0.4]]


def target(rows: Any, scores: Any = None, **params: Any) -> list[np.ndarray]:
    scores = np.zeros((len(rows), 3, 4)) if scores is None else scores
    arrays = (od.nd.array(values) for values in ([QUARTERS], rows, scores))
    return [output.asnumpy() for output in od.nd._contrib_MultiBoxTarget(*arrays, **params)]


def detected(scores: Any, offsets: Any = None, **params: Any) -> np.ndarray:
    offsets = np.zeros((len(scores), 16)) if offsets is None else offsets
    arrays = (od.nd.array(values) for values in (scores, offsets, [QUARTERS]))
    return od.nd._contrib_MultiBoxDetection(*arrays, **params).asnumpy()


def test_anchors_of_all_sizes_come_before_those_of_other_ratios() -> None:
    anchors = od.nd._contrib_MultiBoxPrior(od.nd.zeros((1, 1, 1, 1)), sizes=(0.5, 0.25), ratios=(4.0, 1.0))
    left, top, right, bottom = anchors.asnumpy()[0].T
    np.testing.assert_allclose(right - left, [1.0, 0.5, 0.5])
    np.testing.assert_allclose(bottom - top, [0.25, 0.125, 0.5])


def test_anchors_are_square_in_pixels_and_stand_on_the_grid() -> None:
    anchors = od.nd._contrib_MultiBoxPrior(od.nd.zeros((1, 1, 2, 4)), sizes=(0.5,)).asnumpy()[0]
    np.testing.assert_allclose(anchors[:, 2] - anchors[:, 0], 0.25)
    np.testing.assert_allclose((anchors[:, 0] + anchors[:, 2]) / 2, [0.125, 0.375, 0.625, 0.875] * 2)
    np.testing.assert_allclose((anchors[:, 1] + anchors[:, 3]) / 2, [0.25] * 4 + [0.75] * 4)


@pytest.mark.parametrize(
    "params", [{"sizes": ()}, {"steps": (0.5,)}, {"steps": (0.5, -1.0)}, {"ratios": (-1.0,)}]
)
def test_parameters_without_a_meaning_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ParamError, match="_contrib_MultiBoxPrior: .*" + next(iter(params))):
        od.nd._contrib_MultiBoxPrior(od.nd.zeros((1, 1, 1, 1)), **params)


def test_offsets_and_boxes_are_each_others_inverse() -> None:
    rng = np.random.default_rng(0)
    boxes, anchors = (
        corners(sides, "corner") for sides in np.cumsum(rng.random((2, 7, 2, 2)), axis=2).reshape(2, 7, 4)
    )
    variances = (0.1, 0.2, 0.3, 0.4)
    found = decoded(encoded(boxes, anchors, variances), anchors, variances)
    np.testing.assert_allclose(found, boxes)


def test_two_equal_true_boxes_get_two_anchors() -> None:
    _, mask, classes = target([[[0, *QUARTERS[0]], [1, *QUARTERS[0]]]])
    assert classes.tolist() == [[1, 0, 0, 2]]
    assert mask.reshape(4, 4)[:, 0].tolist() == [1, 0, 0, 1]


def test_rows_after_the_first_of_class_minus_one_do_not_count() -> None:
    _, mask, classes = target([[[-1.0] * 5, [1, *QUARTERS[0]]]], ignore_label=-3.0)
    assert (mask.any(), classes.tolist()) == (False, [[-3, -3, -3, -3]])


def test_mining_takes_the_anchors_that_look_least_like_background() -> None:
    scores = [[[0.0, 0.0, -1.0, -2.0], [0.0] * 4, [0.0] * 4]]
    found = [
        target([[[0, *QUARTERS[0]]]], scores, overlap_threshold=0.9, negative_mining_ratio=ratio)[2].tolist()
        for ratio in (1.0, 2.0, 9.0)
    ]
    assert found == [[[1, -1, -1, 0]], [[1, -1, 0, 0]], [[1, 0, 0, 0]]]


def test_mining_leaves_out_what_overlaps_a_true_box() -> None:
    params = {"overlap_threshold": 0.9, "negative_mining_ratio": 3.0, "negative_mining_thresh": 0.3}
    assert target([[[0, *QUARTERS[0]]]], **params)[2].tolist() == [[1, 0, 0, -1]]


def test_an_overlap_equal_to_the_threshold_suppresses_a_detection() -> None:
    scores = [[[0.0] * 4, [0.9, 0.8, 0.7, 0.0]]]  # the first anchor is a quarter of the third
    assert detected(scores, nms_threshold=0.25)[0, :, 0].tolist() == [0, 0, -1, -1]
    assert detected(scores, nms_threshold=0.26)[0, :, 0].tolist() == [0, 0, 0, -1]


def test_a_detection_keeps_its_place_when_it_is_suppressed() -> None:
    found = detected([[[0.0] * 4, [0.5, 0.0, 0.75, 0.0]]], nms_threshold=0.25)
    np.testing.assert_array_equal(found[0, :2, :2], [[0, 0.75], [-1, 0.5]])
    np.testing.assert_array_equal(found[0, 2:], -1)


def test_boxes_are_cut_off_at_the_image() -> None:
    offsets = np.tile([0.0, 0.0, 5.0, 5.0], 4)[None]  # e times as large
    scores = [[[0.0] * 4, [0.9, 0.0, 0.0, 0.0]]]
    half = np.e / 4
    np.testing.assert_allclose(
        detected(scores, offsets, clip=False)[0, 0, 2:], [0.25 - half] * 2 + [0.25 + half] * 2, rtol=1e-6
    )
    np.testing.assert_allclose(
        detected(scores, offsets)[0, 0, 2:], [0, 0, 0.25 + half, 0.25 + half], rtol=1e-6
    )


def test_a_detector_of_the_background_alone_finds_nothing() -> None:
    assert (detected([[[0.9] * 4]]) == -1).all()


@pytest.mark.parametrize("name", ["_contrib_MultiBoxTarget", "_contrib_MultiBoxDetection"])
def test_other_than_four_variances_are_refused(name: str) -> None:
    with pytest.raises(ParamError, match=r"variances is .*, expected four numbers"):
        od.registry.get(name)(variances=(0.1, 0.1))

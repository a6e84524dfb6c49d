from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad_proposal.anchors import sizes
from operad_sdk import ParamError, ShapeError

ONE: dict[str, Any] = {"scales": (1.0,), "ratios": (1.0,), "feature_stride": 8, "rpn_min_size": 0}


def proposed(scores: Any, offsets: Any = None, image: Any = (32, 32, 1), **params: Any) -> list[np.ndarray]:
    foreground = np.asarray(scores, float)
    given = np.stack([1 - foreground, foreground])[None]
    moves = np.zeros((1, 4, *foreground.shape)) if offsets is None else offsets
    arrays = (od.nd.array(values) for values in (given, moves, [image]))
    found = od.nd.contrib.Proposal(*arrays, output_score=True, **{**ONE, **params})
    return [values.asnumpy() for values in found]


def test_anchors_are_those_of_the_paper() -> None:
    found = sizes(16, (8.0,), (0.5, 1.0, 2.0))
    assert found == [(184.0, 96.0), (128.0, 128.0), (88.0, 176.0)]


def test_the_best_boxes_come_first_and_are_repeated() -> None:
    boxes, scores = proposed([[0.25, 0.75]], image=(8, 16, 1), rpn_post_nms_top_n=3)
    np.testing.assert_array_equal(boxes[:, 1:], [[8, 0, 15, 7], [0, 0, 7, 7], [8, 0, 15, 7]])
    np.testing.assert_array_equal(scores.ravel(), [0.75, 0.25, 0.75])


def test_positions_beyond_the_image_count_last() -> None:
    _, scores = proposed([[0.25, 0.75]], image=(8, 8, 1), rpn_post_nms_top_n=1)
    assert scores.item() == 0.25


def test_boxes_that_overlap_a_better_one_are_left_out() -> None:
    offsets = np.zeros((1, 4, 1, 2))
    offsets[0, 0, 0, 1] = -1  # the second anchor lies where the first one does
    boxes, _ = proposed([[0.25, 0.75]], offsets, image=(8, 16, 1), rpn_post_nms_top_n=2)
    np.testing.assert_array_equal(boxes[0], boxes[1])


def test_boxes_that_are_too_small_count_last() -> None:
    offsets = np.zeros((1, 4, 1, 2))
    offsets[0, 2:, 0, 1] = -3
    _, scores = proposed([[0.25, 0.75]], offsets, image=(8, 16, 1), rpn_min_size=4, rpn_post_nms_top_n=1)
    assert scores.item() == 0.25


def test_each_image_has_proposals_of_its_own() -> None:
    scores, offsets = od.nd.random.uniform(shape=(2, 2, 3, 3)), od.nd.zeros((2, 4, 3, 3))
    images = od.nd.array([[24, 24, 1]] * 2)
    boxes = od.nd.contrib.MultiProposal(scores, offsets, images, rpn_post_nms_top_n=2, **ONE).asnumpy()
    assert boxes[:, 0].tolist() == [0, 0, 1, 1]


def test_what_proposes_nothing_is_refused() -> None:
    with pytest.raises(ShapeError, match="expected at least one position"):
        proposed(np.zeros((0, 2)))
    with pytest.raises(ParamError, match="scales is empty"):
        proposed([[0.5]], scales=())

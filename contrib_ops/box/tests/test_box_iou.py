from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad_box import definitions
from operad_sdk import ShapeError


def iou(lhs: object, rhs: object, **params: str) -> np.ndarray:
    arrays = (od.nd.array(np.asarray(boxes, "float64"), dtype="float64") for boxes in (lhs, rhs))
    return od.nd._contrib_box_iou(*arrays, **params).asnumpy()


def test_a_box_overlaps_itself_fully_and_neighbours_not_at_all() -> None:
    boxes = [[0, 0, 1, 1], [1, 0, 2, 1], [5, 5, 7, 9]]
    np.testing.assert_array_equal(iou(boxes, boxes), np.eye(3))


def test_half_shared_is_a_third_of_the_union() -> None:
    np.testing.assert_allclose(iou([[0, 0, 2, 2]], [[1, 0, 3, 2]]), [[1 / 3]])


def test_a_box_without_area_overlaps_nothing() -> None:
    flat, exchanged = [1, 1, 1, 1], [2, 2, 0, 0]
    np.testing.assert_array_equal(iou([flat, exchanged], [flat, exchanged, [0, 0, 3, 3]]), np.zeros((2, 3)))


def test_centres_and_sizes_describe_the_same_boxes() -> None:
    rng = np.random.default_rng(0)
    corners = np.cumsum(rng.random((5, 2, 2)), axis=1).reshape(5, 4)
    centers = [definitions.center(box, "corner") for box in corners]
    np.testing.assert_allclose(iou(centers, centers, format="center"), iou(corners, corners))


def test_axes_of_both_arguments_are_kept() -> None:
    assert iou(np.ones((2, 3, 4)), np.ones((5, 4))).shape == (2, 3, 5)
    assert iou(np.ones((0, 4)), np.ones((5, 4))).shape == (0, 5)


@pytest.mark.parametrize("shape", [(4,), (2, 5)])
def test_what_is_no_list_of_boxes_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match="_contrib_box_iou: lhs"):
        od.nd._contrib_box_iou(od.nd.zeros(shape), od.nd.zeros((2, 4)))

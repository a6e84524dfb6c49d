"""Cases of operators on boxes: anchors, overlaps, suppression and pooling within regions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.conformance.recorded.case import Case, Recipe, exactly, normal, permutation, uniform

CORNERS = exactly([[0.0, 0.0, 2.0, 2.0], [1.0, 1.0, 3.0, 3.0], [5.0, 5.0, 6.0, 7.0]])
OTHERS = exactly([[0.0, 0.0, 2.0, 2.0], [0.5, 0.5, 1.5, 3.0]])

# Class, score, corners.
DETECTIONS = exactly(
    [
        [0.0, 0.9, 0.1, 0.1, 0.5, 0.5],
        [1.0, 0.8, 0.12, 0.1, 0.5, 0.52],
        [0.0, 0.7, 0.1, 0.15, 0.55, 0.5],
        [0.0, 0.05, 0.6, 0.6, 0.9, 0.9],
        [2.0, 0.4, 0.6, 0.62, 0.9, 0.95],
    ]
)
ANCHORS = exactly(
    [[[0.1, 0.1, 0.4, 0.4], [0.2, 0.2, 0.5, 0.6], [0.5, 0.5, 0.9, 0.9], [0.0, 0.6, 0.3, 1.0]]],
)
TRUTH = exactly(
    [
        [[1.0, 0.1, 0.1, 0.45, 0.4], [0.0, 0.5, 0.55, 0.9, 0.85]],
        [[2.0, 0.0, 0.6, 0.35, 0.95], [-1.0, -1.0, -1.0, -1.0, -1.0]],
    ]
)


def overlaps() -> Iterator[Case]:
    """Intersection over union of every pair."""
    rows: list[tuple[str, tuple[Recipe, Recipe], dict[str, Any]]] = [
        ("defaults", (CORNERS, OTHERS), {}),
        ("center", (CORNERS, OTHERS), {"format": "center"}),
        ("one_box", (exactly([[0.0, 0.0, 1.0, 1.0]]), OTHERS), {}),
        ("refused_one_axis", (exactly([0.0, 0.0, 1.0, 1.0]), exactly([0.5, 0.0, 1.5, 1.0])), {}),
        ("three_axes", (uniform(2, 2, 4, low=0.0), uniform(3, 4, low=0.0)), {"format": "center"}),
        ("touching", (exactly([[0.0, 0.0, 1.0, 1.0]]), exactly([[1.0, 0.0, 2.0, 1.0]])), {}),
        ("without_area", (exactly([[1.0, 1.0, 1.0, 1.0]]), exactly([[1.0, 1.0, 1.0, 1.0]])), {}),
        ("corners_exchanged", (exactly([[2.0, 2.0, 0.0, 0.0]]), OTHERS), {}),
        (
            "float64",
            (exactly([[0.0, 0.0, 2.0, 2.0]], "float64"), exactly([[1.0, 1.0, 3.0, 3.0]], "float64")),
            {},
        ),
    ]
    for name, inputs, params in rows:
        yield Case("_contrib_box_iou", name, inputs, params, grad=())


def suppressions() -> Iterator[Case]:
    """Suppression of boxes that overlap a better one, which become -1."""
    by_class: dict[str, Any] = {"id_index": 0}
    rows: list[tuple[str, Recipe, dict[str, Any]]] = [
        ("defaults", DETECTIONS, {}),
        ("by_class", DETECTIONS, by_class),
        ("forced", DETECTIONS, {**by_class, "force_suppress": True}),
        ("background", DETECTIONS, {**by_class, "background_id": 0}),
        ("low_threshold", DETECTIONS, {"overlap_thresh": 0.1}),
        ("high_threshold", DETECTIONS, {"overlap_thresh": 0.95}),
        ("valid_thresh", DETECTIONS, {"valid_thresh": 0.1}),
        ("nothing_valid", DETECTIONS, {"valid_thresh": 2.0}),
        ("topk", DETECTIONS, {"topk": 2}),
        ("topk_beyond_the_boxes", DETECTIONS, {"topk": 9}),
        ("center_in", DETECTIONS, {"in_format": "center"}),
        ("center_out", DETECTIONS, {"out_format": "center"}),
        ("center_both", DETECTIONS, {"in_format": "center", "out_format": "center"}),
        ("one_box", exactly([[0.0, 0.5, 0.1, 0.1, 0.5, 0.5]]), {}),
        (
            "unsorted",
            exactly([[0.2, 0.0, 0.0, 1.0, 1.0], [0.9, 0.1, 0.0, 1.0, 1.0]]),
            {"coord_start": 1, "score_index": 0},
        ),
        (
            "coordinates_first",
            exactly([[0.0, 0.0, 1.0, 1.0, 0.3], [0.0, 0.0, 1.0, 0.9, 0.8]]),
            {"coord_start": 0, "score_index": 4},
        ),
        (
            "float64",
            exactly([[0.0, 0.9, 0.1, 0.1, 0.5, 0.5], [0.0, 0.8, 0.1, 0.1, 0.5, 0.52]], "float64"),
            {},
        ),
    ]
    for name, data, params in rows:
        yield Case("_contrib_box_nms", name, (data,), params, grad=(0,))
    pictures = (exactly([[[0.0, 0.2, 0.0, 0.0, 1.0, 1.0], [0.0, 0.9, 0.1, 0.0, 1.0, 1.0]]] * 2),)
    yield Case("_contrib_box_nms", "three_axes", pictures, grad=(0,))


def priors() -> Iterator[Case]:
    """Anchors of each pixel; data lends its size alone."""
    rows: list[tuple[str, tuple[int, ...], dict[str, Any]]] = [
        ("defaults", (1, 1, 2, 3), {}),
        ("sizes", (1, 2, 2, 2), {"sizes": (0.5, 0.25, 0.1)}),
        ("ratios", (1, 1, 2, 2), {"ratios": (1.0, 2.0, 0.5)}),
        ("sizes_and_ratios", (2, 1, 2, 1), {"sizes": (0.5, 0.25), "ratios": (1.0, 2.0, 0.5)}),
        ("clip", (1, 1, 2, 2), {"sizes": (0.9,), "clip": True}),
        ("steps", (1, 1, 2, 2), {"steps": (0.3, 0.4)}),
        ("offsets", (1, 1, 2, 2), {"offsets": (0.0, 1.0)}),
        ("one_pixel", (1, 1, 1, 1), {"sizes": (0.3,)}),
        ("wide", (1, 1, 1, 4), {"sizes": (0.3,), "ratios": (3.0,)}),
    ]
    for name, shape, params in rows:
        yield Case("_contrib_MultiBoxPrior", name, (normal(*shape),), params, grad=())
    double = normal(1, 1, 2, 2, dtype="float64")
    yield Case("_contrib_MultiBoxPrior", "refused_float64", (double,), {"sizes": (0.5,)}, grad=())


def targets() -> Iterator[Case]:
    """Cases of the targets that each anchor should predict."""
    scores = normal(2, 3, 4)
    rows: list[tuple[str, dict[str, Any]]] = [
        ("defaults", {}),
        ("low_threshold", {"overlap_threshold": 0.1}),
        ("high_threshold", {"overlap_threshold": 0.99}),
        ("negative_mining", {"negative_mining_ratio": 1.0}),
        ("negative_mining_of_three", {"negative_mining_ratio": 3.0, "minimum_negative_samples": 1}),
        ("negative_mining_threshold", {"negative_mining_ratio": 1.0, "negative_mining_thresh": 0.3}),
        ("ignore_label", {"negative_mining_ratio": 1.0, "ignore_label": -5.0}),
        ("variances", {"variances": (0.5, 0.5, 1.0, 1.0)}),
    ]
    for name, params in rows:
        yield Case("_contrib_MultiBoxTarget", name, (ANCHORS, TRUTH, scores), params, grad=())
    nothing = exactly([[[-1.0] * 5]])
    yield Case("_contrib_MultiBoxTarget", "no_truth", (ANCHORS, nothing, normal(1, 3, 4)), grad=())


def detections() -> Iterator[Case]:
    """Boxes decoded, then suppressed."""
    classes = exactly(
        [[[0.1, 0.2, 0.7, 0.3], [0.6, 0.7, 0.1, 0.3], [0.3, 0.1, 0.2, 0.4]]],
    )
    offsets = normal(1, 16, scale=0.2)
    rows: list[tuple[str, dict[str, Any]]] = [
        ("defaults", {}),
        ("no_clip", {"clip": False}),
        ("threshold", {"threshold": 0.35}),
        ("background", {"background_id": 1}),
        ("low_nms_threshold", {"nms_threshold": 0.05}),
        ("forced", {"nms_threshold": 0.05, "force_suppress": True}),
        ("topk", {"nms_topk": 2}),
        ("variances", {"variances": (0.5, 0.5, 1.0, 1.0)}),
        ("nothing_found", {"threshold": 0.99}),
    ]
    for name, params in rows:
        yield Case("_contrib_MultiBoxDetection", name, (classes, offsets, ANCHORS), params, grad=())


def regions() -> Iterator[Case]:
    """Pooling within rectangles of (picture, corners)."""
    rois = exactly([[0.0, 0.0, 0.0, 3.0, 3.0], [1.0, 1.0, 0.0, 4.0, 2.0], [0.0, 2.0, 2.0, 2.0, 2.0]])
    half: dict[str, Any] = {"pooled_size": (2, 2), "spatial_scale": 1.0}
    rows: list[tuple[str, Recipe, dict[str, Any]]] = [
        ("defaults", rois, {}),
        (
            "spatial_scale",
            exactly([[0.0, 0.0, 0.0, 7.0, 7.0], [1.0, 2.0, 1.0, 8.0, 5.0]]),
            {"spatial_scale": 0.5},
        ),
        ("one_bin", rois, {"pooled_size": (1, 1)}),
        ("oblong", rois, {"pooled_size": (3, 1)}),
        ("more_bins_than_pixels", exactly([[0.0, 1.0, 1.0, 2.0, 2.0]]), {"pooled_size": (3, 3)}),
        ("beyond_the_edge", exactly([[0.0, 2.0, 2.0, 9.0, 9.0], [1.0, -3.0, -3.0, 1.0, 1.0]]), {}),
        ("corners_exchanged", exactly([[0.0, 3.0, 3.0, 1.0, 1.0]]), {}),
        ("fractional", exactly([[0.0, 0.4, 0.6, 2.5, 3.4]]), {}),
    ]
    for name, where, params in rows:
        yield Case("ROIPooling", name, (permutation(2, 2, 4, 5), where), {**half, **params}, grad=(0,))
        yield Case("_contrib_ROIAlign", name, (normal(2, 2, 4, 5), where), {**half, **params}, grad=(0,))
    align: list[tuple[str, dict[str, Any]]] = [
        ("sample_ratio_1", {"sample_ratio": 1}),
        ("sample_ratio_2", {"sample_ratio": 2}),
        ("aligned", {"aligned": True, "sample_ratio": 2}),
        ("aligned_adaptive", {"aligned": True}),
    ]
    wide = exactly([[0.0, 0.0, 0.0, 3.0, 3.0], [1.0, 1.0, 0.0, 4.0, 2.0]])  # `aligned` takes no empty ones
    for name, params in align:
        yield Case("_contrib_ROIAlign", name, (normal(2, 2, 4, 5), wide), {**half, **params}, grad=(0,))
    sensitive = {**half, "position_sensitive": True, "sample_ratio": 2}
    yield Case("_contrib_ROIAlign", "position_sensitive", (normal(2, 4, 4, 4), rois), sensitive, grad=(0,))
    double = (normal(1, 1, 4, 4, dtype="float64"), exactly([[0.0, 0.0, 0.0, 3.0, 3.0]], "float64"))
    yield Case("_contrib_ROIAlign", "float64", double, half, grad=(0,))
    yield Case("ROIPooling", "float64", double, half, grad=(0,))


GROUPS = (overlaps, suppressions, priors, targets, detections, regions)

CASES: list[Case] = [case for group in GROUPS for case in group()]

"""Cases of deformable operators, proposals, and other pooling within regions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.conformance.recorded.case import Case, Recipe, exactly, normal, permutation, uniform

ROIS = exactly([[0.0, 0.0, 0.0, 3.0, 3.0], [1.0, 1.0, 0.0, 4.0, 2.0], [0.0, 2.0, 2.0, 2.0, 2.0]])


def sensitive() -> Iterator[Case]:
    """Means of bins with channels of their own."""
    half: dict[str, Any] = {"spatial_scale": 1.0, "output_dim": 2, "pooled_size": 2}
    rows: list[tuple[str, int, dict[str, Any], Recipe]] = [
        ("defaults", 8, {}, ROIS),
        ("groups", 8, {"pooled_size": 3, "group_size": 2}, ROIS),
        ("one_group", 2, {"group_size": 1}, ROIS),
        ("spatial_scale", 8, {"spatial_scale": 0.5}, exactly([[0.0, 0.0, 0.0, 7.0, 7.0]])),
        ("beyond_the_edge", 8, {}, exactly([[0.0, 2.0, 2.0, 9.0, 9.0], [1.0, -3.0, -3.0, 1.0, 1.0]])),
        ("corners_exchanged", 8, {}, exactly([[0.0, 3.0, 3.0, 1.0, 1.0]])),
        ("fractional", 8, {}, exactly([[0.0, 0.4, 0.6, 2.5, 3.4]])),
    ]
    for name, channels, params, rois in rows:
        data = normal(2, channels, 4, 5)
        yield Case("_contrib_PSROIPooling", name, (data, rois), {**half, **params}, grad=(0,))


def turned() -> Iterator[Case]:
    """Regions by centre, size and angle."""
    upright = exactly([[0.0, 2.0, 2.0, 3.0, 2.0, 0.0], [1.0, 1.5, 2.0, 4.0, 3.0, 0.0]])
    half: dict[str, Any] = {"pooled_size": (2, 2), "spatial_scale": 1.0}
    rows: list[tuple[str, Recipe, dict[str, Any]]] = [
        ("upright", upright, {}),
        ("turned", exactly([[0.0, 2.0, 2.0, 3.0, 2.0, 30.0], [1.0, 1.5, 2.0, 4.0, 3.0, -75.0]]), {}),
        ("sampling_ratio", exactly([[0.0, 2.0, 2.0, 3.0, 2.0, 30.0]]), {"sampling_ratio": 2}),
        ("spatial_scale", exactly([[0.0, 4.0, 4.0, 6.0, 4.0, 45.0]]), {"spatial_scale": 0.5}),
        ("small", exactly([[0.0, 2.0, 2.0, 0.5, 0.25, 10.0]]), {}),
        ("oblong", upright, {"pooled_size": (1, 3)}),
        ("beyond_the_edge", exactly([[0.0, 0.0, 4.0, 6.0, 6.0, 20.0]]), {}),
    ]
    for name, rois, params in rows:
        yield Case("_contrib_RROIAlign", name, (normal(2, 2, 4, 5), rois), {**half, **params}, grad=())


def proposals() -> Iterator[Case]:
    """Boxes of one image, and of several."""
    few: dict[str, Any] = {
        "scales": (1.0, 2.0), "ratios": (0.5, 1.0, 2.0), "rpn_post_nms_top_n": 6, "feature_stride": 8,
        "rpn_min_size": 4,
    }  # fmt: skip
    rows: list[tuple[str, dict[str, Any]]] = [
        ("defaults", {}),
        ("scores", {"output_score": True}),
        ("low_threshold", {"threshold": 0.1, "output_score": True}),
        ("few_before", {"rpn_pre_nms_top_n": 10, "output_score": True}),
        ("all_before", {"rpn_pre_nms_top_n": -1}),
        ("many_after", {"rpn_post_nms_top_n": 60, "output_score": True}),
        ("min_size", {"rpn_min_size": 12, "output_score": True, "rpn_post_nms_top_n": 40}),
        ("iou_loss", {"iou_loss": True}),
        ("one_anchor", {"scales": (2.0,), "ratios": (1.0,)}),
    ]
    for op, images in (("_contrib_Proposal", 1), ("_contrib_MultiProposal", 2)):
        for name, params in rows:
            given = {**few, **params}
            anchors = len(given["scales"]) * len(given["ratios"])
            scores = permutation(images, 2 * anchors, 3, 4)
            offsets = normal(images, 4 * anchors, 3, 4, scale=0.2)
            info = exactly([[22.0, 30.0, 1.5]] * images)
            yield Case(op, name, (scores, offsets, info), given, grad=())


def convolutions() -> Iterator[Case]:
    """Windows whose elements are moved."""
    rows: list[tuple[str, tuple[int, int, int, int], dict[str, Any]]] = [
        ("defaults", (2, 2, 5, 6), {"kernel": (3, 3), "num_filter": 2}),
        ("pad", (1, 2, 4, 4), {"kernel": (3, 3), "num_filter": 2, "pad": (1, 1)}),
        ("stride", (1, 2, 6, 7), {"kernel": (2, 3), "num_filter": 3, "stride": (2, 1)}),
        ("dilate", (1, 2, 6, 7), {"kernel": (2, 2), "num_filter": 1, "dilate": (2, 3)}),
        ("no_bias", (2, 2, 4, 4), {"kernel": (2, 2), "num_filter": 2, "no_bias": True}),
        ("groups", (1, 4, 4, 4), {"kernel": (2, 2), "num_filter": 4, "num_group": 2}),
        ("deformable_groups", (1, 4, 4, 4), {"kernel": (2, 2), "num_filter": 2, "num_deformable_group": 2}),
    ]
    for name, shape, params in rows:
        kernel, groups = params["kernel"], params.get("num_deformable_group", 1)
        taps = groups * kernel[0] * kernel[1]
        out = [
            (size + 2 * pad - dilate * (k - 1) - 1) // stride + 1
            for size, k, stride, dilate, pad in zip(
                shape[2:], kernel, params.get("stride", (1, 1)), params.get("dilate", (1, 1)),
                params.get("pad", (0, 0)), strict=True,
            )
        ]  # fmt: skip
        data, offset = normal(*shape), uniform(shape[0], 2 * taps, *out, low=-1.7, high=1.7)
        weight = normal(params["num_filter"], shape[1] // params.get("num_group", 1), *kernel)
        rest = (weight,) if params.get("no_bias") else (weight, normal(params["num_filter"]))
        yield Case(
            "_contrib_DeformableConvolution", name, (data, offset, *rest), params, rtol=1e-4, atol=1e-4
        )
        mask = uniform(shape[0], taps, *out, low=0.0)
        op = "_contrib_ModulatedDeformableConvolution"
        yield Case(op, name, (data, offset, mask, *rest), params, rtol=1e-4, atol=1e-4)


def moved_pooling() -> Iterator[Case]:
    """Samples of bins, moved or not."""
    few: dict[str, Any] = {
        "spatial_scale": 1.0, "output_dim": 2, "group_size": 2, "pooled_size": 2, "sample_per_part": 2,
        "trans_std": 0.2,
    }  # fmt: skip
    rows: list[tuple[str, dict[str, Any]]] = [
        ("moved", {}),
        ("still", {"no_trans": True}),
        ("one_sample", {"sample_per_part": 1}),
        ("parts", {"part_size": 1}),
        ("groups", {"pooled_size": 3}),
        ("classes", {"classes": 2}),
        ("spatial_scale", {"spatial_scale": 0.5}),
    ]
    for name, params in rows:
        given = {**few, **params}
        classes = given.pop("classes", 1)
        parts = given.get("part_size") or given["pooled_size"]
        inputs = [normal(2, 8, 4, 5), ROIS]
        if not given.get("no_trans"):
            inputs.append(normal(3, 2 * classes, parts, parts))
        yield Case("_contrib_DeformablePSROIPooling", name, inputs, given)


CASES: list[Case] = [*sensitive(), *turned(), *proposals(), *convolutions(), *moved_pooling()]

"""Regions of interest as ONNX nodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

Rule = str | Callable[[Any], Any]


def _pooling(node: Any) -> Any:
    op = node.op
    return node.add("MaxRoiPool", *node.inputs, pooled_shape=op.pooled_size, spatial_scale=op.spatial_scale)


def _align(node: Any) -> Any:
    """RoiAlign, with the numbers of the images apart."""
    op = node.op
    if op.position_sensitive:
        node.refuse("position-sensitive regions have no counterpart")
    image = node.slice(node.inputs[1], [0], [1], [1])
    boxes = node.slice(node.inputs[1], [1], [5], [1])
    height, width = op.pooled_size
    return node.add(
        "RoiAlign", node.inputs[0], boxes, node.cast(node.squeeze(image, 1), "int64"), output_height=height,
        output_width=width, spatial_scale=op.spatial_scale, sampling_ratio=max(op.sample_ratio, 0),
        coordinate_transformation_mode="half_pixel" if op.aligned else "output_half_pixel",
    )  # fmt: skip


EXPORTS: Final[Mapping[str, Rule]] = {"ROIPooling": _pooling, "_contrib_ROIAlign": _align}
ABSENT: Final[Mapping[str, str]] = dict.fromkeys(
    ("_contrib_PSROIPooling", "_contrib_RROIAlign"), "ONNX has no position-sensitive and no rotated regions"
)


def _aligned(node: Any) -> Any:
    """ROIAlign: the image's number is the first column here."""
    if node.attr("mode", "avg") != "avg":
        node.refuse("the largest sample of a bin has no counterpart")
    usual = "half_pixel" if node.opset >= 16 else "output_half_pixel"
    image = node.call("expand_dims", node.cast(node.sym(2), node.dtype(1)), axis=1)
    return node.call(
        "_contrib_ROIAlign", node.sym(), node.call("Concat", image, node.sym(1), dim=1),
        pooled_size=(node.attr("output_height", 1), node.attr("output_width", 1)),
        spatial_scale=node.attr("spatial_scale", 1.0), sample_ratio=node.attr("sampling_ratio", 0) or -1,
        aligned=node.attr("coordinate_transformation_mode", usual) == "half_pixel",
    )  # fmt: skip


def _max_pooled(node: Any) -> Any:
    return node.call(
        "ROIPooling", node.sym(), node.sym(1), pooled_size=tuple(node.attr("pooled_shape")),
        spatial_scale=node.attr("spatial_scale", 1.0),
    )  # fmt: skip


IMPORTS: Final[Mapping[str, Rule]] = {"RoiAlign": _aligned, "MaxRoiPool": _max_pooled}

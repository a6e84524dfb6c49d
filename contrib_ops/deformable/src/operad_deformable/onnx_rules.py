"""Deformable convolutions as ONNX nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final


def _convolution(node: Any) -> Any:
    """DeformConv, since version 19; its mask comes last."""
    op = node.op
    if node.opset < 19:
        node.refuse("ONNX has deformable convolutions since version 19; export it with opset=19")
    names = op.list_arguments()
    given = dict(zip(names, node.inputs, strict=True))
    return node.add(
        "DeformConv",
        given["data"],
        given["weight"],
        given["offset"],
        given.get("bias", ""),
        given.get("mask", ""),
        kernel_shape=op.kernel,
        strides=op.stride,
        dilations=op.dilate,
        pads=(*op.pad, *op.pad),
        group=op.num_group,
        offset_group=op.num_deformable_group,
    )


EXPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = dict.fromkeys(
    ("_contrib_DeformableConvolution", "_contrib_ModulatedDeformableConvolution"), _convolution
)
ABSENT: Final[Mapping[str, str]] = {
    "_contrib_DeformablePSROIPooling": "ONNX has no position-sensitive regions",
}

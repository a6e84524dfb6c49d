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


def _deformed(node: Any) -> Any:
    """DeformConv, with a mask or without."""
    window, weight = node.windows(node.attr("kernel_shape") or node.shape(1)[2:]), node.shape(1)
    if window.before != window.after or len(window.kernel) != 2:
        node.refuse("only windows of two axes, with as many zeros before as behind, have a counterpart")
    symbols = [node.sym(0), node.sym(2), *([node.sym(4)] if node.has(4) else []), node.sym(1)]
    name = "_contrib_ModulatedDeformableConvolution" if node.has(4) else "_contrib_DeformableConvolution"
    return node.call(
        name, *symbols, *([node.sym(3)] if node.has(3) else []), kernel=window.kernel, stride=window.stride,
        dilate=window.dilate, pad=window.before, num_filter=weight[0], no_bias=not node.has(3),
        num_group=node.attr("group", 1), num_deformable_group=node.attr("offset_group", 1),
    )  # fmt: skip


IMPORTS: Final[Mapping[str, Callable[[Any], Any]]] = {"DeformConv": _deformed}

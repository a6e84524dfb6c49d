"""Convolutions as ONNX nodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final


def _windows(op: Any) -> dict[str, Any]:
    return {
        "kernel_shape": op.kernel,
        "strides": op.stride,
        "dilations": op.dilate,
        "pads": (*op.pad, *op.pad),
        "group": op.num_group,
    }


def _channels_first(node: Any) -> None:
    layout = getattr(node.op, "layout", None)
    if layout is not None and not layout.startswith("NC"):
        node.refuse(f"its layout is {layout}, and ONNX has channels first alone")


def convolution(node: Any) -> Any:
    """Conv."""
    _channels_first(node)
    return node.add("Conv", *node.inputs, **_windows(node.op))


def deconvolution(node: Any) -> Any:
    """ConvTranspose, whose pads and output padding give the output's size."""
    _channels_first(node)
    op, data, out = node.op, node.fixed_lengths(0, 2), node.fixed_lengths(None, 2)
    attrs = _windows(op)
    if op.target_shape:
        return node.add("ConvTranspose", *node.inputs, **{**attrs, "pads": None}, output_shape=out)
    full = [
        s * (n - 1) + d * (k - 1) + 1 - 2 * p
        for s, n, d, k, p in zip(op.stride, data, op.dilate, op.kernel, op.pad, strict=True)
    ]
    adj = [wanted - got for wanted, got in zip(out, full, strict=True)]
    return node.add("ConvTranspose", *node.inputs, **attrs, output_padding=adj)


def upsampling(node: Any) -> Any:
    """Resize for nearest; a ConvTranspose for each channel for bilinear."""
    op = node.op
    if op.sample_type == "bilinear":
        scale, channels = op.scale, node.shapes[0][1]
        pad = -(-(scale - 1) // 2)
        size = 2 * scale - scale % 2
        return node.add(
            "ConvTranspose", *node.inputs[:2], kernel_shape=(size, size), strides=(scale, scale),
            pads=(pad,) * 4, group=channels,
        )  # fmt: skip
    outs = []
    for data, shape in zip(node.inputs, node.shapes, strict=True):
        factors = [1.0, 1.0, *(node.fixed_lengths(None, 2)[i] / shape[2 + i] for i in (0, 1))]
        scales = node.const(factors, "float32")
        outs.append(
            node.add("Resize", data, "", scales, mode="nearest", nearest_mode="floor",
                     coordinate_transformation_mode="asymmetric")
        )  # fmt: skip
    if len(outs) == 1:
        return outs[0]
    return node.add("Sum", *outs) if op.multi_input_mode == "sum" else node.add("Concat", *outs, axis=1)


EXPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {
    "Convolution": convolution,
    "Deconvolution": deconvolution,
    "UpSampling": upsampling,
}

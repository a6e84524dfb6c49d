"""Convolutions as ONNX nodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from operad_convolution.onnx_resize import resize


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
    **dict.fromkeys(("Convolution", "Convolution_v1"), convolution),
    "Deconvolution": deconvolution,
    "UpSampling": upsampling,
}


def _imported(node: Any) -> Any:
    """Convolution; padding that differs before and behind is made apart."""
    kernel = node.attr("kernel_shape") or node.shape(1)[2:]
    window = node.windows(kernel)
    data, pad = node.padded(window, 0.0)
    return node.call(
        "Convolution",
        data,
        *node.syms(1),
        kernel=window.kernel,
        stride=window.stride,
        dilate=window.dilate,
        pad=pad,
        num_filter=node.shape(1)[0],
        num_group=node.attr("group", 1),
        no_bias=not node.has(2),
    )


def _transposed(node: Any) -> Any:
    """Deconvolution, and a part of it where the pads differ before and behind."""
    group, shape = node.attr("group", 1), node.shape(1)
    kernel = tuple(node.attr("kernel_shape") or shape[2:])
    count = len(kernel)
    stride, dilate = (tuple(node.attr(key) or (1,) * count) for key in ("strides", "dilations"))
    adj = tuple(node.attr("output_padding") or (0,) * count)
    before, after = _cropped(node, kernel, stride, dilate, adj)
    adj = tuple(a - min(n, 0) for a, n in zip(adj, after, strict=True))
    after = tuple(max(n, 0) for n in after)
    is_even = before == after and all(p >= 0 for p in before)
    made = (
        node.call(
            "Deconvolution",
            *node.syms(),
            kernel=kernel,
            stride=stride,
            dilate=dilate,
            pad=before if is_even else (0,) * count,
            adj=(0,) * count,
            num_filter=shape[1] * group,
            num_group=group,
            no_bias=not node.has(2),
        )
        if not any(adj)
        else _widened(node, kernel, stride, dilate, adj, shape[1] * group, group)
    )
    if is_even and not any(adj):
        return made
    for axis in range(count):
        end = -after[axis] if after[axis] > 0 else None
        made = node.call("slice_axis", made, axis=axis + 2, begin=before[axis], end=end)
    return made


def _widened(node: Any, kernel: Any, stride: Any, dilate: Any, adj: Any, filters: int, group: int) -> Any:
    """The whole transposed convolution, longer at the end by `adj`, where only the bias is."""
    made = node.call(
        "Deconvolution", *node.syms()[:2], kernel=kernel, stride=stride, dilate=dilate, num_filter=filters,
        num_group=group, no_bias=True,
    )  # fmt: skip
    made = node.pad(made, [(0, 0), (0, 0), *((0, n) for n in adj)], 0.0)
    if node.has(2):
        bias = node.reshape(node.sym(2), (1, -1, *(1,) * len(kernel)))
        made = node.call("broadcast_add", made, bias)
    return made


def _cropped(node: Any, kernel: Any, stride: Any, dilate: Any, adj: Any) -> Any:
    """Lengths that are taken off before and behind each axis."""
    count = len(kernel)
    auto, pads = node.attr("auto_pad", "NOTSET"), node.attr("pads")
    wanted = node.attr("output_shape")
    if wanted is None and auto not in ("SAME_UPPER", "SAME_LOWER"):
        pads = tuple(pads or (0,) * 2 * count)
        return pads[:count], pads[count:]
    lengths = node.whole(node.lengths()[2:])
    wanted = wanted[-count:] if wanted else [n * s for n, s in zip(lengths, stride, strict=True)]
    total = [
        s * (n - 1) + o + (k - 1) * d + 1 - w
        for s, n, o, k, d, w in zip(stride, lengths, adj, kernel, dilate, wanted, strict=True)
    ]
    small = tuple(max(t, 0) // 2 for t in total)
    large = tuple(t - s for t, s in zip(total, small, strict=True))
    return (small, large) if auto == "SAME_UPPER" or min(total) < 0 else (large, small)


IMPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {
    "Conv": _imported,
    "ConvTranspose": _transposed,
    "Resize": resize,
    "Upsample": resize,
}

"""Pooling as ONNX nodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final

_GLOBAL: Final = {"max": "GlobalMaxPool", "avg": "GlobalAveragePool", "lp": "GlobalLpPool"}
_LOCAL: Final = {"max": "MaxPool", "avg": "AveragePool", "lp": "LpPool"}


def _pads(node: Any) -> tuple[int, ...]:
    """What stands before and behind each axis, so that the windows are those of the output."""
    op = node.op
    if op.pooling_convention == "valid":
        return (*op.pad, *op.pad)
    lengths, wanted = node.fixed_lengths(0, 2), node.fixed_lengths(None, 2)
    after = [
        max(s * (o - 1) + k - n - p, 0)
        for s, o, k, n, p in zip(op.stride, wanted, op.kernel, lengths, op.pad, strict=True)
    ]
    return (*op.pad, *after)


def pooling(node: Any) -> Any:
    """A pool of the same kind; a sum is a mean times the size of a window."""
    op, kind = node.op, "avg" if node.op.pool_type == "sum" else node.op.pool_type
    if op.layout is not None and not op.layout.startswith("NC"):
        node.refuse(f"its layout is {op.layout}, and ONNX has channels first alone")
    power = op.p_value if kind == "lp" else None
    if op.global_pool:
        made = node.add(_GLOBAL[kind], node.inputs[0], p=power)
        size = prod(node.fixed_lengths(0, 2)) if op.pool_type == "sum" else 1
    else:
        attrs = {"kernel_shape": op.kernel, "strides": op.stride, "pads": _pads(node), "p": power}
        if kind == "avg":
            attrs["count_include_pad"] = int(op.count_include_pad is not False or op.pool_type == "sum")
            if op.pooling_convention == "full" and attrs["pads"] != (*op.pad, *op.pad):
                node.refuse("windows of a mean that the convention 'full' adds are counted differently in ONNX")
        made, size = node.add(_LOCAL[kind], node.inputs[0], **attrs), prod(op.kernel)
    return node.add("Mul", made, node.const(float(size))) if op.pool_type == "sum" else made


def adaptive(node: Any) -> Any:
    """A mean over all, or over windows that are alike."""
    height, width = node.fixed_lengths(0, 2)
    rows, columns = node.fixed_lengths(None, 2)
    if (rows, columns) == (1, 1):
        return node.add("GlobalAveragePool", node.inputs[0])
    if height % rows or width % columns:
        node.refuse(f"windows of {height}x{width} in {rows}x{columns} parts differ in size")
    kernel = (height // rows, width // columns)
    return node.add("AveragePool", node.inputs[0], kernel_shape=kernel, strides=kernel)


EXPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {
    "Pooling": pooling,
    "_contrib_AdaptiveAvgPooling2D": adaptive,
}

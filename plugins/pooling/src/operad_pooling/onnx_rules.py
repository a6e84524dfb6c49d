"""Pooling as ONNX nodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from math import prod
from typing import Any, Final

import numpy as np

from operad_sdk import Array

_GLOBAL: Final = {"max": "GlobalMaxPool", "avg": "GlobalAveragePool", "lp": "GlobalLpPool"}
_LOCAL: Final = {"max": "MaxPool", "avg": "AveragePool", "lp": "LpPool"}


def _pads(node: Any) -> tuple[int, ...]:
    """Padding before and behind each axis, so that the windows are those of the output."""
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
                node.refuse(
                    "windows of a mean that the convention 'full' adds are counted differently in ONNX"
                )
        made, size = node.add(_LOCAL[kind], node.inputs[0], **attrs), prod(op.kernel)
    return node.add("Mul", made, node.const(float(size))) if op.pool_type == "sum" else made


def _shares(length: int, count: int) -> Array:
    """Share of each element in each window, from `floor(i n / count)` to `ceil((i + 1) n / count)`."""
    shares = np.zeros((count, length))
    for row in range(count):
        start, end = row * length // count, -(-(row + 1) * length // count)
        shares[row, start:end] = 1 / (end - start)
    return shares


def adaptive(node: Any) -> Any:
    """A mean over all, over windows that are alike, or products with their shares of rows and columns."""
    height, width = node.fixed_lengths(0, 2)
    rows, columns = node.fixed_lengths(None, 2)
    if (rows, columns) == (1, 1):
        return node.add("GlobalAveragePool", node.inputs[0])
    if height % rows or width % columns:
        left, right = node.const(_shares(height, rows)), node.const(_shares(width, columns).T)
        return node.add("MatMul", node.add("MatMul", left, node.inputs[0]), right)
    kernel = (height // rows, width // columns)
    return node.add("AveragePool", node.inputs[0], kernel_shape=kernel, strides=kernel)


EXPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {
    "Pooling": pooling,
    "_contrib_AdaptiveAvgPooling2D": adaptive,
}


def _largest(node: Any) -> Any:
    """The largest of each window; of a dilated one, of its elements taken apart."""
    window = node.windows(node.attr("kernel_shape"))
    lowest = float("-inf") if node.dtype().kind == "f" else 0
    if node.num_outputs > 1:
        return _with_places(node, window, lowest)
    if set(window.dilate) != {1}:
        return _dilated(node, window, lowest)
    data, pad = node.padded(window, lowest)
    if node.dtype().kind != "f":
        return node.cast(_pooled(node, node.cast(data, "float64"), "max", window, pad), node.dtype())
    return _pooled(node, data, "max", window, pad)


def _with_places(node: Any, window: Any, lowest: float) -> list[Any]:
    """The largest of each window and its place among all elements: windows are columns."""
    count, channels, *lengths = node.shape()
    data, _ = node.padded(window, lowest, always=True)
    columns = node.call("im2col", data, kernel=window.kernel, stride=window.stride, dilate=window.dilate)
    columns = node.reshape(columns, (count, channels, int(np.prod(window.kernel)), -1))
    order = range(len(lengths)) if node.attr("storage_order", 0) else reversed(range(len(lengths)))
    steps, size = [0] * len(lengths), 1
    for axis in order:
        steps[axis], size = size, size * lengths[axis]
    numbers = [
        (n - window.dilate[i] * (window.kernel[i] - 1) - 1) // window.stride[i] + 1
        for i, n in enumerate(node.lengths_of(data)[2:])
    ]
    inside = sum(np.indices(window.kernel)[i] * window.dilate[i] * step for i, step in enumerate(steps))
    first = sum(
        (np.indices(numbers)[i] * window.stride[i] - window.before[i]) * step for i, step in enumerate(steps)
    )
    image = np.arange(count * channels).reshape(count, channels, 1) * size
    place = node.call("take", node.const(np.ravel(inside), "int64"), node.call("argmax", columns, axis=2))
    place = node.call("broadcast_add", place, node.const(image + np.ravel(first), "int64"))
    shape = (count, channels, *numbers)
    return [node.reshape(node.call("max", columns, axis=2), shape), node.reshape(place, shape)]


def _pooled(node: Any, data: Any, kind: str, window: Any, pad: Any, **params: Any) -> Any:
    return node.call(
        "Pooling", data, kernel=window.kernel, stride=window.stride, pad=pad, pool_type=kind, **params
    )


def _dilated(node: Any, window: Any, lowest: float) -> Any:
    """The largest along each axis in turn, of as many strided parts as a window has elements there."""
    made, _ = node.padded(window, lowest, always=True)
    per_axis = zip(window.kernel, window.dilate, window.stride, strict=True)
    for axis, (kernel, dilate, stride) in enumerate(per_axis, 2):
        length = node.whole(node.lengths_of(made))[axis]
        reach = stride * ((length - (kernel - 1) * dilate - 1) // stride) + 1
        parts = [
            _part(node, made, axis, place * dilate, place * dilate + reach, stride) for place in range(kernel)
        ]
        made = reduce(lambda one, other: node.call("_maximum", one, other), parts)
    return made


def _part(node: Any, data: Any, axis: int, begin: int, end: int, step: int) -> Any:
    before = (None,) * axis
    return node.call("slice", data, begin=(*before, begin), end=(*before, end), step=(*before, step))


def _average(node: Any) -> Any:
    """Means; where padding counts for some windows only, sums over how many elements are there."""
    window = node.windows(node.attr("kernel_shape"))
    counts_pads = bool(node.attr("count_include_pad", 0))
    if window.is_plain:
        return _pooled(node, node.sym(), "avg", window, window.before, count_include_pad=counts_pads)
    data, _ = node.padded(window, 0.0, always=True)
    ones = node.call("ones_like", node.sym())
    if counts_pads:
        ones = node.pad(ones, [(0, 0), (0, 0), *zip(window.before, window.given_after, strict=True)], 1.0)
        extra = [(0, a - g) for a, g in zip(window.after, window.given_after, strict=True)]
        ones = node.pad(ones, [(0, 0), (0, 0), *extra], 0.0)
    else:
        ones, _ = node.padded(window, 0.0, always=True, symbol=ones)
    sums = []
    for each in (data, ones):
        if set(window.dilate) == {1}:
            sums.append(_pooled(node, each, "sum", window, (0,) * len(window.kernel)))
        else:
            sums.append(_summed(node, each, window))
    return node.call("elemwise_div", *sums)


def _summed(node: Any, data: Any, window: Any) -> Any:
    """Sums of dilated windows: a convolution of each channel with ones."""
    channels = node.whole(node.lengths()[1:2])[0]
    ones = node.const(np.ones((channels, 1, *window.kernel)), node.dtype())
    return node.call(
        "Convolution", data, ones, kernel=window.kernel, stride=window.stride, dilate=window.dilate,
        num_filter=channels, num_group=channels, no_bias=True,
    )  # fmt: skip


def _norms(node: Any) -> Any:
    """LpPool: the root of the powers' sums."""
    window, power = node.windows(node.attr("kernel_shape")), float(node.attr("p", 2))
    powers = node.call("_power_scalar", node.call("abs", node.sym()), scalar=power)
    data, _ = node.padded(window, 0.0, always=True, symbol=powers)
    if set(window.dilate) == {1}:
        total = _pooled(node, data, "sum", window, (0,) * len(window.kernel))
    else:
        total = _summed(node, data, window)
    return node.call("_power_scalar", total, scalar=1 / power)


def _global(kind: str) -> Callable[[Any], Any]:
    """Reductions over all axes behind the channels."""

    def rule(node: Any) -> Any:
        axes, data = tuple(range(2, node.rank())), node.sym()
        if kind != "lp":
            return node.call("mean" if kind == "avg" else "max", data, axis=axes, keepdims=True)
        power = float(node.attr("p", 2))
        total = node.call(
            "sum", node.call("_power_scalar", node.call("abs", data), scalar=power), axis=axes, keepdims=True
        )
        return node.call("_power_scalar", total, scalar=1 / power)

    return rule


IMPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {
    "MaxPool": _largest,
    "AveragePool": _average,
    "LpPool": _norms,
    **{name: _global(kind) for kind, name in _GLOBAL.items()},
}

"""ONNX nodes of shapes and orders of elements as operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final

Rule = str | Callable[[Any], Any]


def _reshape(node: Any) -> Any:
    """Reshape, whose 0 keeps a length, unless `allowzero`."""
    shape = node.ints("shape", 1)
    if node.attr("allowzero", 0) and 0 in shape:
        node.refuse("a length of 0 has no counterpart")
    if shape and shape.count(0) and None not in node.lengths():
        shape = tuple(n or node.shape()[axis] for axis, n in enumerate(shape))
    return node.reshape(node.sym(), shape)


def _flat(node: Any) -> Any:
    """Flatten to two axes, the second from `axis` on."""
    lengths, axis = node.lengths(), node.attr("axis", 1)
    axis = axis % len(lengths) if axis < 0 else axis
    if axis == 1 and len(lengths) > 1:
        return node.call("Flatten", node.sym())
    if axis == 0:
        return node.reshape(node.sym(), (1, -1))
    if None not in lengths[axis:]:
        return node.reshape(node.sym(), (-1, prod(lengths[axis:])))
    return node.reshape(node.sym(), (prod(node.whole(lengths[:axis])), -1))


def _without(node: Any) -> Any:
    axes = node.ints("axes", 1) or tuple(i for i, n in enumerate(node.lengths()) if n == 1)
    axes = tuple(axis % node.rank() for axis in axes)
    if len(axes) == node.rank():
        return node.reshape(node.sym(), ())
    return node.call("squeeze", node.sym(), axis=axes) if axes else node.call("identity", node.sym())


def _with_axes(node: Any) -> Any:
    axes = node.ints("axes", 1)
    rank = node.rank() + len(axes)
    if node.rank() == 0:
        return node.reshape(node.sym(), (1,) * rank)
    symbol = node.sym()
    for axis in sorted(axis % rank for axis in axes):
        symbol = node.call("expand_dims", symbol, axis=axis)
    return symbol


def _slice(node: Any) -> Any:
    """Slice along named axes; positions are cut to the axis, as ONNX has them."""
    starts, ends = node.ints("starts", 1), node.ints("ends", 2)
    axes = node.ints("axes", 3) or tuple(range(len(starts)))
    steps = node.ints("steps", 4) or (1,) * len(starts)
    begin: list[Any] = [None] * node.rank()
    end, step = [*begin], [*begin]
    for axis, one, other, stride in zip(axes, starts, ends, steps, strict=True):
        axis %= node.rank()
        begin[axis], end[axis], step[axis] = _cut(node.lengths()[axis], one, other, stride)
    return node.call("slice", node.sym(), begin=tuple(begin), end=tuple(end), step=tuple(step))


def _cut(length: int | None, start: int, end: int, step: int) -> tuple[Any, Any, int]:
    if length is None:  # what lies far outside is an end
        far = 2**31 - 1
        return None if start == 0 and step > 0 else start, None if abs(end) >= far else end, step
    start, end, step = slice(start, end, step).indices(length)
    return start, None if end < 0 else end, step


def _split(node: Any) -> Any:
    """Split into parts that are named, or into as many as there are outputs."""
    axis = node.axis(0)
    lengths = node.ints("split", 1)
    if lengths is None:
        count = node.num_outputs
        total = node.lengths()[axis]
        if total is None or total % count == 0:
            if count == 1:
                return node.call("identity", node.sym())
            made = node.call("SliceChannel", node.sym(), num_outputs=count, axis=axis)
            return [made[i] for i in range(count)]
        size = -(-total // count)
        lengths = [size] * (count - 1) + [total - size * (count - 1)]
    ends = [sum(lengths[: i + 1]) for i in range(len(lengths))]
    return [
        node.call("slice_axis", node.sym(), axis=axis, begin=end - length, end=end)
        for end, length in zip(ends, lengths, strict=True)
    ]


def _concat(node: Any) -> Any:
    symbols = node.syms()
    return (
        node.call("Concat", *symbols, dim=node.axis(1))
        if len(symbols) > 1
        else node.call("identity", *symbols)
    )


def _pad(node: Any) -> Any:
    """Pad by a number, or by elements of the data."""
    pads, mode = node.ints("pads", 1), node.attr("mode", "constant")
    axes = [axis % node.rank() for axis in node.ints("axes", 3, range(node.rank()))]
    widths = [(0, 0)] * node.rank()
    for place, axis in enumerate(axes):
        widths[axis] = (pads[place], pads[place + len(axes)])
    if mode == "constant":
        value = node.attr("value", 0.0) if node.opset < 11 else node.scalar(2, 0.0)
        return node.call("identity", node.pad(node.sym(), widths, value))
    symbol = node.sym()
    for axis, (before, after) in enumerate(widths):
        if before or after:
            places = _mirrored(node.whole(node.lengths()[axis : axis + 1])[0], before, after, mode)
            symbol = node.call("take", symbol, node.const(places, "int64"), axis=axis)
    return node.call("identity", symbol)


def _mirrored(length: int, before: int, after: int, mode: str) -> list[int]:
    places = range(-before, length + after)
    if mode == "edge":
        return [min(max(place, 0), length - 1) for place in places]
    if mode == "wrap":
        return [place % length for place in places]
    period = max(2 * (length - 1), 1)
    return [min(place % period, period - place % period) if length > 1 else 0 for place in places]


def _depth(node: Any) -> Any:
    """DepthToSpace: DCR is MXNet's, CRD has the block behind the channels."""
    size = node.attr("blocksize")
    if node.attr("mode", "DCR") == "DCR":
        return node.call("depth_to_space", node.sym(), block_size=size)
    data = node.call("Reshape", node.sym(), shape=(0, -4, -1, size * size, -2))
    data = node.call("Reshape", data, shape=(0, 0, -4, size, size, -2))
    data = node.call("transpose", data, axes=(0, 1, 4, 2, 5, 3))
    return node.call("Reshape", data, shape=(0, 0, -3, -3))


def _space(node: Any) -> Any:
    """SpaceToDepth: DCR is MXNet's, CRD has the block behind the channels."""
    size, data = node.attr("blocksize"), node.sym()
    if node.attr("mode", "DCR") == "DCR":
        return node.call("space_to_depth", data, block_size=size)
    data = node.call("Reshape", data, shape=(0, 0, -4, -1, size, -2))
    data = node.call("Reshape", data, shape=(0, 0, 0, 0, -4, -1, size))
    data = node.call("transpose", data, axes=(0, 1, 3, 5, 2, 4))
    data = node.call("Reshape", data, shape=(0, -3, 0, 0, 0))
    return node.call("Reshape", data, shape=(0, -3, 0, 0))


def _from_blocks(node: Any) -> Any:
    """Col2Im: the sum of blocks in padded images, of which the padding is taken off."""
    size, kernel = node.ints("", 1), node.ints("", 2)
    pads = node.attr("pads") or (0,) * 2 * len(size)
    before, after = pads[: len(size)], pads[len(size) :]
    padded = tuple(sum(three) for three in zip(size, before, after, strict=True))
    stride, dilate = (node.attr(name) or (1,) * len(size) for name in ("strides", "dilations"))
    made = node.call("col2im", node.sym(), output_size=padded, kernel=kernel, stride=stride, dilate=dilate)
    return node.pad(made, [(0, 0), (0, 0), *((-a, -b) for a, b in zip(before, after, strict=True))], 0)


IMPORTS: Final[Mapping[str, Rule]] = {
    "Col2Im": _from_blocks,
    "Reshape": _reshape,
    "Flatten": _flat,
    "Squeeze": _without,
    "Unsqueeze": _with_axes,
    "Transpose": lambda node: node.call("transpose", node.sym(), axes=tuple(node.attr("perm", ()))),
    "Concat": _concat,
    "Split": _split,
    "Slice": _slice,
    "Pad": _pad,
    "Tile": lambda node: node.call("tile", node.sym(), reps=node.ints("repeats", 1)),
    "DepthToSpace": _depth,
    "SpaceToDepth": _space,
}

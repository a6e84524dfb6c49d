"""Shapes and order of elements as ONNX nodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final

Rule = str | Callable[[Any], Any]

_END: Final = 2**62
"""An end behind every axis."""


def _swapped(node: Any) -> Any:
    axes = list(range(len(node.shapes[0])))
    one, other = node.op.dim1, node.op.dim2
    axes[one], axes[other] = axes[other], axes[one]
    return node.add("Transpose", node.inputs[0], perm=axes)


def _transposed(node: Any) -> Any:
    axes = node.op.axes or tuple(range(len(node.shapes[0])))[::-1]
    return node.add("Transpose", node.inputs[0], perm=[axis % len(axes) for axis in axes])


def _sliced(node: Any) -> Any:
    """Slice, where a begin or end may be left out."""
    begin, end, step = node.op.begin, node.op.end, node.op.step
    steps = [(step[i] if i < len(step) else None) or 1 for i in range(len(begin))]
    starts = [(0 if s > 0 else _END) if b is None else b for b, s in zip(begin, steps, strict=True)]
    ends = [(_END if s > 0 else -_END) if e is None else e for e, s in zip(end, steps, strict=True)]
    return node.slice(node.inputs[0], starts, ends, range(len(begin)), steps)


def _slice_axis(node: Any) -> Any:
    end = _END if node.op.end is None else node.op.end
    return node.slice(node.inputs[0], [node.op.begin], [end], [node.op.axis])


def _slice_like(node: Any) -> Any:
    """The beginning of each axis, as long as another array's."""
    axes = sorted({axis % len(node.shapes[0]) for axis in node.op.axes}) or range(len(node.shapes[1]))
    lengths = [node.shapes[1][axis] for axis in axes]
    if None in lengths:
        node.refuse(f"it needs the lengths of axes {list(axes)} of {node.shapes[1]}; export it with numbers")
    return node.slice(node.inputs[0], [0] * len(lengths), lengths, axes)


def _parts(node: Any) -> Any:
    """Split, and the axis taken out where it is asked for."""
    op, shape = node.op, node.shapes[0]
    axis = op.axis % len(shape)
    made = node.split(node.inputs[0], [out[axis] for out in _with_axis(node, axis)], axis)
    return [node.squeeze(part, axis) for part in made] if op.squeeze_axis else made


def _with_axis(node: Any, axis: int) -> list[Any]:
    return [(*s[:axis], 1, *s[axis:]) if node.op.squeeze_axis else s for s in node.out_shapes]


def _stacked(node: Any) -> Any:
    parts = [node.unsqueeze(value, node.op.axis) for value in node.inputs]
    return node.add("Concat", *parts, axis=node.op.axis)


def _squeezed(node: Any) -> Any:
    axis, shape = node.op.axis, node.shapes[0]
    axes = (axis,) if isinstance(axis, int) else axis or tuple(i for i, n in enumerate(shape) if n == 1)
    if len(axes) == len(shape):  # a shape has an axis here
        return node.reshape(node.inputs[0])
    return node.squeeze(node.inputs[0], *(each % len(shape) for each in axes))


def _padded(node: Any) -> Any:
    """Pad: all that stands before, and then all behind."""
    width, modes = node.op.pad_width, {"constant": "constant", "edge": "edge", "reflect": "reflect"}
    value = node.const(node.op.constant_value) if node.op.mode == "constant" else ""
    pads = node.ints(*width[::2], *width[1::2])
    return node.add("Pad", node.inputs[0], pads, value, mode=modes[node.op.mode])


def _tiled(node: Any) -> Any:
    reps, rank = node.op.reps, len(node.shapes[0])
    data = node.inputs[0]
    if len(reps) > rank:
        data = node.unsqueeze(data, *range(len(reps) - rank))
    return node.add("Tile", data, node.ints(*(1,) * (rank - len(reps)), *reps))


def _repeated(node: Any) -> Any:
    """A new axis behind the repeated one, tiled and merged."""
    axis, data = node.op.axis, node.inputs[0]
    shape = node.shapes[0]
    if axis is None:
        data, shape, axis = node.add("Reshape", data, node.ints(-1)), (None,), 0
    axis %= len(shape)
    reps = [1] * (len(shape) + 1)
    reps[axis + 1] = node.op.repeats
    tiled = node.add("Tile", node.unsqueeze(data, axis + 1), node.ints(*reps))
    return (
        node.add("Reshape", tiled, node.ints(*(0,) * axis, -1))
        if len(shape) == axis + 1
        else node.reshape(tiled)
    )


def _reversed(node: Any) -> Any:
    given = (node.op.axis,) if isinstance(node.op.axis, int) else node.op.axis
    axes = sorted({axis % len(node.shapes[0]) for axis in given})
    count = len(axes)
    return node.slice(node.inputs[0], [-1] * count, [-_END] * count, axes, [-1] * count)


def _to_space(node: Any) -> Any:
    return node.add("DepthToSpace", node.inputs[0], blocksize=node.op.block_size, mode="DCR")


def _diagonal(node: Any) -> Any:
    """The diagonal of a matrix: a product with ones there, summed; a row as the diagonal of a matrix."""
    op, shape = node.op, node.fixed()
    if len(shape) == 1 and op.k == 0:
        size = shape[0]
        ones = node.add("EyeLike", node.add("ConstantOfShape", node.ints(size, size)), dtype=1)
        return node.add("Mul", node.cast(ones, node.dtypes[0]), node.inputs[0])
    if len(shape) != 2:
        node.refuse("only diagonals of a matrix, and of a row without an offset, have a counterpart")
    length, (rows, columns) = node.out_shapes[0][0], shape
    positions = [(i - min(op.k, 0)) * columns + i + max(op.k, 0) for i in range(length)]
    flat = node.add("Reshape", node.inputs[0], node.ints(rows * columns))
    return node.add("Gather", flat, node.ints(*positions))


def _assigned(node: Any) -> Any:
    """ScatterND over the positions of the part."""
    op, shape = node.op, node.fixed()
    steps = (*op.step, *(None,) * (len(op.begin) - len(op.step)))
    parts = zip(shape, op.begin, op.end, steps, strict=False)
    lengths = [range(n)[slice(begin, end, step or None)] for n, begin, end, step in parts]
    lengths += [range(n) for n in shape[len(lengths) :]]
    positions = [[]]
    for axis in lengths:
        positions = [[*head, place] for head in positions for place in axis]
    count = len(positions)
    flat = [i for row in positions for i in row]
    indices = node.add("Reshape", node.ints(*flat), node.ints(count, len(shape)))
    if hasattr(op, "scalar"):
        values = node.add("Expand", node.const(op.scalar), node.ints(count))
    else:
        values = node.add("Reshape", node.inputs[1], node.ints(count))
    return node.add("ScatterND", node.inputs[0], indices, values)


EXPORTS: Final[Mapping[str, Rule]] = {
    "Flatten": lambda node: node.add("Flatten", node.inputs[0], axis=1),
    "Reshape": lambda node: node.reshape(node.inputs[0]),
    "reshape_like": lambda node: node.add("Reshape", node.inputs[0], node.out_shape()),
    "expand_dims": lambda node: node.unsqueeze(node.inputs[0], node.op.axis),
    "squeeze": _squeezed,
    "transpose": _transposed,
    "SwapAxis": _swapped,
    "Concat": lambda node: node.add("Concat", *node.inputs, axis=node.op.dim),
    "stack": _stacked,
    "SliceChannel": _parts,
    "_split_v2": _parts,
    "slice": _sliced,
    "slice_axis": _slice_axis,
    "slice_like": _slice_like,
    "_slice_assign": _assigned,
    "_slice_assign_scalar": _assigned,
    "Pad": _padded,
    "tile": _tiled,
    "repeat": _repeated,
    "reverse": _reversed,
    "depth_to_space": _to_space,
    "space_to_depth": lambda node: node.add("SpaceToDepth", node.inputs[0], blocksize=node.op.block_size),
    "diag": _diagonal,
}
ABSENT: Final[Mapping[str, str]] = {
    "im2col": "ONNX has no im2col",
    "col2im": "ONNX's Col2Im divides the windows another way; it is the gradient of im2col",
}


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


def _tile(node: Any) -> Any:
    return node.call("tile", node.sym(), reps=node.ints("repeats", 1))


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


IMPORTS: Final[Mapping[str, Rule]] = {
    "Reshape": _reshape,
    "Flatten": _flat,
    "Squeeze": _without,
    "Unsqueeze": _with_axes,
    "Transpose": lambda node: node.call("transpose", node.sym(), axes=tuple(node.attr("perm", ()))),
    "Concat": _concat,
    "Split": _split,
    "Slice": _slice,
    "Pad": _pad,
    "Tile": _tile,
    "DepthToSpace": _depth,
    "SpaceToDepth": _space,
}

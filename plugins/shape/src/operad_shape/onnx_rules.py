"""Shapes and order of elements as ONNX nodes; `onnx_reading` is the way back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from operad_shape import onnx_reading

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
    positions: list[list[int]] = [[]]
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
IMPORTS: Final[Mapping[str, Rule]] = onnx_reading.IMPORTS

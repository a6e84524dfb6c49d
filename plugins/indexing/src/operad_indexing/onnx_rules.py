"""Choosing elements as ONNX nodes; `onnx_reading` is the way back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final

from operad_indexing import onnx_reading

Rule = str | Callable[[Any], Any]


def _whole(node: Any, value: str, index: int) -> str:
    """Indices as ONNX takes them."""
    return value if node.dtypes[index].name == "int64" else node.cast(value, "int64")


def _in_range(node: Any, indices: str, length: Any, mode: str) -> Any:
    """Indices from 0 to the length less 1: the nearest, or modulo the length."""
    if length is None:
        node.refuse("the axis that is indexed differs from run to run; export it with numbers")
    if mode == "wrap":
        return node.add("Mod", indices, node.ints_scalar(length))
    return node.add("Clip", indices, node.ints_scalar(0), node.ints_scalar(length - 1))


def _take(node: Any) -> Any:
    axis = node.op.axis % len(node.shapes[0])
    indices = _in_range(node, _whole(node, node.inputs[1], 1), node.shapes[0][axis], node.op.mode)
    return node.add("Gather", node.inputs[0], indices, axis=axis)


def _embedding(node: Any) -> Any:
    indices = _in_range(node, _whole(node, node.inputs[0], 0), node.op.input_dim, "clip")
    return node.add("Gather", node.inputs[1], indices, axis=0)


def _pick(node: Any) -> Any:
    """One element along the axis."""
    axis = node.op.axis
    if axis is None:
        node.refuse("pick without an axis has no counterpart")
    rank = len(node.shapes[0])
    axis %= rank
    indices = _in_range(node, _whole(node, node.inputs[1], 1), node.shapes[0][axis], node.op.mode)
    if len(node.shapes[1]) < rank:
        indices = node.unsqueeze(indices, axis)
    made = node.add("GatherElements", node.inputs[0], indices, axis=axis)
    return made if node.op.keepdims or rank == 1 else node.squeeze(made, axis)


def _batch_take(node: Any) -> Any:
    indices = _in_range(node, _whole(node, node.inputs[1], 1), node.shapes[0][-1], "clip")
    made = node.add("GatherElements", node.inputs[0], node.unsqueeze(indices, -1), axis=-1)
    return node.squeeze(made, -1)


def _tuples(node: Any, index: int) -> Any:
    """Indices with their coordinates behind, as ONNX has them, and here in front."""
    rank = len(node.shapes[index])
    return node.add("Transpose", _whole(node, node.inputs[index], index), perm=(*range(1, rank), 0))


def _scattered(node: Any) -> Any:
    zeros = node.add("Expand", node.const(0, node.out_dtypes[0]), node.ints(*node.op.shape))
    return node.add("ScatterND", zeros, _tuples(node, 1), node.inputs[0])


def _gathered_back(node: Any) -> Any:
    zeros = node.add("Expand", node.const(0, node.out_dtypes[0]), node.ints(*node.op.shape))
    return node.add("ScatterND", zeros, _tuples(node, 1), node.inputs[0], reduction="add")


def _one_hot(node: Any) -> Any:
    op = node.op
    indices = node.cast(node.inputs[0], "int64")
    outside = node.add(
        "Or", node.add("Less", indices, node.ints_scalar(0)),
        node.add("GreaterOrEqual", indices, node.ints_scalar(op.depth)),
    )  # fmt: skip
    kept = node.add("Where", outside, node.ints_scalar(op.depth), indices)
    values = node.const([op.off_value, op.on_value], node.out_dtypes[0])
    return node.slice(node.add("OneHot", kept, node.ints_scalar(op.depth + 1), values), [0], [op.depth], [-1])


def _where(node: Any) -> Any:
    """A choice of two; a condition with one axis chooses rows."""
    condition = node.truth(node.inputs[0])
    missing = len(node.shapes[1]) - len(node.shapes[0])
    if missing:
        condition = node.unsqueeze(condition, *range(1, missing + 1))
    return node.add("Where", condition, *node.inputs[1:])


def _top(node: Any, k: int, *, largest: bool) -> tuple[str, str]:
    """Values and numbers of the first k along the axis, of all where there is none."""
    data, axis, shape = node.inputs[0], node.op.axis, node.fixed() if node.op.axis is None else node.shapes[0]
    if axis is None:
        data, axis, shape = node.add("Reshape", data, node.ints(-1)), 0, (prod(shape),)
    length = shape[axis]
    if k < 1 and length is None:
        node.refuse("the axis that is ordered differs from run to run; export it with numbers")
    count = node.ints(k if k >= 1 else length)
    values, numbers = node.add("TopK", data, count, outputs=2, axis=axis, largest=int(largest), sorted=1)
    return values, numbers


def _topk(node: Any) -> Any:
    op = node.op
    if op.ret_typ == "mask":
        node.refuse("a mask of the first elements has no counterpart")
    values, numbers = _top(node, op.k, largest=not op.is_ascend)
    outs = {"value": [values], "indices": [numbers], "both": [values, numbers]}[op.ret_typ]
    return [out if out is values else node.cast(out, node.out_dtypes[i]) for i, out in enumerate(outs)]


def _strides(shape: Any) -> list[int]:
    return [prod(shape[i + 1 :]) for i in range(len(shape))]


def _ravelled(node: Any) -> Any:
    """Flat indices: coordinates times strides, summed."""
    rank = len(node.shapes[0])
    strides = node.add("Reshape", node.const(_strides(node.op.shape)), node.ints(-1, *(1,) * (rank - 1)))
    product = node.add("Mul", node.inputs[0], strides)
    return node.reduce("ReduceSum", product, [0], keepdims=False)


def _unravelled(node: Any) -> Any:
    """Coordinates: the quotient by each stride, modulo each length but the first."""
    flat = node.cast(node.inputs[0], "int64")
    parts = [node.add("Div", flat, node.ints_scalar(stride)) for stride in _strides(node.op.shape)]
    lengths = zip(parts[1:], node.op.shape[1:], strict=True)
    parts[1:] = [node.add("Mod", part, node.ints_scalar(length)) for part, length in lengths]
    stacked = node.add("Concat", *(node.unsqueeze(part, 0) for part in parts), axis=0)
    return node.cast(stacked, node.out_dtypes[0])


def _copied(node: Any) -> Any:
    indices = node.unsqueeze(_whole(node, node.inputs[1], 1), -1)
    return node.add("ScatterND", node.inputs[0], indices, node.inputs[2])


def _masked(node: Any) -> Any:
    return node.add("Compress", node.inputs[0], node.truth(node.inputs[1]), axis=node.op.axis)


def _filled(node: Any) -> Any:
    """A new element in each row."""
    indices = node.unsqueeze(_whole(node, node.inputs[2], 2), -1)
    return node.add("ScatterElements", node.inputs[0], indices, node.unsqueeze(node.inputs[1], -1), axis=1)


def _broadcast(node: Any, value: str, index: int, shape: Any) -> Any:
    same = node.shapes[index] == tuple(shape)
    return value if same else node.add("Expand", value, node.ints(*shape))


def _along(node: Any) -> tuple[str, str, int, tuple[int, ...]]:
    """Data, and positions as long as data but along the axis; with the axis, and the positions' shape."""
    data, indices = node.inputs[0], _whole(node, node.inputs[1], 1)
    if node.op.axis is None:
        return node.add("Reshape", data, node.ints(-1)), indices, 0, node.shapes[1]
    axis = node.op.axis % len(node.shapes[0])
    shape = list(node.shapes[0])
    shape[axis] = node.shapes[1][axis]
    if tuple(shape) != node.shapes[1]:
        node.fixed(0), node.fixed(1)
    return data, _broadcast(node, indices, 1, shape), axis, tuple(shape)


def _taken_along(node: Any) -> Any:
    data, indices, axis, _ = _along(node)
    return node.add("GatherElements", data, indices, axis=axis)


def _put_along(node: Any) -> Any:
    data, indices, axis, shape = _along(node)
    if node.op.mode == "max" and node.opset < 18:
        node.refuse("ONNX writes the larger of two numbers from opset 18 on")
    reduction = None if node.op.mode == "set" else node.op.mode
    values = _broadcast(node, node.inputs[2], 2, shape)
    made = node.add("ScatterElements", data, indices, values, axis=axis, reduction=reduction)
    return node.reshape(made) if node.op.axis is None else made


def _searched(node: Any) -> Any:
    """Count of numbers that are smaller, or not larger, than each."""
    kind = "Less" if node.op.side == "left" else "LessOrEqual"
    below = node.add(kind, node.inputs[0], node.unsqueeze(node.inputs[1], -1))
    return node.reduce("ReduceSum", node.cast(below, "int64"), [-1], keepdims=False)


EXPORTS: Final[Mapping[str, Rule]] = {
    "take": _take,
    "take_along_axis": _taken_along,
    "put_along_axis": _put_along,
    "searchsorted": _searched,
    "Embedding": _embedding,
    "pick": _pick,
    "batch_take": _batch_take,
    "gather_nd": lambda node: node.add("GatherND", node.inputs[0], _tuples(node, 1)),
    "scatter_nd": _scattered,
    "_backward_gather_nd": _gathered_back,
    "_scatter_set_nd": lambda node: node.add("ScatterND", node.inputs[0], _tuples(node, 2), node.inputs[1]),
    "one_hot": _one_hot,
    "where": _where,
    "topk": _topk,
    "sort": lambda node: _top(node, 0, largest=not node.op.is_ascend)[0],
    "argsort": lambda node: node.cast(_top(node, 0, largest=not node.op.is_ascend)[1], node.out_dtypes[0]),
    "_ravel_multi_index": _ravelled,
    "_unravel_index": _unravelled,
    "_contrib_index_copy": _copied,
    "_contrib_boolean_mask": _masked,
    "fill_element_0index": _filled,
}
_BY_VALUES: Final = "the shape of its output follows from values, which a symbol does not know"
ABSENT: Final[Mapping[str, str]] = {
    **dict.fromkeys(("bincount", "nonzero", "unique", "_npi_unique"), _BY_VALUES),
    "_histogram": "ONNX has no histogram",
    "_onehot_encode": "it writes into an array that is there; one_hot has a counterpart",
}
IMPORTS: Final[Mapping[str, Rule]] = onnx_reading.IMPORTS

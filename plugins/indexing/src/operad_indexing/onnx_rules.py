"""Choosing elements as ONNX nodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final

import numpy as np

Rule = str | Callable[[Any], Any]


def _whole(node: Any, value: str, index: int) -> str:
    """Indices as ONNX takes them."""
    return value if node.dtypes[index].name == "int64" else node.cast(value, "int64")


def _in_range(node: Any, indices: str, length: int | None, mode: str) -> str:
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


def _tuples(node: Any, index: int) -> str:
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
    """Where; a condition with one axis chooses rows."""
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


def _sort(node: Any) -> Any:
    return _top(node, 0, largest=not node.op.is_ascend)[0]


def _argsort(node: Any) -> Any:
    return node.cast(_top(node, 0, largest=not node.op.is_ascend)[1], node.out_dtypes[0])


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


EXPORTS: Final[Mapping[str, Rule]] = {
    "take": _take,
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
    "sort": _sort,
    "argsort": _argsort,
    "_ravel_multi_index": _ravelled,
    "_unravel_index": _unravelled,
    "_contrib_index_copy": _copied,
    "_contrib_boolean_mask": _masked,
    "fill_element_0index": _filled,
}
ABSENT: Final[Mapping[str, str]] = {
    "_histogram": "ONNX has no histogram",
    "_onehot_encode": "it writes into an array that is there; one_hot has a counterpart",
    "_contrib_index_array": "it is the shape's coordinates, which a model has as a constant",
}


def _counted(node: Any, index: int, length: int | None) -> Any:
    """Indices counted from the front, where they may count from the end."""
    if node.is_const(index):
        value = node.value(index)
        if (value >= 0).all():
            return node.sym(index)
        if length is not None:
            return node.const(np.where(value < 0, value + length, value), "int64")
    if length is None:
        node.refuse("indices may count from the end of an axis without a length; give shapes")
    indices = node.sym(index)
    is_negative = node.call("_lesser_scalar", indices, scalar=0)
    return node.call("broadcast_add", indices, node.call("_mul_scalar", is_negative, scalar=length))


def _gather(node: Any) -> Any:
    axis = node.axis(0)
    return node.call("take", node.sym(), _counted(node, 1, node.lengths()[axis]), axis=axis)


def _elements(node: Any) -> Any:
    """GatherElements: pick along the axis, for each position of the indices."""
    axis, lengths, shape = node.axis(0), node.shape(), node.shape(1)
    data, rank = node.sym(), node.rank()
    for other in range(rank):
        if other != axis and shape[other] != lengths[other]:
            data = node.call("slice_axis", data, axis=other, begin=0, end=shape[other])
    indices = _counted(node, 1, lengths[axis])
    places = [_along(node, shape, other, indices if other == axis else None) for other in range(rank)]
    return node.call("gather_nd", data, node.call("stack", *places, axis=0))


def _along(node: Any, shape: tuple[int, ...], axis: int, indices: Any) -> Any:
    if indices is not None:
        return node.cast(indices, "int64")
    turned = np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return node.const(np.broadcast_to(turned, shape), "int64")


def _points(node: Any) -> Any:
    """GatherND: coordinates go to the front; rows of a batch get their own."""
    batch, rank = node.attr("batch_dims", 0), node.rank(1)
    indices = node.sym(1)
    if node.is_const(1):
        value = np.asarray(node.value(1))
        lengths = node.shape()[batch : batch + value.shape[-1]]
        indices = node.const(np.where(value < 0, value + np.array(lengths), value), "int64")
    turned = node.call("transpose", indices, axes=(rank - 1, *range(rank - 1)))
    if batch:
        shape = node.shape(1)[:-1]
        grid = np.stack([np.broadcast_to(np.arange(shape[i]).reshape([-1 if j == i else 1 for j in range(
            len(shape))]), shape) for i in range(batch)])  # fmt: skip
        turned = node.call("Concat", node.const(grid, "int64"), turned, dim=0)
    return node.call("gather_nd", node.sym(), turned)


def _scatter(node: Any) -> Any:
    rank = node.rank(1)
    return _written(node, node.call("transpose", node.sym(1), axes=(rank - 1, *range(rank - 1))))


def _written(node: Any, indices: Any) -> Any:
    """Updates in place of the data, or added to them."""
    reduction = node.attr("reduction", "none")
    if reduction == "add":
        added = node.call("_backward_gather_nd", node.sym(2), indices, shape=node.shape())
        return node.call("elemwise_add", node.sym(), added)
    if reduction != "none":
        node.refuse(f"reduction {reduction!r} has no counterpart")
    return node.call("_scatter_set_nd", node.sym(0), node.sym(2), indices, shape=node.shape())


def _scatter_elements(node: Any) -> Any:
    """ScatterElements as ScatterND over all positions of the indices."""
    axis, shape = node.axis(0), node.shape(1)
    indices = _counted(node, 1, node.shape()[axis])
    places = [_along(node, shape, other, indices if other == axis else None) for other in range(len(shape))]
    return _written(node, node.call("stack", *places, axis=0))


def _hot(node: Any) -> Any:
    """OneHot: the new axis goes to its place."""
    depth, values, axis = int(node.scalar(1)), node.value(2), node.attr("axis", -1)
    rank = node.rank() + 1
    indices = _counted(node, 0, depth) if node.dtype().kind != "u" else node.sym()
    made = node.call(
        "one_hot", indices, depth=depth, on_value=float(values[1]), off_value=float(values[0]),
        dtype=values.dtype.name,
    )  # fmt: skip
    axis %= rank
    order = [*range(axis), rank - 1, *range(axis, rank - 1)]
    return made if axis == rank - 1 else node.call("transpose", made, axes=tuple(order))


def _chosen(node: Any) -> Any:
    """Where, after a broadcast of all three."""
    lengths = [tuple(-1 if n is None else n for n in node.lengths(index)) for index in range(3)]
    if len({*lengths}) == 1:
        return node.call("where", *node.syms())
    shape = tuple(int(n) for n in np.broadcast_shapes(*(node.shape(index) for index in range(3))))
    parts = []
    for index, symbol in enumerate(node.syms()):
        own = node.shape(index)
        if len(own) < len(shape):
            symbol = node.reshape(symbol, (1,) * (len(shape) - len(own)) + own)
        parts.append(node.call("broadcast_to", symbol, shape=shape))
    return node.call("where", *parts)


def _first(node: Any) -> Any:
    """TopK: values and numbers."""
    axis, k = node.axis(-1), node.attr("k") or int(node.scalar(1))
    made = node.call(
        "topk",
        node.sym(),
        axis=axis,
        k=k,
        ret_typ="both",
        is_ascend=not node.attr("largest", 1),
        dtype="int64",
    )
    return [made[0], made[1]]


def _compress(node: Any) -> Any:
    axis, data = node.attr("axis"), node.sym()
    if axis is None:
        data = node.reshape(data, (-1,))
    if not node.is_const(1):
        node.refuse("which elements remain must be known")
    places = [i for i, kept in enumerate(node.value(1)) if kept]
    return node.call("take", data, node.const(places, "int64"), axis=axis or 0)


IMPORTS: Final[Mapping[str, Rule]] = {
    "Gather": _gather,
    "GatherElements": _elements,
    "GatherND": _points,
    "ScatterND": _scatter,
    "ScatterElements": _scatter_elements,
    "OneHot": _hot,
    "Where": _chosen,
    "TopK": _first,
    "Compress": _compress,
}

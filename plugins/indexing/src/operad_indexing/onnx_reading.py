"""ONNX nodes that choose elements as operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

Rule = str | Callable[[Any], Any]


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
        return _combined(node, _PAIRS[reduction])
    return node.call("_scatter_set_nd", node.sym(0), node.sym(2), indices, shape=node.shape())


_PAIRS: Final = {"mul": "broadcast_mul", "max": "broadcast_maximum", "min": "broadcast_minimum"}


def _combined(node: Any, operator: str) -> Any:
    """Elements and updates, by an operator of two: the first update of each place, the second, and so on."""
    shape, indices = node.shape(), np.asarray(node.value(1))
    if node.op_type == "ScatterND":
        places = list(np.moveaxis(indices, -1, 0))
    else:
        places = list(np.indices(indices.shape))
        places[node.axis(0)] = indices
    wrapped = [np.where(own < 0, own + n, own).ravel() for own, n in zip(places, shape, strict=False)]
    count, rest = wrapped[0].size, shape[len(wrapped) :]
    updates = node.reshape(node.sym(2), (count, *rest))
    seen, data, nth = Counter[tuple[int, ...]](), node.sym(), np.zeros(count, int)
    for i, place in enumerate(zip(*wrapped, strict=True)):
        nth[i] = seen[place]
        seen[place] += 1
    for number in range(int(nth.max(initial=-1)) + 1):
        chosen = np.flatnonzero(nth == number)
        at = node.const(np.stack(wrapped)[:, chosen], "int64")
        own = node.call("take", updates, node.const(chosen, "int64"), axis=0)
        made = node.call(operator, node.call("gather_nd", data, at), own)
        data = node.call("_scatter_set_nd", data, made, at, shape=shape)
    return data


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
    """A choice of two, after a broadcast of all three."""
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
    places = [i for i, kept in enumerate(node.value(1)) if kept]
    return node.call("take", data, node.const(places, "int64"), axis=axis or 0)


IMPORTS: Final[Mapping[str, Rule]] = {
    "Gather": _gather,
    "GatherElements": _elements,
    "GatherND": _points,
    "ScatterND": _scatter,
    "ScatterElements": _scatter_elements,
    "Scatter": _scatter_elements,
    "OneHot": _hot,
    "Where": _chosen,
    "TopK": _first,
    "Compress": _compress,
}

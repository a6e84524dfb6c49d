"""Steps of traced functions as ONNX nodes: shapes, parts of arrays, and reductions.

A form's function gets the steps, the result's shape and type, and each argument as a pair: as it is in the
trace for one set of lengths, and for the other. It gives the name of a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from operad_onnx.sink import Spec, Value
from operad_sdk.differentiate import Node
from operad_sdk.differentiate.indexing import is_basic

if TYPE_CHECKING:
    from operad_onnx.traced import Steps

_FAR: Final = 2**63 - 1
"""An end beyond every axis."""

MOVES: Final = frozenset((np.tile, np.repeat, np.roll, np.diagonal))
"""Functions that move elements; positions of these follow from shapes."""


def _reshape(steps: Steps, out: Spec, x: Any, _: Any) -> str:
    return steps.reshaped(steps.operand(x), out).name


def _transpose(steps: Steps, out: Spec, x: Any, axes: Any) -> str:
    value = steps.operand(x).name
    return str(steps.node.add("Transpose", value, perm=[int(one) for one in axes[0]])) if axes[0] else value


def _broadcast(steps: Steps, out: Spec, x: Any, _: Any) -> str:
    return steps.expanded(steps.operand(x), out).name


def _flip(steps: Steps, out: Spec, x: Any, axis: Any) -> str:
    rank = len(out.lengths)
    axes = range(rank) if axis[0] is None else [int(one) % rank for one in np.atleast_1d(axis[0])]
    count = len(axes)
    return steps.node.slice(steps.operand(x).name, [-1] * count, [-_FAR] * count, axes, [-1] * count)


def _where(steps: Steps, out: Spec, condition: Any, one: Any, other: Any) -> str:
    picked = [steps.operand(pair, out.dtype).name for pair in (one, other)]
    return str(steps.node.add("Where", steps.operand(condition, np.bool_).name, *picked))


def _converted(steps: Steps, out: Spec, x: Any, _: Any) -> str:
    return steps.cast(steps.operand(x), out.dtype).name


def _cumulated(steps: Steps, out: Spec, x: Any, axis: Any) -> str:
    at = steps.node.ints_scalar(int(axis[0]) % len(out.lengths))
    return str(steps.node.add("CumSum", steps.operand(x, out.dtype).name, at))


def _picked(steps: Steps, out: Spec, x: Any, labels: Any, axis: Any) -> str:
    where = steps.node.unsqueeze(steps.operand(labels, np.int64).name, axis[0])
    found = steps.node.add("GatherElements", steps.operand(x).name, where, axis=axis[0])
    return steps.node.squeeze(found, axis[0])


def _put(steps: Steps, out: Spec, whole: Any, part: Any, labels: Any, axis: Any) -> str:
    at = steps.operand(labels, np.int64)
    new = steps.expanded(steps.operand(part), Spec(at.spec.lengths, out.dtype))
    pair = (steps.node.unsqueeze(value.name, axis[0]) for value in (at, new))
    return str(steps.node.add("ScatterElements", steps.operand(whole).name, *pair, axis=axis[0]))


def _reduced(kind: str) -> Callable[..., str]:
    def written(steps: Steps, out: Spec, x: Any, axis: Any, keepdims: Any) -> str:
        value = steps.operand(x, out.dtype)
        return steps.node.reduce(kind, value.name, axes_of(axis[0]), bool(keepdims[0]))

    return written


def _truth(kind: str) -> Callable[..., str]:
    def written(steps: Steps, out: Spec, x: Any, axis: Any, keepdims: Any) -> str:
        value = steps.node.cast(steps.operand(x, out.dtype).name, np.int32)
        made = steps.node.reduce(kind, value, axes_of(axis[0]), bool(keepdims[0]))
        return steps.node.cast(made, np.bool_)

    return written


def axes_of(axis: Any) -> list[int] | None:
    """Axes as rules take them; None for all."""
    return None if axis is None else [int(one) for one in np.atleast_1d(axis)]


def _taken(steps: Steps, out: Spec, x: Any, index: Any) -> str:
    value = steps.operand(x)
    items = _items(steps, index, len(value.spec.lengths))
    if is_basic(items):
        return _part(steps, value, items)
    arrays = [i for i, item in enumerate(items) if isinstance(item, (Node, np.ndarray))]
    rest = [item for i, item in enumerate(items) if i not in arrays]
    if len(arrays) == 1 and all(item == slice(None) for item in rest) and not _is_mask(items[arrays[0]]):
        axis = arrays[0]
        at = steps.operand((items[axis], items[axis]), np.int64).name
        return str(steps.node.add("Gather", value.name, at, axis=axis))
    if not any(isinstance(item, Node) for item in items):
        return moved(steps, out, x[0], lambda array: array[items])
    return str(steps.node.add("GatherND", value.name, _tuples(steps, items)))


def _items(steps: Steps, index: Any, rank: int) -> tuple[Any, ...]:
    """The items of an index, with whole axes in the place of an ellipsis, and arrays in that of lists."""
    one, other = index
    if _plain(one) != _plain(other):
        steps.refuse("it takes a part by a length that differs from run to run; export it with numbers")
    found: list[Any] = []
    for item in one if isinstance(one, tuple) else (one,):
        if item is Ellipsis:
            named = (
                [each for each in one if each is not None and each is not Ellipsis]
                if isinstance(one, tuple)
                else []
            )
            found += [slice(None)] * (rank - sum(each.ndim if _is_mask(each) else 1 for each in named))
        else:
            found.append(np.asarray(item, None if item else np.int64) if isinstance(item, list) else item)
    return tuple(found)


def _is_mask(item: Any) -> bool:
    return isinstance(item, np.ndarray) and item.dtype == bool


def _tuples(steps: Steps, items: Sequence[Any]) -> str:
    """Arrays of an index of the first axes, as one of tuples."""
    if not all(isinstance(item, (Node, np.ndarray, int, np.integer)) for item in items):
        steps.refuse("an index of arrays and slices has no counterpart in ONNX")
    values = [steps.operand((item, item), np.int64) for item in items]
    shape = np.broadcast_shapes(*[steps.fixed(value) for value in values])
    spec = Spec(tuple((n, n) for n in shape), np.dtype(np.int64))
    columns = [steps.node.unsqueeze(steps.expanded(value, spec).name, len(shape)) for value in values]
    return columns[0] if len(columns) == 1 else str(steps.node.add("Concat", *columns, axis=len(shape)))


def _part(steps: Steps, value: Value, items: Sequence[Any]) -> str:
    """A part by numbers, slices and new axes."""
    slices, gone, new = _basic(items)
    name = value.name
    if slices:
        axes, parts = zip(*slices, strict=True)
        ends = [_ends(part) for part in parts]
        by = [part.step or 1 for part in parts]
        by = [] if set(by) == {1} else by
        name = steps.node.slice(name, [one for one, _ in ends], [one for _, one in ends], axes, by)
    name = steps.node.squeeze(name, *gone) if gone else name
    return steps.node.unsqueeze(name, *new) if new else name


def _replaced(steps: Steps, out: Spec, whole: Any, part: Any, index: Any) -> str:
    """An array in which a part is another."""
    items, new = _items(steps, index, len(out.lengths)), steps.operand(part, out.dtype)
    if not is_basic(items) and any(isinstance(item, Node) for item in items):
        where = _tuples(steps, items)
        shape = steps.node.add("Shape", steps.node.add("GatherND", steps.operand(whole).name, where))
        new_name = steps.node.add("Expand", new.name, shape)
        return str(steps.node.add("ScatterND", steps.operand(whole).name, where, new_name))
    if is_basic(items):
        slices, gone, added = _basic(items)
        divided = [own for axis, own in slices if any(own.indices(n) != (0, n, 1) for n in out.lengths[axis])]
        if not added and len(divided) <= 1 and all((own.step or 1) == 1 for own in divided):
            return _joined(steps, out, whole, new, slices, gone)
    shape = steps.fixed(Value("", out))
    places = np.arange(int(np.prod(shape))).reshape(shape)[items]
    spec = Spec(tuple((n, n) for n in places.shape), out.dtype)
    flat = steps.node.add("Reshape", steps.operand(whole, out.dtype).name, steps.node.ints(-1))
    parts = steps.node.add("Reshape", steps.expanded(new, spec).name, steps.node.ints(-1))
    made = steps.node.add("ScatterElements", flat, steps.node.ints(*places.ravel().tolist()), parts)
    return str(steps.node.add("Reshape", made, steps.node.ints(*shape)))


def _joined(steps: Steps, out: Spec, whole: Any, new: Value, slices: Any, gone: Sequence[int]) -> str:
    """The part between what stands before and behind it along an axis, if one is divided."""
    inner = list(out.lengths)
    for axis, own in slices:
        one, other = (len(range(*own.indices(n))) for n in out.lengths[axis])
        inner[axis] = (one, other)
    kept = tuple(pair for axis, pair in enumerate(inner) if axis not in gone)
    part = steps.expanded(new, Spec(kept, out.dtype)).name
    parts = [steps.node.unsqueeze(part, *gone) if gone else part]
    divided = [(axis, own) for axis, own in slices if inner[axis] != out.lengths[axis]]
    if not divided:
        return parts[0]
    ((axis, own),) = divided
    value = steps.operand(whole, out.dtype).name
    begin, end = _ends(own)
    if any(own.indices(n)[0] for n in out.lengths[axis]):
        parts.insert(0, steps.node.slice(value, [0], [begin], [axis]))
    if any(own.indices(n)[1] < n for n in out.lengths[axis]):
        parts.append(steps.node.slice(value, [end], [_FAR], [axis]))
    return parts[0] if len(parts) == 1 else str(steps.node.add("Concat", *parts, axis=axis))


def moved(steps: Steps, out: Spec, x: Any, by: Callable[[Any], Any]) -> str:
    """Elements at positions that follow from the shape."""
    value = steps.operand((x, x))
    shape = steps.fixed(value)
    places = np.asarray(by(np.arange(int(np.prod(shape))).reshape(shape)))
    flat = steps.node.add("Reshape", value.name, steps.node.ints(-1))
    return str(steps.node.add("Gather", flat, steps.node.const(places, np.int64), axis=0))


FORMS: Final[Mapping[Any, Callable[..., str]]] = {
    "reshape": _reshape, "transpose": _transpose, "broadcast": _broadcast,
    "flip": _flip, "where": _where, "cast": _converted, "cumsum": _cumulated,
    "pick": _picked, "put": _put, "take": _taken, "replace": _replaced, "sum": _reduced("ReduceSum"),
    "max": _reduced("ReduceMax"), "min": _reduced("ReduceMin"), "prod": _reduced("ReduceProd"),
    "all": _truth("ReduceMin"), "any": _truth("ReduceMax"),
}  # fmt: skip
"""By the forms of primitives."""


def _plain(index: Any) -> Any:
    """An index as lists, in which arrays of the trace are alike."""
    items = index if isinstance(index, tuple) else (index,)
    return [
        "array" if isinstance(one, Node) else one.tolist() if isinstance(one, np.ndarray) else one
        for one in items
    ]


def _basic(items: Sequence[Any]) -> tuple[list[tuple[int, slice]], list[int], list[int]]:
    """Slices by axis but for whole axes; axes that an index of numbers takes away; new axes of the result."""
    slices: list[tuple[int, slice]] = []
    gone: list[int] = []
    new: list[int] = []
    axis = position = 0
    for item in items:
        if item is None:
            new.append(position)
            position += 1
        elif isinstance(item, slice):
            if item != slice(None):
                slices.append((axis, item))
            axis, position = axis + 1, position + 1
        else:
            number = int(item)
            slices.append((axis, slice(number, number + 1 if number != -1 else None)))
            gone.append(axis)
            axis += 1
    return slices, gone, new


def _ends(part: slice) -> tuple[int, int]:
    is_forward = (part.step or 1) > 0
    first, last = (0, _FAR) if is_forward else (_FAR, -_FAR)
    return first if part.start is None else int(part.start), last if part.stop is None else int(part.stop)

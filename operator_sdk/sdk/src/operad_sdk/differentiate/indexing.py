"""Derivatives of reading and writing parts of arrays."""

from __future__ import annotations

from types import EllipsisType
from typing import Any, NamedTuple

import numpy as np

from operad_sdk.differentiate.dispatch import FUNCTIONS, METHODS
from operad_sdk.differentiate.errors import refusal, writing_plainly
from operad_sdk.differentiate.masks import MaskedElements, is_mask
from operad_sdk.differentiate.numbers import CallNumber
from operad_sdk.differentiate.tracing import FORM, Primitive, Traced, View, fitted, plain

Index = Any


def _put(part: Any, index: Index, shape: tuple[int, ...]) -> Any:
    """Zeros with `part` added in the positions of `index`, which may name a position twice."""
    made = np.zeros_like(part, shape=shape)
    if is_basic(index):
        made[index] = part
    else:
        np.add.at(made, index, part)
    return made


def _with_part(whole: Any, part: Any, index: Index) -> Any:
    made = whole.copy()
    made[index] = part
    return made


_taken: Primitive = Primitive(
    lambda x, index: x[index], lambda g, y, x, index: _placed(g, index, plain(x).shape), form="take"
)
_placed: Primitive = Primitive(_put, lambda g, y, part, index, shape: _taken(g, index))
_replaced: Primitive = Primitive(
    _with_part,
    lambda g, y, whole, part, index: _replaced(g, 0, index),
    lambda g, y, whole, part, index: fitted(_taken(g, index), part),
    form="replace",
)


_picked: Primitive = Primitive(
    lambda x, labels, axis: np.take_along_axis(x, np.expand_dims(labels, axis), axis).squeeze(axis),
    form="pick",
)


def _with_picked(whole: Any, part: Any, labels: Any, axis: int) -> Any:
    made, labels = whole.copy(), np.expand_dims(labels, axis)
    new = np.broadcast_to(part, np.squeeze(labels, axis).shape)
    np.put_along_axis(made, labels, np.expand_dims(new, axis), axis)
    return made


_put_picked: Primitive = Primitive(_with_picked, form="put")


class _Picks(NamedTuple):
    """One element of each row along an axis, by labels of the other axes' shape.

    Attributes:
        labels: Traced.
        axis: Along which they count.
        shape: That the index gives.
    """

    labels: Any
    axis: int
    shape: tuple[int, ...]


def _picks(x: Any, index: Index) -> _Picks | None:
    """The labels in an index of positions along all axes but one, if it is one, in a trace for forms."""
    if not isinstance(index, tuple) or len(index) != x.ndim or not isinstance(x, Traced) or x.level > FORM:
        return None
    axes = [i for i, one in enumerate(index) if isinstance(one, Traced)]
    if len(axes) != 1 or not all(isinstance(plain(one), np.ndarray) for one in index):
        return None
    (axis,) = axes
    shape = np.broadcast_shapes(*(plain(one).shape for one in index))
    others = [n for i, n in enumerate(plain(x).shape) if i != axis]
    if [n for n in shape if n != 1] != [n for n in others if n != 1] or len(shape) < len(others):
        return None
    counts = [one for i, one in enumerate(index) if i != axis]
    where: Any = np.indices(others)
    if any(
        (np.broadcast_to(one, shape).reshape(others) != position).any()
        for one, position in zip(counts, where, strict=True)
    ):
        return None
    labels = index[axis]  # the same node, where it can be, so that a pick and a put of one label are told
    if list(plain(labels).shape) != others:
        labels = np.broadcast_to(labels, shape).reshape(others)
    return _Picks(labels, axis, shape)


def is_basic(index: Index) -> bool:
    """Return whether an index gives a view: numbers, slices and new axes."""
    items = index if isinstance(index, tuple) else (index,)
    return all(item is None or isinstance(item, (int, slice, np.integer, EllipsisType)) for item in items)


def is_whole(index: Index, shape: tuple[int, ...]) -> bool:
    """Return whether an index gives all elements in order, for all lengths above 1."""
    items = index if isinstance(index, tuple) else (index,)
    if not all(item is None or isinstance(item, (EllipsisType, slice, int)) for item in items):
        return False
    own = [item for item in items if item is not None]
    index = next((i for i, item in enumerate(own) if item is Ellipsis), len(own))
    behind = len(own) - index - 1
    lengths = [*shape[:index], *shape[len(shape) - behind :]] if behind > 0 else shape[:index]
    own = [item for item in own if item is not Ellipsis]
    return all(
        length == 1 if isinstance(item, int) else item == slice(None)
        for item, length in zip(own, lengths, strict=True)
    )


def get_item(x: Any, index: Index) -> Any:
    """`x[index]`: a view of basic indices, else a copy."""
    if not is_basic(index):
        if picks := _picks(x, index):
            return _picked(x, picks.labels, picks.axis).reshape(picks.shape)
        return MaskedElements(x, index) if is_mask(x, index) else _taken(x, index)
    plain(x).__getitem__(index)  # raises as NumPy does, now: a view is read later
    return x.viewed(
        View(lambda whole: _taken(whole, index), lambda whole, part: _replaced(whole, part, index))
    )


def set_item(x: Any, index: Index, value: Any) -> None:
    """`x[index] = value`."""
    if isinstance(value, MaskedElements):
        value.put(x, index)
        return
    if type(value) is CallNumber:
        value = value.trace.input(value, x.dtype)
    is_traced = isinstance(value, Traced)
    if is_traced and value.dtype != x.dtype:
        value = value.astype(x.dtype)
    if not is_basic(index) and (picks := _picks(x, index)):
        part = value if np.ndim(plain(value)) == 0 else np.broadcast_to(value, picks.shape)
        part = part if np.ndim(plain(part)) == 0 else part.reshape(picks.labels.shape)
        x.write(_put_picked(x, part, picks.labels, picks.axis))
        return
    x.write(value if is_traced and index is Ellipsis else _replaced(x, value, index))


def _add_at(x: Any, index: Index, value: Any) -> None:
    if not isinstance(x, Traced):
        raise refusal(
            "numpy.add.at adds what it computes derivatives of to a plain array, where they would be lost; "
            "make the array with np.zeros_like, or with op_ctx.xp"
        )
    shape = plain(x)[index].shape
    part = value if np.shape(plain(value)) == shape else np.broadcast_to(value, shape)
    x.write(x + _placed(part, index, x.shape))


def _copyto(target: Any, value: Any, casting: str = "same_kind", where: Any = True) -> None:
    if not isinstance(target, Traced):
        raise writing_plainly("copyto")
    if where is not True:
        target.write(np.where(where, value, target))
    else:
        set_item(target, ..., value)


def _take(a: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> Any:
    if axis is None:
        a, axis = a.reshape(-1), 0
    length = a.shape[axis]
    if mode != "raise":
        indices = np.clip(indices, 0, length - 1) if mode == "clip" else np.mod(indices, length)
    return a[(*[slice(None)] * (axis % a.ndim), indices)]


def _along(indices: Any, axis: int) -> Index:
    """Index that `take_along_axis` uses: all positions along the other axes."""
    ndim = indices.ndim
    positions = [
        np.arange(length, like=indices).reshape([-1 if i == one else 1 for i in range(ndim)])
        for one, length in enumerate(indices.shape)
    ]
    return (*positions[:axis], indices, *positions[axis + 1 :])


def _take_along(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    if axis is None:
        return arr.reshape(-1)[indices]
    return arr[_along(indices, axis % arr.ndim)]


def _put_along(arr: Any, indices: Any, values: Any, axis: int | None = -1) -> None:
    arr[_along(indices, axis % arr.ndim)] = values


def _diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    matrices = np.moveaxis(x, (axis1, axis2), (-2, -1))
    rows, columns = matrices.shape[-2:]
    positions = np.diagonal(np.arange(rows * columns).reshape(rows, columns), offset)
    # Lists index arrays of any device.
    return matrices[(..., *(part.tolist() for part in np.divmod(positions, max(1, columns))))]


def _diag(v: Any, k: int = 0) -> Any:
    if v.ndim > 1:
        return _diagonal(v, k)
    size = len(v) + abs(k)
    made = np.zeros_like(v, shape=(size, size))
    rows, columns = max(-k, 0), max(k, 0)
    made[list(range(rows, rows + len(v))), list(range(columns, columns + len(v)))] = v
    return made


def _triangle(function: Any) -> Any:
    def keep(m: Any, k: int = 0) -> Any:
        return np.where(function(np.ones(m.shape[-2:], bool, like=plain(m)), k), m, 0)

    return keep


def _overlap(a: Any, b: Any, *args: Any, **options: Any) -> bool:
    """Return whether a write to one array may change the other."""
    if isinstance(a, Traced) and isinstance(b, Traced):
        return a.root is b.root
    return False


FUNCTIONS.update({
    np.copyto: _copyto, np.take: _take, np.take_along_axis: _take_along, np.put_along_axis: _put_along,
    np.diagonal: _diagonal, np.diag: _diag, np.tril: _triangle(np.tril), np.triu: _triangle(np.triu),
    np.may_share_memory: _overlap, np.shares_memory: _overlap,
})  # fmt: skip
METHODS.update({"__getitem__": get_item, "__setitem__": set_item, "add_at": _add_at})

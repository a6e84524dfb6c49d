"""Derivatives of functions that move elements, and the views among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from operad_sdk.differentiate.dispatch import FUNCTIONS
from operad_sdk.differentiate.errors import refusal
from operad_sdk.differentiate.tracing import FORM, PROGRAM, Primitive, Traced, View, in_memory, plain

_reshape = Primitive(
    lambda x, shape: np.reshape(x, shape),
    lambda g, y, x, shape: np.reshape(g, plain(x).shape),
    form="reshape",
)
_transpose = Primitive(
    lambda x, axes: np.transpose(x, axes),
    lambda g, y, x, axes: np.transpose(g, np.argsort(axes)),
    form="transpose",
)
_broadcast = Primitive(
    lambda x, shape: np.broadcast_to(x, shape), lambda g, y, x, shape: g, fits=True, form="broadcast"
)
_flip = Primitive(lambda x, axis: np.flip(x, axis), lambda g, y, x, axis: np.flip(g, axis), form="flip")


def reshape(x: Any, *shape: Any, order: str = "C", newshape: Any = None) -> Any:
    """A view where the memory allows one, else a copy, as NumPy gives them."""
    wanted = newshape if newshape is not None else shape[0] if len(shape) == 1 else shape
    whole = in_memory(x)
    if order != "C":
        if order != "F":
            raise refusal(f"an order of {order!r} depends on how arrays lie")
        wanted = whole.reshape(wanted, order=order).shape
        return reshape(x.T, wanted[::-1]).T
    made = whole.reshape(wanted)
    new = made.shape
    if not np.may_share_memory(made, whole):
        return _reshape(x, new)
    old = x.shape
    return x.viewed(View(lambda whole: _reshape(whole, new), lambda whole, part: _reshape(part, old)))


def transpose(x: Any, *axes: Any) -> Any:
    """A view with the axes in another order."""
    given = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
    order = tuple(range(x.ndim))[::-1] if given is None else tuple(int(one) % x.ndim for one in given)
    order = order or tuple(range(x.ndim))[::-1]
    back = tuple(int(position) for position in np.argsort(order))
    return x.viewed(View(lambda whole: _transpose(whole, order), lambda whole, part: _transpose(part, back)))


def _swapped(x: Any, axis1: int, axis2: int) -> Any:
    order = list(range(x.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return transpose(x, order)


def _moved(x: Any, source: Any, destination: Any) -> Any:
    positions = np.moveaxis(np.empty((1,) * x.ndim), source, destination)  # raises as NumPy does
    sources = [one % x.ndim for one in np.atleast_1d(source)]
    order = [one for one in range(positions.ndim) if one not in sources]
    for target, one in sorted(zip(np.atleast_1d(destination) % x.ndim, sources, strict=True)):
        order.insert(int(target), one)
    return transpose(x, order)


def _expanded(x: Any, axis: Any) -> Any:
    return reshape(x, np.expand_dims(plain(x), axis).shape)


def _squeezed(x: Any, axis: Any = None) -> Any:
    return reshape(x, np.squeeze(plain(x), axis).shape)


def _repeated(x: Any, shape: Any, subok: bool = False) -> Any:
    return _broadcast(x, tuple(np.atleast_1d(shape)))


def _flipped(x: Any, axis: Any = None) -> Any:
    return _flip(x, axis)


def _concatenated(arrays: Sequence[Any], axis: int | None = 0) -> Any:
    """Join arrays by writing each into its part of an array of zeros."""
    first = max([x for x in arrays if isinstance(x, Traced)], key=lambda x: x.level)
    if axis is None:
        arrays, axis = [x.reshape(-1) for x in arrays], 0
    plains = [plain(x) for x in arrays]
    joined = np.concatenate(plains, axis)
    made = np.zeros_like(first, dtype=joined.dtype, shape=joined.shape)
    ends = np.cumsum([0, *[x.shape[axis] for x in plains]])
    for x, (begin, end) in zip(arrays, pairwise(ends.tolist()), strict=True):
        made[(*[slice(None)] * (axis % made.ndim), slice(begin, end))] = x
    return made


def _split(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that divides an array along an axis into parts, which are views."""

    def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
        parts = function(np.arange(plain(ary).shape[axis]), indices_or_sections)  # raises as NumPy does
        return [ary[(*[slice(None)] * (axis % ary.ndim), slice(*_ends(part)))] for part in parts]

    return split


def _ends(part: Any) -> tuple[int, int]:
    return (int(part[0]), int(part[-1]) + 1) if len(part) else (0, 0)


def _stacked(arrays: Sequence[Any], axis: int = 0) -> Any:
    return np.concatenate([np.expand_dims(x, axis) for x in arrays], axis)


def _padded(array: Any, pad_width: Any, mode: Any = "constant", constant_values: float = 0) -> Any:
    """Pad with a constant, or with elements that stand elsewhere in the array."""
    widths = np.broadcast_to(pad_width, (array.ndim, 2)).tolist()
    if mode in ("edge", "reflect", "symmetric", "wrap"):
        for axis, width in enumerate(widths):
            array = np.take(array, np.pad(np.arange(plain(array).shape[axis]), width, mode), axis=axis)
        return array
    if mode != "constant" or np.ndim(constant_values):
        raise NotImplementedError
    shape = [n + sum(width) for n, width in zip(array.shape, widths, strict=True)]
    made = np.full_like(array, constant_values, shape=shape)
    inside = zip(widths, array.shape, strict=True)
    made[tuple(slice(begin, begin + n) for (begin, _), n in inside)] = array
    return made


def _new(function: Callable[..., Any]) -> Any:
    def make(like: Any, *args: Any, **options: Any) -> Any:
        if like.level == PROGRAM:  # where a number stands for all
            shape = options.pop("shape", None)
            one = function(plain(like), *args, shape=(), **options)
            return like.filled(np.broadcast_to(one, like.shape if shape is None else shape))
        from_plain = function(plain(like), *args, **options)
        if from_plain.dtype.kind != "f" and like.level > FORM:
            return from_plain
        return like.filled(from_plain)

    return make


FUNCTIONS.update({
    np.reshape: reshape, np.transpose: transpose, np.swapaxes: _swapped, np.moveaxis: _moved,
    np.expand_dims: _expanded, np.squeeze: _squeezed, np.broadcast_to: _repeated, np.flip: _flipped,
    np.concatenate: _concatenated, np.split: _split(np.split),
    np.array_split: _split(np.array_split), np.pad: _padded, np.stack: _stacked,
    np.zeros_like: _new(np.zeros_like), np.ones_like: _new(np.ones_like), np.full_like: _new(np.full_like),
    np.empty_like: _new(np.zeros_like),
})  # fmt: skip

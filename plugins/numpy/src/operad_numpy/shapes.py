"""NumPy's functions that arrange the elements of arrays: join, split, turn, repeat, sort."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad import NDArray, nd
from operad.errors import ArgumentError, ShapeError


def _array(like: NDArray, value: Any) -> NDArray:
    """An operand that is no array of ours, in the type and context of one that is.

    Raises:
        DTypeError: Its values do not fit.
    """
    return value if isinstance(value, NDArray) else nd.converted(like, value)


def _first(values: Sequence[Any]) -> NDArray:
    return next(value for value in values if isinstance(value, NDArray))


def concatenate(arrays: Sequence[Any], axis: int | None = 0) -> NDArray:
    """`numpy.concatenate`, by the operator `Concat`."""
    parts = [_array(_first(arrays), each) for each in arrays]
    if axis is None:
        parts, axis = [part.reshape(-1) for part in parts], 0
    return nd.invoke("Concat", parts, {"dim": axis, "num_args": len(parts)})


def stack(arrays: Sequence[Any], axis: int = 0) -> NDArray:
    """`numpy.stack`, by the operator `stack`."""
    parts = [_array(_first(arrays), each) for each in arrays]
    return nd.invoke("stack", parts, {"axis": axis, "num_args": len(parts)})


def vstack(tup: Sequence[Any]) -> NDArray:
    """`numpy.vstack`, by the operator `Concat`; vectors are rows."""
    parts = [_array(_first(tup), each) for each in tup]
    return concatenate([part.reshape((1, -1)) if part.ndim < 2 else part for part in parts], axis=0)


def hstack(tup: Sequence[Any]) -> NDArray:
    """`numpy.hstack`, by the operator `Concat`."""
    parts = [_array(_first(tup), each) for each in tup]
    parts = [part.reshape(1) if part.ndim < 1 else part for part in parts]
    return concatenate(parts, axis=0 if parts[0].ndim == 1 else 1)


def split(ary: NDArray, indices_or_sections: Any, axis: int = 0) -> list[NDArray]:
    """`numpy.split`, by the operator `_split_v2`."""
    length = ary.shape[axis]
    if isinstance(indices_or_sections, int):
        if indices_or_sections < 1 or length % indices_or_sections:
            raise ShapeError(
                f"numpy.split: got {indices_or_sections} sections, expected a divisor of {length}, the "
                f"length of axis {axis}; or give a list of positions"
            )
        step = length // indices_or_sections
        positions = [step * number for number in range(indices_or_sections)]
    else:
        given = [position + length if position < 0 else position for position in indices_or_sections]
        positions = [0, *(min(max(position, 0), length) for position in given)]
    found = nd._split_v2(ary, indices=tuple(positions), axis=axis)
    return list(found) if isinstance(found, (list, tuple)) else [found]


def transpose(a: NDArray, axes: Sequence[int] | None = None) -> NDArray:
    """`numpy.transpose`, by the array's method."""
    return a.transpose(*(axes or ()))


def moveaxis(a: NDArray, source: int | Sequence[int], destination: int | Sequence[int]) -> NDArray:
    """`numpy.moveaxis`, by the array's method `transpose`."""
    # NumPy finds the order: one axis of a number of its own length for each.
    dummy = np.moveaxis(np.empty(range(1, a.ndim + 1)), source, destination)
    return a.transpose(*(length - 1 for length in dummy.shape))


def swapaxes(a: NDArray, axis1: int, axis2: int) -> NDArray:
    """`numpy.swapaxes`, by the operator `SwapAxis`."""
    return nd.invoke("SwapAxis", (a,), {"dim1": axis1, "dim2": axis2})


def reshape(a: NDArray, shape: int | Sequence[int]) -> NDArray:
    """`numpy.reshape`, by the array's method.

    Raises:
        ArgumentError: A length is 0, which the method copies from the old shape.
    """
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(length == 0 or length < -1 for length in lengths):
        raise ArgumentError(
            f"numpy.reshape to {lengths}: use x.reshape, where 0 copies a length, or x.asnumpy()"
        )
    return a.reshape(lengths)


def ravel(a: NDArray) -> NDArray:
    """`numpy.ravel`, by the array's method `reshape`."""
    return a.reshape(-1)


def expand_dims(a: NDArray, axis: int) -> NDArray:
    """`numpy.expand_dims`, by the array's method."""
    made: NDArray = a.expand_dims(axis)
    return made


def squeeze(a: NDArray, axis: int | Sequence[int] | None = None) -> NDArray:
    """`numpy.squeeze`, by the array's method."""
    made: NDArray = a.squeeze(axis)
    return made


def broadcast_to(array: NDArray, shape: Sequence[int]) -> NDArray:
    """`numpy.broadcast_to`, by the array's method; a copy."""
    made: NDArray = array.broadcast_to(shape)
    return made


def flip(m: NDArray, axis: int | Sequence[int] | None = None) -> NDArray:
    """`numpy.flip`, by the operator `reverse`."""
    axes = range(m.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    return nd.invoke("reverse", (m,), {"axis": tuple(axes)})


def repeat(a: NDArray, repeats: int, axis: int | None = None) -> NDArray:
    """`numpy.repeat` of one number of times, by the operator `repeat`."""
    if not isinstance(repeats, int):
        raise ArgumentError(f"numpy.repeat: repeats is {repeats!r}, expected one integer; use x.asnumpy()")
    return nd.invoke("repeat", (a,), {"repeats": repeats, "axis": axis})


def tile(A: NDArray, reps: int | Sequence[int]) -> NDArray:  # noqa: N803 - NumPy's name
    """`numpy.tile`, by the operator `tile`."""
    return nd.invoke("tile", (A,), {"reps": (reps,) if isinstance(reps, int) else tuple(reps)})


def diag(v: NDArray, k: int = 0) -> NDArray:
    """`numpy.diag`, by the operator `diag`."""
    return nd.invoke("diag", (v,), {"k": k})


def sort(a: NDArray, axis: int | None = -1) -> NDArray:
    """`numpy.sort`, by the operator `sort`."""
    return nd.invoke("sort", (a.reshape(-1) if axis is None else a,), {"axis": -1 if axis is None else axis})


def argsort(a: NDArray, axis: int | None = -1) -> NDArray:
    """`numpy.argsort`, by the operator `argsort`, in int64."""
    flat = a.reshape(-1) if axis is None else a
    return nd.invoke("argsort", (flat,), {"axis": -1 if axis is None else axis, "dtype": "int64"})

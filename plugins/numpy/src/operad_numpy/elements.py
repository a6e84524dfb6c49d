"""NumPy's functions of elements that are no ufuncs, and products."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad import NDArray, nd
from operad.errors import ArgumentError, IndexOutOfRangeError


def clip(a: NDArray, a_min: float, a_max: float) -> NDArray:
    """`numpy.clip`, by the operator `clip`."""
    return nd.invoke("clip", (a,), {"a_min": a_min, "a_max": a_max})


def rounded(a: NDArray) -> NDArray:
    """`numpy.round` to integers, by the operator `round`, which rounds halves away from 0."""
    return nd.invoke("round", (a,))


def copy(a: NDArray) -> NDArray:
    """`numpy.copy`, by the array's method."""
    return a.copy()


def fix(x: NDArray) -> NDArray:
    """`numpy.fix`, by the operator `fix`."""
    return nd.invoke("fix", (x,))


def zeros_like(a: NDArray) -> NDArray:
    """`numpy.zeros_like`, by the operator `zeros_like`."""
    return nd.invoke("zeros_like", (a,))


def ones_like(a: NDArray) -> NDArray:
    """`numpy.ones_like`, by the operator `ones_like`."""
    return nd.invoke("ones_like", (a,))


def where(condition: Any, x: Any, y: Any) -> NDArray:
    """`numpy.where` of a condition and two choices that broadcast, by the operator `where`.

    The result has the type of the choices, of which a number or list takes that of the other.
    """
    choices = [each for each in (x, y) if isinstance(each, NDArray)]
    like = choices[0] if choices else condition
    if not isinstance(like, NDArray):
        raise ArgumentError("numpy.where: neither the condition nor a choice is an NDArray")
    test = condition if isinstance(condition, NDArray) else nd.array(condition, like.context, "bool")
    x, y = (
        each if isinstance(each, NDArray) else nd.array(each, like.context, like.dtype) for each in (x, y)
    )
    if x.dtype != y.dtype:
        wide = np.promote_types(x.dtype, y.dtype)
        x, y = x.astype(wide), y.astype(wide)
    shape = np.broadcast_shapes(test.shape, x.shape, y.shape)
    test, x, y = (each if each.shape == shape else each.broadcast_to(shape) for each in (test, x, y))
    return nd.invoke("where", (test, x, y))


def take(a: NDArray, indices: Any, axis: int | None = None) -> Any:
    """`numpy.take`, by the operator `take`; indices may be negative.

    Raises:
        IndexOutOfRangeError: An index given as values is beyond the axis. Of an array of indices that error
            comes when the result is read.
    """
    flat, axis = (a.reshape(-1), 0) if axis is None else (a, axis)
    length = flat.shape[axis]
    if not isinstance(indices, NDArray):
        values = np.asarray(indices)
        if values.size and not (-length <= values.min() and values.max() < length):
            raise IndexOutOfRangeError(f"numpy.take: {indices!r} is beyond an axis of {length}")
        return nd.take(flat, nd.array(values % max(length, 1), flat.context, "int64"), axis=axis)
    return nd.take(flat, nd.where(indices < 0, indices + length, indices), axis=axis, mode="raise")


def dot(a: Any, b: Any) -> NDArray:
    """`numpy.dot` of matrices and vectors; with more axes NumPy and MXNet multiply along different ones."""
    if not all(isinstance(x, NDArray) and 1 <= x.ndim <= 2 for x in (a, b)):
        raise ArgumentError(
            "numpy.dot: expected NDArrays of 1 or 2 axes; use x @ y, or nd.dot for MXNet's rule"
        )
    return nd.invoke("dot", (a, b))


def det(a: NDArray) -> NDArray:
    """`numpy.linalg.det`, by the operator `_linalg_det`."""
    return nd.invoke("_linalg_det", (a,))


def inverse(a: NDArray) -> NDArray:
    """`numpy.linalg.inv`, by the operator `_linalg_inverse`."""
    return nd.invoke("_linalg_inverse", (a,))

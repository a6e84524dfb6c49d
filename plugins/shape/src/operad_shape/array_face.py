"""`od.nd.concatenate`, and methods of arrays that change a shape.

A method gives what an operator gives or, with `inplace=True`, a view of the array's memory.

Source: concatenate and NDArray.flatten with its kin, python/mxnet/ndarray/ndarray.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from operad import NDArray, nd


def concatenate(arrays: list[NDArray], axis: int = 0, always_copy: bool = True) -> NDArray:
    """The arrays joined along an axis by the operator `Concat`; a single one itself, unless `always_copy`."""
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    joined: NDArray = nd.Concat(*arrays, dim=axis)
    return joined


def flatten(self: NDArray, inplace: bool = False) -> NDArray:
    """The array with all axes but the first made one: the operator `Flatten`, in place a view."""
    return _reshaped(self, nd.Flatten, {}, inplace)


def expand_dims(self: NDArray, axis: int, inplace: bool = False) -> NDArray:
    """The array with a new axis of length 1: the operator `expand_dims`, in place a view."""
    return _reshaped(self, nd.expand_dims, {"axis": axis}, inplace)


def squeeze(self: NDArray, axis: int | Sequence[int] | None = None, inplace: bool = False) -> NDArray:
    """The array without axes of length 1: the operator `squeeze`, in place a view."""
    return _reshaped(self, nd.squeeze, {} if axis is None else {"axis": axis}, inplace)


def _reshaped(array: NDArray, operator: Any, params: dict[str, Any], inplace: bool) -> NDArray:
    if not inplace:
        made: NDArray = operator(array, **params)
        return made
    _, [shape], _ = operator.operator(**params).infer_shape([array.shape])
    return array.reshape(shape)

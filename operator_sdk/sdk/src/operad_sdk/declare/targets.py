"""Writing a function's results into the requested arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad.dtypes import DType
from operad.errors import DTypeError
from operad.operator import Array, Shape
from operad_sdk.addresses import data_address
from operad_sdk.sums import blocked_sum


def store(target: Array, value: Any) -> None:
    """Overwrite `target` with `value`, which is broadcast to its shape and cast to its type.

    A value that is the target's own elements already costs nothing.

    Raises:
        DTypeError: The cast is not of the same kind: a float into an integer array, say.
    """
    if value is target:
        return
    if hasattr(value, "dtype") and value.dtype == target.dtype:
        # An array that a function made owns its memory, and so is not the target's; asking for
        # addresses costs more than small operators do.
        if (value.base is None and target.base is not value) or not _is_same(target, value):
            target[...] = value
        return
    try:
        np.copyto(target, value, casting="same_kind")
    except TypeError as error:
        raise _cast_error(target, value) from error


def add(target: Array, value: Any) -> None:
    """Add `value` to `target`; else as `store`."""
    try:
        np.add(target, value, out=target, casting="same_kind")
    except TypeError as error:
        raise _cast_error(target, value) from error


def _cast_error(target: Array, value: Any) -> DTypeError:
    found = getattr(value, "dtype", type(value).__name__)
    return DTypeError(
        f"a value of {found} is returned where {target.dtype} is asked for; round it, cast it with astype, "
        "or say the type in the shape line"
    )


def truncated(value: Any, dtype: DType) -> Any:
    """`value`, if it is floating, as C converts it: to integers towards zero, to bool whether it is not 0.

    What no integer of the type can be is undefined in C, and whatever the processor makes of it.
    """
    value = np.float64(value) if isinstance(value, float) else value
    if getattr(value, "dtype", dtype).kind != "f":
        return value
    with np.errstate(invalid="ignore"):
        return value.astype(dtype)


def wrapped(value: float, dtype: DType) -> int:
    """`value`, rounded towards zero, as an integer `dtype` has it: a multiple of `2^bits` is added."""
    limits = np.iinfo(dtype)
    return (int(value) - limits.min) % (1 << limits.bits) + limits.min


def sum_to(value: Array, shape: Shape) -> Array:
    """`value` summed over the axes along which an array of `shape` was repeated to give its shape."""
    if value.shape == shape:
        return value
    new = value.ndim - len(shape)
    axes = [*range(new), *(new + i for i, n in enumerate(shape) if n == 1 and value.shape[new + i] != 1)]
    return blocked_sum(value, axes, keepdims=True).reshape(shape)


def _is_same(target: Array, value: Any) -> bool:
    """Return whether `value` is the same elements in the same memory and order as `target`."""
    return (
        isinstance(value, type(target))  # NumPy's scalars are no arrays
        and value.dtype == target.dtype
        and value.size == target.size
        and value.flags.c_contiguous
        and target.flags.c_contiguous
        and _address(value) == _address(target)
    )


def _address(array: Array) -> int:
    pointer: int = data_address(array) if isinstance(array, np.ndarray) else array.data.ptr
    return pointer

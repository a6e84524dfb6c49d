"""The element types that these operators compute in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from operad.dtypes import DType
from operad.errors import DTypeError
from operad_sdk import Array, Output


def write(function: Callable[..., object], output: Output, *arrays: Array) -> None:
    """Have `function(*arrays, out)` fill `output`; half precision is computed in single precision.

    The functions take several passes over `out`, and half precision would round after each.
    """
    if output.dtype == np.float16 or any(array.dtype == np.float16 for array in arrays):
        wide = [array.astype(np.float32) if array.dtype == np.float16 else array for array in arrays]
        value = np.empty_like(wide[0], shape=output.shape)
        function(*wide, value)
        output.assign(value)
        return
    with output.writing() as out:
        function(*arrays, out)


def scratch(out: Array, *arrays: Array) -> Array:
    """An array like `out` to write while all of `arrays` are still needed: `out` itself if that may be."""
    if any(np.may_share_memory(out, array) for array in arrays):
        return np.empty_like(out)
    return out


def check_floating(operator: str, in_types: Sequence[DType | None]) -> None:
    """Refuse data of a type in which the operator has no values.

    Raises:
        DTypeError: The first argument is of another type.
    """
    dtype = in_types[0]
    if dtype is not None and dtype.kind != "f":
        raise DTypeError(f"{operator}: data is {dtype}, expected a floating type; cast with astype")

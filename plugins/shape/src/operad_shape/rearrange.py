"""What operators that only move elements have in common."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from operad_sdk import DType, DTypeError, ShapeError

Arrays: TypeAlias = Any
"""The arrays of a group, a tuple."""


def expect_number(name: str, dtype: DType | None, **number: float) -> None:
    """Refuse a parameter that is beyond what an element type holds.

    Raises:
        DTypeError: `number`, a parameter's name and value, is too large, too small, or no number.
    """
    if dtype is None or dtype.kind not in "iu":
        return
    limits = np.iinfo(dtype)
    for parameter, value in number.items():
        if not limits.min <= value <= limits.max:
            raise DTypeError(
                f"{name}: {parameter} is {value}, and data is {dtype}, from {limits.min} to {limits.max}"
            )


def normal_axis(axis: int, ndim: int, where: str = "") -> int:
    """`axis` counted from the front.

    Args:
        where: What messages begin with, where no shape line puts the operator's name there.
    Raises:
        ShapeError: There is no such axis.
    """
    if not -ndim <= axis < ndim:
        raise ShapeError(f"{where}axis {axis} is out of range for data of {ndim} axes")
    return axis % ndim

"""Axes counted from the front, for operators that only move elements."""

from __future__ import annotations

from typing import Any, TypeAlias

from operad_sdk import ShapeError

Arrays: TypeAlias = Any
"""The arrays of a group, a tuple."""


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

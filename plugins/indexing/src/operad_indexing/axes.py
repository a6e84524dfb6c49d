"""The axis along which elements are numbered."""

from __future__ import annotations

from math import prod

from operad_sdk import Shape, ShapeError


def along(shape: Shape, axis: int | None) -> tuple[Shape, int]:
    """A shape and an axis of it that is not negative; None: all elements in order.

    Raises:
        ShapeError: There is no such axis.
    """
    if axis is None:
        return (prod(shape),), 0
    if not -len(shape) <= axis < len(shape):
        raise ShapeError(
            f"axis is {axis}, expected {-len(shape)} to {len(shape) - 1} for data of shape {shape}"
        )
    return shape, axis % len(shape)

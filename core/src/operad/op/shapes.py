"""Shapes of which some axes may be unknown."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any, Final

from operad.errors import ShapeError
from operad.scopes import Levels

Shape = tuple[int, ...]
PartialShape = tuple[int | None, ...] | None
"""A shape in inference: None is unknown altogether; a None inside is an unknown axis."""


shape_meanings: Final[Levels[bool]] = Levels(bool)
"""By thread and scope: whether lengths mean what they mean in NumPy, in shapes that users and files give."""


def is_np_shape() -> bool:
    """Return whether a length of 0 is a length, and -1 unknown; else, as MXNet began, 0 is unknown."""
    return shape_meanings.top[0]


def given_shape(axes: Iterable[int | None]) -> PartialShape:
    """A shape as users and files write it, see `is_np_shape`; () is a scalar's, or else all unknown."""
    if is_np_shape():
        return tuple(None if axis is None or axis < 0 else axis for axis in axes)
    return tuple(axis if axis and axis > 0 else None for axis in axes) or None


def known_shape(value: Any) -> PartialShape:
    """A shape as `given_shape` takes it, or one length; None for an unknown axis or shape."""
    if value is None:
        return None
    try:
        axes = value if isinstance(value, Iterable) else (value,)
        return given_shape([None if axis is None else index(axis) for axis in axes])
    except TypeError as error:
        raise ShapeError(f"a shape is {value!r}, expected integers, or None for what is unknown") from error


def is_known(shape: PartialShape) -> bool:
    """Return whether every axis of `shape` is known."""
    return shape is not None and None not in shape


def unify_shapes(first: PartialShape, second: PartialShape, what: str) -> PartialShape:
    """The shape that agrees with both; None axes are filled in from the other.

    Args:
        what: What the shapes belong to, for the message.
    Raises:
        ShapeError: They differ in rank or on an axis.
    """
    if first is None or second is None:
        return second if first is None else first
    if len(first) != len(second):
        raise ShapeError(f"{what} has {len(first)} axes {first}, expected {len(second)} axes {second}")
    for axis, (a, b) in enumerate(zip(first, second, strict=True)):
        if a is not None and b is not None and a != b:
            raise ShapeError(f"{what} has shape {first}, expected {second}: axis {axis} is {a}, expected {b}")
    return tuple(b if a is None else a for a, b in zip(first, second, strict=True))

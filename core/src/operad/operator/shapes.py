"""Shapes of which some axes may be unknown."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Final

from operad.errors import ShapeError

Shape = tuple[int, ...]
PartialShape = tuple[int | None, ...] | None
"""A shape in inference: None is unknown altogether; a None inside is an unknown axis."""


class _Meaning(threading.local):
    """What lengths mean in shapes that users and files give."""

    is_np_shape = False


_meaning: Final = _Meaning()


def is_np_shape() -> bool:
    """Whether a length of 0 is a length, and -1 unknown; else, as MXNet began, 0 is unknown."""
    return _meaning.is_np_shape


def set_np_shape(active: bool) -> bool:
    """Choose what lengths mean in shapes that the thread gives from now on; gives what was chosen before."""
    before, _meaning.is_np_shape = _meaning.is_np_shape, active
    return before


def given_shape(axes: Iterable[int | None]) -> PartialShape:
    """A shape as users and files write it, see `is_np_shape`; () is a scalar's, or else all unknown."""
    if _meaning.is_np_shape:
        return tuple(None if axis is None or axis < 0 else axis for axis in axes)
    return tuple(axis if axis and axis > 0 else None for axis in axes) or None


def is_known(shape: PartialShape) -> bool:
    """Whether every axis of `shape` is known."""
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

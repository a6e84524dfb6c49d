"""Shapes of which some axes may be unknown."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ContextDecorator
from operator import index
from typing import Any, Final, final

from operad.errors import ShapeError
from operad.scopes import Exit, Levels

Shape = tuple[int, ...]
PartialShape = tuple[int | None, ...] | None
"""A shape in inference: None is unknown altogether; a None inside is an unknown axis."""


_meanings: Final[Levels[bool]] = Levels(bool)
"""Return whether lengths mean what they mean in NumPy, in shapes that users and files give."""


def is_np_shape() -> bool:
    """Return whether a length of 0 is a length, and -1 unknown; else, as MXNet began, 0 is unknown."""
    return _meanings.top[0]


def set_np_shape(active: bool) -> bool:
    """Choose what lengths mean in shapes that the thread gives from now on; gives what was chosen before."""
    before, around = _meanings.top
    _meanings.top = active, around
    return before


@final
class np_shape(ContextDecorator):  # noqa: N801 - MXNet's name
    """A scope or decorator that chooses what lengths mean inside, see `is_np_shape`.

    Source: np_shape, python/mxnet/util.py.
    """

    def __init__(self, active: bool = True) -> None:
        self._active = bool(active)

    def __enter__(self) -> None:
        _meanings.top = self._active, _meanings.top

    __exit__ = Exit(lambda _: _meanings.ending)


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

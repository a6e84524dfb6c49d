"""Shapes of which some axes may be unknown."""

from __future__ import annotations

from operad.errors import ShapeError

Shape = tuple[int, ...]
PartialShape = tuple[int | None, ...] | None
"""A shape in inference: None is unknown altogether; a None inside is an unknown axis."""


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

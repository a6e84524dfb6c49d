"""The shape that MXNet's codes for `Reshape` give."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from operad_sdk import PartialShape, Shape, ShapeError


def reshaped(data: Shape, shape: Shape, reverse: bool, target_shape: Shape, keep_highest: bool) -> Shape:
    """The codes of `shape`, or `target_shape`, applied to the shape of the data."""
    if not shape and target_shape:
        return _legacy(data, target_shape, keep_highest)
    turn = -1 if reverse else 1
    found = _filled(_decoded(data[::turn], shape[::turn], shape), prod(data))
    if prod(found) != prod(data):
        raise ShapeError(
            f"data has shape {data} with {prod(data)} elements, but {shape=} "
            f"comes to {tuple(found)} with {prod(found)}"
        )
    return tuple(found[::turn])


def partly_reshaped(data: PartialShape, shape: Shape, reverse: bool) -> PartialShape:
    """The codes of `shape` applied to data of which some lengths are unknown; None where nothing follows."""
    if data is None or not shape:
        return None
    turn = -1 if reverse else 1
    try:
        found = _decoded([length or 0 for length in data[::turn]], shape[::turn], shape)
    except ShapeError:  # of an unknown length that is cut in two
        return None
    return tuple(length if length > 0 else None for length in found[::turn])


def _decoded(lengths: Sequence[int], codes: Shape, shape: Shape) -> list[int]:
    """The codes as lengths, where -1 is still what remains; `shape` for messages."""

    def length(at: int) -> int:
        if at >= len(lengths):
            raise ShapeError(f"{shape=} asks for axis {at} of data with {len(lengths)} axes")
        return lengths[at]

    found: list[int] = []
    at, rest = 0, list(codes)
    while rest:
        code = rest.pop(0)
        if code == -2:
            found += lengths[at:]
            at = len(lengths)
        elif code == -3:
            found.append(length(at) * length(at + 1))
            at += 2
        elif code == -4:
            found += _split(length(at), rest[:2], shape)
            at, rest = at + 1, rest[2:]
        elif code >= -1:
            found.append(length(at) if code == 0 else code)
            at += 1
        else:
            raise ShapeError(f"{shape=} has the unknown code {code}")
    return found


def _split(length: int, parts: list[int], shape: Shape) -> list[int]:
    if len(parts) != 2 or parts.count(-1) > 1:
        raise ShapeError(f"in {shape=}, -4 needs two lengths, at most one of them -1")
    known = prod(part for part in parts if part != -1)
    found = [length // max(known, 1) if part == -1 else part for part in parts]
    if prod(found) != length:
        raise ShapeError(
            f"{shape=} cannot split a length of {length} into {tuple(found)}; expected factors of {length}"
        )
    return found


def _filled(found: list[int], size: int) -> list[int]:
    """Shape with the length that remains in place of -1."""
    if -1 not in found:
        return found
    known = prod(length for length in found if length != -1)
    if found.count(-1) > 1 or known == 0 or size % known:
        raise ShapeError(f"no length of the open axis of {tuple(found)} fits data of {size} elements")
    return [size // known if length == -1 else length for length in found]


def _legacy(data: Shape, target_shape: Shape, keep_highest: bool) -> Shape:
    if keep_highest and not data:
        raise ShapeError("data has no axes, expected a first one for keep_highest to keep")
    target = (data[0], *target_shape[1:]) if keep_highest else target_shape
    found = _filled([-1 if length == 0 else length for length in target], prod(data))
    if prod(found) != prod(data):
        raise ShapeError(f"data has shape {data}, which does not fit {target_shape=}")
    return tuple(found)

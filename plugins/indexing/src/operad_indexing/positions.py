"""Indices, of whatever element type, as positions along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from operad_sdk import Array, Cost, OperatorProperty, Shape, moved_bytes, param

MODES: Final = ("clip", "wrap")
CLIP_OR_WRAP: Final = param(
    str,
    "clip",
    choices=MODES,
    doc="Treatment of indices out of range: the nearest index, or modulo the length.",
)


def whole(indices: Array) -> Array:
    """Indices as int64, fractions cut off; NaN and what is too large become any number, as in C."""
    if indices.dtype == np.int64:
        return indices
    with np.errstate(invalid="ignore"):
        return indices.astype(np.int64)


def axis_positions(indices: Array, length: int, mode: str) -> Array:
    """Positions along an axis of `length`, which is not 0 unless there are no indices."""
    if mode == "wrap":
        return whole(indices) % max(length, 1)
    positions = whole(indices)
    is_filled = isinstance(positions, np.ndarray) and positions.size
    if is_filled and np.maximum.reduce(positions.view(np.uint64), None) < length:
        return positions  # one pass in place of two; a negative number is a large one without a sign
    return np.clip(positions, 0, max(length - 1, 0))


class Lookup(OperatorProperty):
    """An operator that reads no more of its first argument than it gives."""

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Cost of the indices and outputs: a call reads a few rows of a table, however large it is."""
        return Cost(size_bytes=2 * moved_bytes([*in_shapes[1:], *out_shapes]), beside_us=4)

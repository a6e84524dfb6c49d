"""Base of losses: types, shapes and positions of labels, and the softmax along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad_sdk import Array, DType, InferredTypes, OperatorProperty, PartialShape, blocked_sum


class LabelledProperty(OperatorProperty):
    """A loss of `data` and `label`, which may have different element types."""

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """Infer types; a label without a given type has that of the data."""
        data, label = in_types
        return super().infer_type([data, data if label is None else label])


def fits(partial: PartialShape, shape: tuple[int | None, ...]) -> bool:
    """Return whether the known part of a label's shape allows `shape`."""
    if partial is None:
        return True
    return len(partial) == len(shape) and all(
        known in (None, length) for known, length in zip(partial, shape, strict=True)
    )


def write_softmax(data: Array, axis: int, out: Array) -> None:
    """Write the softmax of `data` along `axis` into `out`, which may be `data`.

    The largest element of each row is subtracted first, so nothing overflows.
    """
    if data.size == 0:
        return
    np.subtract(data, data.max(axis, keepdims=True), out=out)
    np.exp(out, out=out)
    np.divide(out, blocked_sum(out, axis, keepdims=True), out=out)


def label_positions(xp: Any, label: Array, classes: int) -> tuple[Any, Array]:
    """Index of the labelled classes' elements in an array of shape `label.shape + (classes,)`.

    Returns:
        An index of those elements, and 1 where the label is a class (0: the index there is of
        class 0).
    """
    chosen = label.astype(np.int64)
    known = (chosen >= 0) & (chosen < classes)
    chosen *= known
    rank = label.ndim
    rows = [xp.arange(n).reshape([-1, *[1] * (rank - 1 - axis)]) for axis, n in enumerate(label.shape)]
    return (*rows, chosen), known

"""Base of the three operators: two layouts, and lengths of any type of numbers."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_sdk import Array, Index, param

USE_SEQUENCE_LENGTH: Final = param(
    bool, False, doc="Use the argument sequence_length, the number of valid steps of each sequence."
)
AXIS: Final = param(int, 0, ge=0, le=1, doc="The axis of the steps; the other one of 0 and 1 is the batch.")
INPUTS: Final = ("data", "sequence_length")
LENGTHS: Final = {"sequence_length": Index("data", axis="axis", inclusive=True)}


def line(axis: int, output: str) -> str:
    """The shape line, of data whose steps are on `axis`."""
    lead = "T, N" if axis == 0 else "N, T"
    shape = f"{lead}, *S" if output == "data" else "N, *S"
    return f"data:({lead}, *S), sequence_length:any(N) if use_sequence_length -> output:({shape})"


def steps_first(array: Array, axis: int) -> Array:
    """A view whose first axis is that of the steps, and its second the batch."""
    return array if axis == 0 else array.swapaxes(0, 1)


def counts(sequence_length: Array, steps: int) -> Array:
    """Number of steps of each sequence that count, as integers from 0 to `steps`."""
    with np.errstate(invalid="ignore"):  # NaN is no length, and clipped like any other number
        whole = sequence_length.astype(np.int64)
    return np.clip(whole, 0, steps)


def is_beyond(xp: Any, sequence_length: Array, data: Array, axis: int) -> Array:
    """Mask of the steps beyond the ends of their sequences; shaped to broadcast to `data`."""
    steps = data.shape[axis]
    beyond = xp.arange(steps)[:, None] >= counts(sequence_length, steps)
    return steps_first(beyond, axis)[(..., *(None,) * (data.ndim - 2))]

"""The arrays that a cell works on, and the bounds of its states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self, final

import numpy as np

from operad_sdk import Array


@final
class Weights(NamedTuple):
    """The arrays of one cell, or their gradients; matrices have a row for each unit of each gate."""

    i2h: Array
    h2h: Array
    h2r: Array  # None where there is no projection
    i2h_bias: Array
    h2h_bias: Array

    @classmethod
    def of(cls, arrays: Mapping[str, Array], cell: str) -> Self:
        """Arrays of `cell` among all arrays of a network by name."""
        names = ("i2h_weight", "h2h_weight", "h2r_weight", "i2h_bias", "h2h_bias")
        return cls(*(arrays.get(f"{cell}_{name}") for name in names))


@final
class Saved(NamedTuple):
    """Arrays that forward leaves for backward: (steps, batch, units) each; None where the cell has none.

    Attributes:
        gates: After activation, side by side.
        inner: An LSTM's cell states; a GRU's product of the hidden state for the candidate.
    """

    gates: Array
    inner: Array


@final
class Ends(NamedTuple):
    """Arrays at the ends of a cell's backward pass: those that it reads, and gradients that it makes again.

    Attributes:
        out_grad: The gradient of all hidden states, 0 where rows do not run.
        hidden: The hidden state that forward began with, and `state` the cell state.
        hidden_grad: The gradient of the last hidden state; becomes that of the first. `state_grad` alike.
    """

    out_grad: Array
    hidden: Array
    state: Array
    hidden_grad: Array
    state_grad: Array


@final
class Bounds(NamedTuple):
    """Bounds of an LSTM's cell states; `stops_nan`: a NaN becomes the lower bound."""

    lower: float
    upper: float
    stops_nan: bool


def flat(array: Array) -> Array:
    """(steps, batch, n) as the matrix (steps * batch, n)."""
    return array.reshape(array.shape[0] * array.shape[1], array.shape[2])


def copies(*arrays: Array | None) -> list[Array | None]:
    """Copies of what is there."""
    return [None if array is None else array.copy() for array in arrays]


def keep(runs: Array, new: Array, old: Any) -> None:
    """Put `old` into `new` where a row does not run."""
    new[...] = np.where(runs, new, old)

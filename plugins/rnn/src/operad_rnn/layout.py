"""The one vector that holds all weights and all biases of `RNN`.

A network has `num_layers` layers of one or two directions, each of which is a *cell*. The vector holds, cell
by cell (both directions of a layer before the next layer), the matrix of the inputs, the matrix of the
hidden state and, where there is one, the projection's; then, in the same order, the two biases of each cell::

    l0_i2h_weight l0_h2h_weight [l0_h2r_weight] r0_i2h_weight ... l1_i2h_weight ...
    l0_i2h_bias l0_h2h_bias r0_i2h_bias ...

`l` is the forward direction and `r` the reverse one. The rows of weights and biases are those of the gates,
in the order of `GATES`, `state_size` rows for each.

Source: FusedRNNCell.unpack_weights, python/mxnet/rnn/rnn_cell.py, and GetRnnParamSize,
src/operator/rnn-inl.h. Differs: a projection has a name, and gates are not cut apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Final, NamedTuple, final

import numpy as np

from operad_sdk import Array, OperadError, Shape

GATES: Final[Mapping[str, tuple[str, ...]]] = {
    "rnn_relu": ("",),
    "rnn_tanh": ("",),
    "lstm": ("_i", "_f", "_c", "_o"),
    "gru": ("_r", "_z", "_o"),
}
"""Suffixes behind `i2h` and `h2h` for each gate in MXNet's unfused cells, by mode, in the rows' order."""


@final
class Part(NamedTuple):
    """One array inside the vector.

    Attributes:
        name: Such as `l0_i2h_weight`.
        start: Where it begins, in elements.
        shape: Its shape; it is stored row by row.
    """

    name: str
    start: int
    shape: Shape

    @property
    def stop(self) -> int:
        """End of the part in `parameters`."""
        return self.start + prod(self.shape)


@final
@dataclass(frozen=True, slots=True)
class PackedLayout:
    """Positions of everything in the vector `parameters` of an `RNN`.

    Attributes:
        mode: `rnn_relu`, `rnn_tanh`, `lstm` or `gru`.
        input_size: Features of the data.
        state_size: Units of a cell.
        num_layers: How many layers there are.
        bidirectional: Whether each layer has a reverse direction too.
        projection_size: Length that the hidden state of an LSTM is projected to; None: it is not.

    Example:
        >>> layout = PackedLayout("gru", input_size=3, state_size=2, num_layers=1)
        >>> [(part.name, part.shape) for part in layout.parts()]
        [('l0_i2h_weight', (6, 3)), ('l0_h2h_weight', (6, 2)), ('l0_i2h_bias', (6,)), ('l0_h2h_bias', (6,))]
        >>> layout.size
        42
    """

    mode: str
    input_size: int
    state_size: int
    num_layers: int
    bidirectional: bool = False
    projection_size: int | None = None

    @property
    def recurrent_size(self) -> int:
        """Length of the hidden state: `projection_size`, or `state_size`."""
        return self.state_size if self.projection_size is None else self.projection_size

    @property
    def size(self) -> int:
        """Elements of the vector."""
        return _parts(self)[-1].stop

    def cell_names(self) -> list[str]:
        """`l0`, `r0`, `l1`, ...: what the names of each cell's arrays begin with."""
        directions = "lr" if self.bidirectional else "l"
        return [f"{direction}{layer}" for layer in range(self.num_layers) for direction in directions]

    def parts(self) -> Iterator[Part]:
        """Every array, in the vector's order; they cover it without a gap."""
        return iter(_parts(self))

    def unpack(self, parameters: Array) -> dict[str, Array]:
        """Views of the arrays in `parameters`, by name.

        Raises:
            OperadError: The vector has another length.
        """
        if parameters.shape != (self.size,):
            raise OperadError(
                f"unpack: parameters has shape {tuple(parameters.shape)}, expected ({self.size},) for {self}"
            )
        return {part.name: parameters[part.start : part.stop].reshape(part.shape) for part in self.parts()}

    def pack(self, arrays: Mapping[str, Array]) -> Array:
        """A new vector of the arrays, which are given by name.

        Raises:
            OperadError: An array is missing, unknown, or has another shape.
        """
        parts = list(self.parts())
        unknown = sorted(set(arrays) - {part.name for part in parts})
        if unknown:
            raise OperadError(f"pack: there is no {unknown[0]!r} in {self}")
        for part in parts:
            if part.name not in arrays:
                raise OperadError(f"pack: {part.name!r} of shape {part.shape} is missing for {self}")
            shape = tuple(arrays[part.name].shape)
            if shape != part.shape:
                raise OperadError(f"pack: {part.name!r} has shape {shape}, expected {part.shape} for {self}")
        return np.concatenate([arrays[part.name].reshape(-1) for part in parts])


@lru_cache(1024)
def _parts(layout: PackedLayout) -> tuple[Part, ...]:
    parts, start = [], 0
    for name, shape in (*_weights(layout), *_biases(layout)):
        parts.append(Part(name, start, shape))
        start = parts[-1].stop
    return tuple(parts)


def _weights(layout: PackedLayout) -> Iterator[tuple[str, Shape]]:
    rows = len(GATES[layout.mode]) * layout.state_size
    directions = 2 if layout.bidirectional else 1
    for number, cell in enumerate(layout.cell_names()):
        inputs = layout.input_size if number < directions else directions * layout.recurrent_size
        yield f"{cell}_i2h_weight", (rows, inputs)
        yield f"{cell}_h2h_weight", (rows, layout.recurrent_size)
        if layout.projection_size is not None:
            yield f"{cell}_h2r_weight", (layout.projection_size, layout.state_size)


def _biases(layout: PackedLayout) -> Iterator[tuple[str, Shape]]:
    rows = len(GATES[layout.mode]) * layout.state_size
    for cell in layout.cell_names():
        yield f"{cell}_i2h_bias", (rows,)
        yield f"{cell}_h2h_bias", (rows,)

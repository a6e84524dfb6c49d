"""The parameters of `RNN`, and the sizes that follow from them."""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import Any, Final

from operad_rnn.arrays import Bounds
from operad_rnn.layout import GATES, PackedLayout
from operad_sdk import OperatorProperty, ParamError, param

_packed_layout: Final = lru_cache(maxsize=256)(PackedLayout)


class RecurrentProperty(OperatorProperty):
    """Declaration of a network. Its cells are the directions of all layers."""

    state_size = param(int, ge=1, doc="Units of a layer, in each direction.")
    num_layers = param(int, ge=1, doc="Number of layers.")
    bidirectional = param(bool, False, doc="Run each layer backwards through the sequence too.")
    mode = param(str, choices=tuple(GATES), doc="Kind of cell.")
    p = param(
        float, 0.0, ge=0, le=1, doc="Share of a layer's output that is dropped for the next, in training."
    )
    state_outputs = param(bool, False, doc="Return the last states too.")
    projection_size = param(
        int, None, ge=1, optional=True, doc="Length that an LSTM's hidden states are projected to."
    )
    lstm_state_clip_min = param(float, None, optional=True, doc="Least value of an LSTM's cell states.")
    lstm_state_clip_max = param(float, None, optional=True, doc="Largest value of an LSTM's cell states.")
    lstm_state_clip_nan = param(bool, False, doc="Clip NaN to the bounds too.")
    use_sequence_length = param(bool, False, doc="Use a separate length for each sequence.")

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if not self.is_lstm and self.projection_size is not None:
            raise ParamError(
                f"{self.name}: projection_size is {self.projection_size}, but mode is {self.mode!r}; only an "
                "lstm is projected"
            )
        bounds = self.bounds()
        if bounds is not None and bounds.lower > bounds.upper:
            raise ParamError(
                f"{self.name}: lstm_state_clip_min is {bounds.lower}, expected at most lstm_state_clip_max, "
                f"{bounds.upper}"
            )

    @property
    def is_lstm(self) -> bool:
        """True if there are cell states."""
        return bool(self.mode == "lstm")

    @property
    def is_gated(self) -> bool:
        """True if the gradient needs more than the hidden states."""
        return self.mode in ("lstm", "gru")

    @property
    def returns_state_cell(self) -> bool:
        """True if the last cell states are an output."""
        return bool(self.state_outputs and self.is_lstm)

    @property
    def drops(self) -> bool:
        """True if dropout may hide some of a layer's outputs from the layer above."""
        return bool(self.p > 0 and self.num_layers > 1)

    @property
    def directions(self) -> int:
        """Number of directions of each layer."""
        return 2 if self.bidirectional else 1

    @property
    def cells(self) -> int:
        """Directions of all layers."""
        return int(self.num_layers * self.directions)

    @property
    def recurrent_size(self) -> int:
        """Length of a hidden state."""
        return self.layout(0).recurrent_size

    @property
    def gates_size(self) -> int:
        """Units of all gates of a cell."""
        return len(GATES[self.mode]) * int(self.state_size)

    @property
    def first_rows(self) -> int:
        """Rows of the matrices that are as long as the data has features."""
        return self.directions * self.gates_size

    @property
    def other_parameters(self) -> int:
        """Parameters that do not depend on the features of the data."""
        return self.layout(0).size

    def layout(self, input_size: int) -> PackedLayout:
        """Positions of everything in `parameters`, for data of so many features."""
        return _packed_layout(
            self.mode, input_size, self.state_size, self.num_layers, self.bidirectional, self.projection_size
        )

    def bounds(self) -> Bounds | None:
        """Bounds of cell states; a bound that is not given is infinite."""
        lower, upper = self.lstm_state_clip_min, self.lstm_state_clip_max
        if lower is None and upper is None:
            return None
        return Bounds(
            -inf if lower is None else lower, inf if upper is None else upper, self.lstm_state_clip_nan
        )

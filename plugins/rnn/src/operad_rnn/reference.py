"""`RNN` written out: one sample, one step and one unit formula at a time, for the contract checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from operad_rnn.layout import PackedLayout
from operad_sdk import Array

State = tuple[Array, Array]
"""The hidden state and the cell's; the second is used by an LSTM alone."""


def unrolled(
    data: Array,
    parameters: Array,
    state: Array,
    *others: Array,
    mode: str,
    state_size: int,
    num_layers: int,
    bidirectional: bool,
    projection_size: int | None,
    state_outputs: bool,
    lstm_state_clip_min: float | None,
    lstm_state_clip_max: float | None,
    lstm_state_clip_nan: bool,
    use_sequence_length: bool,
) -> Any:
    """All outputs that callers see; `others` are the cell states and the lengths, those that there are."""
    layout = PackedLayout(mode, data.shape[2], state_size, num_layers, bidirectional, projection_size)
    weights = layout.unpack(parameters)
    steps, batch = data.shape[:2]
    cells = others[0] if mode == "lstm" else np.zeros((len(state), batch, state_size))
    lengths = [int(length) for length in others[-1]] if use_sequence_length else [steps] * batch
    bounds = (lstm_state_clip_min, lstm_state_clip_max, lstm_state_clip_nan)
    directions = 2 if bidirectional else 1
    last, last_cells = state.astype(np.float64), cells.astype(np.float64)
    inputs = data
    for layer in range(num_layers):
        outputs = np.zeros((steps, batch, directions * layout.recurrent_size))
        for direction in range(directions):
            number = layer * directions + direction
            prefix = f"{layout.cell_names()[number]}_"
            own = {key.removeprefix(prefix): w for key, w in weights.items() if key.startswith(prefix)}
            columns = slice(direction * layout.recurrent_size, (direction + 1) * layout.recurrent_size)
            for sample, length in enumerate(lengths):
                now = (last[number, sample], last_cells[number, sample])
                order = range(min(length, steps))
                for step in reversed(order) if direction else order:
                    now = _STEPS[mode](inputs[step, sample], now, own, bounds)
                    outputs[step, sample, columns] = now[0]
                last[number, sample], last_cells[number, sample] = now
        inputs = outputs
    if not state_outputs:
        return inputs
    return (inputs, last, last_cells) if mode == "lstm" else (inputs, last)


def _plain(activation: Callable[[Array], Array]) -> Callable[..., State]:
    def step(x: Array, now: State, own: dict[str, Array], bounds: Any) -> State:
        return activation(_inputs(x, own) + _recurrent(now[0], own)), now[1]

    return step


def _lstm(x: Array, now: State, own: dict[str, Array], bounds: Any) -> State:
    i, f, g, o = np.split(_inputs(x, own) + _recurrent(now[0], own), 4)
    cell = _sigmoid(f) * now[1] + _sigmoid(i) * np.tanh(g)
    lower, upper, stops_nan = bounds
    if lower is not None or upper is not None:
        cell = np.clip(cell, lower, upper)
    if stops_nan and lower is not None:
        cell = np.where(np.isnan(cell), lower, cell)
    hidden = _sigmoid(o) * np.tanh(cell)
    return own["h2r_weight"] @ hidden if "h2r_weight" in own else hidden, cell


def _gru(x: Array, now: State, own: dict[str, Array], bounds: Any) -> State:
    (r, z, n), (hr, hz, hn) = np.split(_inputs(x, own), 3), np.split(_recurrent(now[0], own), 3)
    update = _sigmoid(z + hz)
    return (1 - update) * np.tanh(n + _sigmoid(r + hr) * hn) + update * now[0], now[1]


def _inputs(x: Array, own: dict[str, Array]) -> Array:
    return own["i2h_weight"] @ x + own["i2h_bias"]


def _recurrent(hidden: Array, own: dict[str, Array]) -> Array:
    return own["h2h_weight"] @ hidden + own["h2h_bias"]


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


_STEPS: dict[str, Callable[..., State]] = {
    "rnn_relu": _plain(lambda x: np.asarray(x * (x > 0))),
    "rnn_tanh": _plain(np.tanh),
    "lstm": _lstm,
    "gru": _gru,
}

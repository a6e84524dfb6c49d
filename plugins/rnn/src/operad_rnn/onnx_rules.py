"""Recurrent networks as ONNX nodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from operad_rnn.onnx_steps import stepped
from operad_sdk import Array

Rule = str | Callable[[Any], Any]

_KINDS: Final = {"lstm": "LSTM", "gru": "GRU", "rnn_tanh": "RNN", "rnn_relu": "RNN"}
_ORDERS: Final = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2), "rnn_tanh": (0,), "rnn_relu": (0,)}
"""Places of ONNX's gates among those of the vector."""


def _rows(array: Array, order: tuple[int, ...]) -> Array:
    """The rows of a cell's array, by gates in another order."""
    gates = array.reshape(len(order), -1, *array.shape[1:])
    return gates[list(order)].reshape(array.shape)


def _layer(node: Any, arrays: Mapping[str, Array], cells: list[str]) -> list[str]:
    """Weights of inputs and of states, and both biases, of the directions of a layer."""
    order = _ORDERS[node.op.mode]
    stacked = [
        np.stack([_rows(arrays[f"{cell}_{name}"], order) for cell in cells])
        for name in ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")
    ]
    return [*map(node.const, stacked[:2]), node.const(np.concatenate(stacked[2:], axis=1))]


def rnn(node: Any) -> Any:
    """One LSTM, GRU or RNN for each layer; the vector of weights is cut when the model is written."""
    op = node.op
    if op.projection_size is not None or op.lstm_state_clip_min is not None:
        node.refuse("a projection, and clipped states, have no counterpart")
    if op.use_sequence_length:
        node.refuse("lengths of sequences have no counterpart here")
    data, _, *states = node.inputs
    layout = op.layout(node.shapes[0][2])
    arrays, count = layout.unpack(node.array(1)), 2 if op.bidirectional else 1
    cells, lasts = layout.cell_names(), []
    for layer in range(op.num_layers):
        begin = [node.slice(state, [layer * count], [(layer + 1) * count], [0]) for state in states]
        made = node.add(
            _KINDS[op.mode],
            data,
            *_layer(node, arrays, cells[layer * count : (layer + 1) * count]),
            "",
            *begin,
            outputs=1 + len(states),
            hidden_size=op.state_size,
            direction="bidirectional" if op.bidirectional else "forward",
            activations=["Relu"] * count if op.mode == "rnn_relu" else None,
            linear_before_reset=1 if op.mode == "gru" else None,
        )
        lasts.append(made[1:])
        data = node.add("Transpose", made[0], perm=(0, 2, 1, 3))
        data = node.add("Reshape", data, node.ints(0, 0, -1))
    if not op.state_outputs:
        return [data]
    ends = [
        node.add("Concat", *parts, axis=0) if len(parts) > 1 else parts[0]
        for parts in zip(*lasts, strict=True)
    ]
    return [data, *ends]


EXPORTS: Final[Mapping[str, Rule]] = {"RNN": rnn}


_USUAL: Final = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
"""Activations of a direction that are left out."""


def _mode(node: Any, activations: list[str], count: int) -> str | None:
    """The mode of `RNN` that a node is; None where that has none."""
    kind = node.op_type
    if kind == "RNN" and activations == ["Relu"] * count and node.attr("clip") is None:
        return "rnn_relu"
    has_peepholes = kind == "LSTM" and node.has(7) and not (node.is_const(7) and not np.any(node.value(7)))
    is_other = node.attr("clip") is not None or node.attr("input_forget", 0) or has_peepholes
    if activations != _USUAL[kind] * count or is_other:
        return None
    if kind == "GRU" and not node.attr("linear_before_reset", 0):
        return None
    return {"RNN": "rnn_tanh", "GRU": "gru", "LSTM": "lstm"}[kind]


def _packed(node: Any, mode: str, count: int) -> Any:
    """The vector: cell by cell the weights, and then the biases; from zeros where there are none."""
    order = tuple(_ORDERS[mode].index(gate) for gate in range(len(_ORDERS[mode])))
    size, rows = node.shape(2)[2], node.shape(1)[1]
    if not node.has(3):
        bias: Any = np.zeros((count, 2 * rows))
    elif node.is_const(3):
        bias = node.value(3)
    if node.is_const(1) and node.is_const(2) and (not node.has(3) or node.is_const(3)):
        w, r = node.value(1), node.value(2)
        parts = [_rows(each[d], order).reshape(-1) for d in range(count) for each in (w, r)]
        parts += [
            _rows(bias[d][half], order) for d in range(count) for half in (slice(rows), slice(rows, None))
        ]
        return node.const(np.concatenate(parts), node.dtype())
    places = np.concatenate([np.arange(size) + gate * size for gate in order])
    made = [_cut(node, node.sym(index), d, places) for d in range(count) for index in (1, 2)]
    biases = node.sym(3) if node.has(3) else node.const(bias, node.dtype())
    made += [_cut(node, biases, d, places + half) for d in range(count) for half in (0, rows)]
    return node.call("Concat", *made, dim=0)


def _cut(node: Any, symbol: Any, direction: int, places: Array) -> Any:
    part = node.call("slice_axis", symbol, axis=0, begin=direction, end=direction + 1)
    return node.reshape(node.call("take", part, node.const(places, "int64"), axis=1), (-1,))


def _zeros(node: Any, data: Any, count: int, size: int) -> Any:
    """A state of zeros, for as many rows as the data has."""
    row = node.call("slice", data, begin=(0, None, 0), end=(1, None, 1))
    return node.call("tile", node.call("zeros_like", row), reps=(count, 1, size))


def imported(node: Any) -> Any:
    """RNN of one layer; a reverse direction alone is forward on the reversed steps."""
    direction = node.attr("direction", "forward")
    count, size, batch_first = (
        (2 if direction == "bidirectional" else 1),
        node.shape(2)[2],
        node.attr("layout", 0),
    )
    given = node.attr("activations", _USUAL[node.op_type] * count)
    activations = [one.decode() if isinstance(one, bytes) else one for one in given]
    data = node.call("transpose", node.sym(), axes=(1, 0, 2)) if batch_first else node.sym()
    lengths = [node.sym(4)] if node.has(4) else []
    states = []
    for index in (5, 6) if node.op_type == "LSTM" else (5,):
        state = node.sym(index) if node.has(index) else _zeros(node, data, count, size)
        states.append(
            node.call("transpose", state, axes=(1, 0, 2)) if batch_first and node.has(index) else state
        )
    mode = _mode(node, activations, count)
    if mode is None:
        output, *lasts = stepped(node, data, states, lengths, activations)
    else:
        output, *lasts = _as_operator(node, mode, data, states, lengths)
    if batch_first:
        output = node.call("transpose", output, axes=(2, 0, 1, 3))
        lasts = [node.call("transpose", last, axes=(1, 0, 2)) for last in lasts]
    return [output, *lasts]


def _as_operator(node: Any, mode: str, data: Any, states: list[Any], lengths: list[Any]) -> list[Any]:
    """By `RNN`: the outputs by direction, (steps, directions, batch, size), and last states."""
    direction, size = node.attr("direction", "forward"), node.shape(2)[2]
    count, is_reverse = 2 if direction == "bidirectional" else 1, direction == "reverse"
    turned = (
        node.call("SequenceReverse", data, *lengths, use_sequence_length=bool(lengths))
        if is_reverse
        else data
    )
    made = node.call(
        "RNN",
        turned,
        _packed(node, mode, count),
        *states,
        *lengths,
        mode=mode,
        state_size=size,
        num_layers=1,
        bidirectional=count == 2,
        state_outputs=True,
        use_sequence_length=bool(lengths),
    )
    output = made[0]
    if is_reverse:
        output = node.call("SequenceReverse", output, *lengths, use_sequence_length=bool(lengths))
    output = node.call("Reshape", output, shape=(0, 0, -4, count, size))
    return [node.call("transpose", output, axes=(0, 2, 1, 3)), *(made[1 + i] for i in range(len(states)))]


IMPORTS: Final[Mapping[str, Rule]] = dict.fromkeys(("LSTM", "GRU", "RNN"), imported)

"""ONNX's recurrent operators step by step: forms that the operator `RNN` has not.

The reset gate of a GRU before the product with the states, peepholes, coupled gates, clipped sums and other
activations. The steps stand one behind the other, so their number must be known when the model is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

_ACTIVATIONS: Final = {"Sigmoid": "sigmoid", "Tanh": "tanh", "Relu": "relu", "Softsign": "softsign"}
_GATES: Final = {"RNN": 1, "GRU": 3, "LSTM": 4}


class _Cell:
    """One direction of a node: its weights, and what a step computes.

    Args:
        node: The ONNX node.
        direction: Which of its directions.
        activations: Of this direction, by ONNX's names.
    """

    def __init__(self, node: Any, direction: int, activations: Sequence[str]) -> None:
        self._node, self._size = node, node.shape(2)[2]
        self._gates, self._direction = _GATES[node.op_type], direction
        self._functions = [self._function(name) for name in activations]
        rows = self._gates * self._size
        self._weight = node.reshape(self._own(2), (rows, self._size))
        self.input_weight = node.reshape(self._own(1), (rows, -1))
        biases = node.reshape(self._own(3), (-1,)) if node.has(3) else None
        self._biases = None if biases is None else [self._cut(biases, part, rows, 0) for part in (0, 1)]
        self._peepholes = None
        if node.op_type == "LSTM" and node.has(7):
            self._peepholes = [self._cut(self._own(7), part, self._size) for part in range(3)]

    def _function(self, name: str) -> Any:
        operator = _ACTIVATIONS.get(name)
        if operator is None:
            self._node.refuse(f"the activation {name} has no counterpart; expected {', '.join(_ACTIVATIONS)}")
        clip = self._node.attr("clip")

        def apply(value: Any) -> Any:
            if clip is not None:
                value = self._node.call("clip", value, a_min=-clip, a_max=clip)
            return self._node.call(operator, value)

        return apply

    def _own(self, index: int) -> Any:
        """The direction's part of an input."""
        at = self._direction
        return self._node.call("slice_axis", self._node.sym(index), axis=0, begin=at, end=at + 1)

    def _cut(self, value: Any, number: int, size: int, axis: int = 1) -> Any:
        return self._node.call("slice_axis", value, axis=axis, begin=number * size, end=(number + 1) * size)

    def _sum(self, *values: Any) -> Any:
        found = values[0]
        for value in values[1:]:
            found = self._node.call("broadcast_add", found, value)
        return found

    def _times(self, one: Any, other: Any) -> Any:
        return self._node.call("broadcast_mul", one, other)

    def _linear(self, value: Any, weight: Any, bias: Any, size: int) -> Any:
        more = [] if bias is None else [bias]
        return self._node.call(
            "FullyConnected", value, weight, *more, num_hidden=size, flatten=False, no_bias=bias is None
        )

    def inputs(self, data: Any) -> Any:
        """Product of the inputs and their weights, for the gates of all steps."""
        bias = None if self._biases is None else self._biases[0]
        return self._linear(data, self.input_weight, bias, self._gates * self._size)

    def step(self, given: Any, states: Sequence[Any]) -> list[Any]:
        """The states after a step."""
        return [*getattr(self, f"_{self._node.op_type.lower()}")(given, *states)]

    def _recurrent(self, hidden: Any, first: int, last: int) -> Any:
        """Product of the states and their weights, for some gates."""
        size = (last - first) * self._size
        if size == self._gates * self._size:
            return self._linear(hidden, self._weight, self._biases and self._biases[1], size)
        begin, end = first * self._size, last * self._size
        weight = self._node.call("slice_axis", self._weight, axis=0, begin=begin, end=end)
        bias = self._biases and self._node.call("slice_axis", self._biases[1], axis=0, begin=begin, end=end)
        return self._linear(hidden, weight, bias, size)

    def _rnn(self, given: Any, hidden: Any) -> list[Any]:
        return [self._functions[0](self._sum(given, self._recurrent(hidden, 0, 1)))]

    def _gru(self, given: Any, hidden: Any) -> list[Any]:
        of_gate, of_state = self._functions
        both = self._recurrent(hidden, 0, 2)
        update, reset = (
            of_gate(self._sum(self._cut(given, gate, self._size), self._cut(both, gate, self._size)))
            for gate in (0, 1)
        )
        if self._node.attr("linear_before_reset", 0):
            product = self._times(reset, self._recurrent(hidden, 2, 3))
        else:
            product = self._recurrent(self._times(reset, hidden), 2, 3)
        new = of_state(self._sum(self._cut(given, 2, self._size), product))
        return [self._sum(new, self._times(update, self._node.call("broadcast_sub", hidden, new)))]

    def _lstm(self, given: Any, hidden: Any, cell: Any) -> list[Any]:
        of_gate, of_cell, of_state = self._functions
        total = self._sum(given, self._recurrent(hidden, 0, 4))
        parts = [self._cut(total, gate, self._size) for gate in range(4)]  # input, output, forget, cell

        def seen(part: Any, peephole: int, memory: Any) -> Any:
            if self._peepholes is None:
                return part
            return self._sum(part, self._times(memory, self._peepholes[peephole]))

        entry = of_gate(seen(parts[0], 0, cell))
        if self._node.attr("input_forget", 0):
            kept = self._node.call("_rminus_scalar", entry, scalar=1)
        else:
            kept = of_gate(seen(parts[2], 2, cell))
        cell = self._sum(self._times(kept, cell), self._times(entry, of_cell(parts[3])))
        return [self._times(of_gate(seen(parts[1], 1, cell)), of_state(cell)), cell]


def stepped(node: Any, data: Any, begin: Sequence[Any], lengths: Sequence[Any], activations: Any) -> Any:
    """Outputs of all steps by direction, and last states.

    Args:
        data: (steps, batch, features).
        begin: States (directions, batch, size) before the first step.
        lengths: Numbers of steps by row of the batch, or nothing.
        activations: Of all directions.
    Returns:
        The outputs, (steps, directions, batch, size), and for each state (directions, batch, size).
    """
    steps = node.lengths_of(data)[0]
    if steps is None:
        node.refuse("its steps stand one behind the other, so their number must be given: shapes=")
    count, each = node.shape(1)[0], len(activations) // node.shape(1)[0]
    found, lasts = [], []
    for direction in range(count):
        cell = _Cell(node, direction, activations[direction * each : (direction + 1) * each])
        is_back = direction == 1 or node.attr("direction", "forward") == "reverse"
        given = cell.inputs(_reversed(node, data, lengths) if is_back else data)
        states = [_part(node, state, direction) for state in begin]
        rows = []
        for number in range(steps):
            new = cell.step(_part(node, given, number), states)
            if lengths:
                is_in = node.call("_greater_scalar", node.cast(lengths[0], node.dtype()), scalar=number)
                mask = node.reshape(is_in, (-1, 1))
                states = [_chosen(node, mask, *pair) for pair in zip(new, states, strict=True)]
                rows.append(node.call("broadcast_mul", mask, states[0]))
            else:
                states = new
                rows.append(states[0])
        stacked = node.call("stack", *rows, axis=0, num_args=len(rows))
        found.append(_reversed(node, stacked, lengths) if is_back else stacked)
        lasts.append(states)
    outputs = node.call("stack", *found, axis=1, num_args=count)
    return [
        outputs,
        *(node.call("stack", *each, axis=0, num_args=count) for each in zip(*lasts, strict=True)),
    ]


def _chosen(node: Any, mask: Any, new: Any, old: Any) -> Any:
    """The new state where the mask is 1, the old one where it is 0."""
    return node.call(
        "broadcast_add", node.call("broadcast_mul", mask, node.call("broadcast_sub", new, old)), old
    )


def _part(node: Any, value: Any, number: int) -> Any:
    part = node.call("slice_axis", value, axis=0, begin=number, end=number + 1)
    return node.call("squeeze", part, axis=0)


def _reversed(node: Any, value: Any, lengths: Sequence[Any]) -> Any:
    return node.call("SequenceReverse", value, *lengths, use_sequence_length=bool(lengths))

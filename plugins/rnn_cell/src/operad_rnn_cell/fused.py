"""`FusedRNNCell`: all layers and steps in one operator, `RNN`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, Final

import operad
from operad import NDArray, Symbol, nd, sym
from operad.errors import ArgumentError, ShapeError, UnsupportedError
from operad_rnn_cell.base import BaseRNNCell, RNNParams, States, arranged
from operad_rnn_cell.cells import GRUCell, LSTMCell, RNNCell
from operad_rnn_cell.modifiers import DropoutCell
from operad_rnn_cell.stacked import BidirectionalCell, SequentialRNNCell

_GATES: Final[Mapping[str, Sequence[str]]] = {
    "rnn_relu": [""],
    "rnn_tanh": [""],
    "lstm": ["_i", "_f", "_c", "_o"],
    "gru": ["_r", "_z", "_o"],
}


class FusedRNNCell(BaseRNNCell):
    """Layers of cells over a whole sequence in one operator, with all weights in one vector.

    `unroll` makes the operator. With time first, `"TNC"`, nothing is transposed.

    Args:
        num_hidden: Length of each layer's output and states.
        num_layers: Number of layers.
        mode: `"rnn_relu"`, `"rnn_tanh"`, `"lstm"` or `"gru"`.
        bidirectional: Whether each layer sees the sequence in both directions.
        dropout: The part that is dropped between layers in training.
        get_next_state: Whether `unroll` returns the last states, too.
        forget_bias: What biases of an LSTM's forget gates begin with.
        prefix: Default: the mode and `_`.
        params: As in `BaseRNNCell`.

    Raises:
        ArgumentError: There is no such mode.

    Source: FusedRNNCell, python/mxnet/rnn/rnn_cell.py.
    """

    has_steps = False

    def __init__(
        self,
        num_hidden: int,
        num_layers: int = 1,
        mode: str = "lstm",
        bidirectional: bool = False,
        dropout: float = 0.0,
        get_next_state: bool = False,
        forget_bias: float = 1.0,
        prefix: str | None = None,
        params: RNNParams | None = None,
    ) -> None:
        if mode not in _GATES:
            raise ArgumentError(f"FusedRNNCell: mode is {mode!r}, expected one of {', '.join(_GATES)}")
        super().__init__(f"{mode}_" if prefix is None else prefix, params)
        self._num_hidden = num_hidden
        self._num_layers = num_layers
        self._mode = mode
        self._bidirectional = bidirectional
        self._dropout = dropout
        self._get_next_state = get_next_state
        self._forget_bias = forget_bias
        self._directions = ["l", "r"] if bidirectional else ["l"]
        init = operad.init.FusedRNN(None, num_hidden, num_layers, mode, bidirectional, forget_bias)
        self._parameter = self._params.get("parameters", init=init)

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """The hidden states of all layers and directions; of an LSTM the memories, too."""
        shape = (len(self._directions) * self._num_layers, 0, self._num_hidden)
        return [{"shape": shape, "__layout__": "LNC"} for _ in range(1 + (self._mode == "lstm"))]

    @property
    def _gate_names(self) -> Sequence[str]:
        return _GATES[self._mode]

    @property
    def _num_gates(self) -> int:
        return len(self._gate_names)

    def unpack_weights(self, args: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Weights with one array for each gate, as unfused cells unpack theirs, in place of the vector.

        Raises:
            ShapeError: The vector's length fits no number of features.
        """
        unpacked = dict(args)
        vector = unpacked.pop(f"{self._prefix}parameters")
        start = 0
        for name, shape in self._layout(self._features(vector.size)):
            stop = start + prod(shape)
            unpacked[name] = vector[start:stop].reshape(shape).copy()
            start = stop
        return unpacked

    def pack_weights(self, args: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """The inverse of `unpack_weights`."""
        packed = dict(args)
        first = f"{self._prefix}l0_i2h{self._gate_names[0]}_weight"
        parts = [packed.pop(name).reshape((-1,)) for name, _ in self._layout(packed[first].shape[1])]
        packed[f"{self._prefix}parameters"] = nd.concat(*parts, dim=0)
        return packed

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """Refused: the operator takes a whole sequence.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError("FusedRNNCell cannot be stepped; use unroll, or unfuse() first")

    def _unrolled(
        self, length: int, inputs: Any, begin_state: States, layout: str, merge_outputs: bool | None
    ) -> tuple[Any, list[Any]]:
        data, axis = arranged(length, inputs, layout, merge=True)
        if axis == 1:
            data = sym.swapaxes(data, dim1=0, dim2=1)
        states = self.begin_state() if begin_state is None else begin_state
        network = sym.RNN(
            data,
            self._parameter,
            *states,
            state_size=self._num_hidden,
            num_layers=self._num_layers,
            bidirectional=self._bidirectional,
            p=self._dropout,
            state_outputs=self._get_next_state,
            mode=self._mode,
            name=f"{self._prefix}rnn",
        )
        after = [network[1 + number] for number in range(len(states))] if self._get_next_state else []
        outputs = network[0] if self._get_next_state else network
        if axis == 1:
            outputs = sym.swapaxes(outputs, dim1=0, dim2=1)
        return arranged(length, outputs, layout, merge_outputs)[0], after

    def unfuse(self) -> SequentialRNNCell:
        """The same network of cells that step; what this one unpacks, they pack."""
        stack = SequentialRNNCell()
        for layer in range(self._num_layers):
            cells = [self._single(f"{self._prefix}{way}{layer}_") for way in self._directions]
            if self._bidirectional:
                name = f"{self._prefix}bi_l{layer}_"
                stack.add(BidirectionalCell(cells[0], cells[1], output_prefix=name))
            else:
                stack.add(cells[0])
            if self._dropout > 0 and layer + 1 < self._num_layers:
                stack.add(DropoutCell(self._dropout, prefix=f"{self._prefix}_dropout{layer}_"))
        return stack

    def _single(self, prefix: str) -> BaseRNNCell:
        if self._mode == "lstm":
            return LSTMCell(self._num_hidden, prefix=prefix, forget_bias=self._forget_bias)
        if self._mode == "gru":
            return GRUCell(self._num_hidden, prefix=prefix)
        return RNNCell(self._num_hidden, activation=self._mode.removeprefix("rnn_"), prefix=prefix)

    def _features(self, size: int) -> int:
        """Features of the inputs, from the vector's length."""
        gates, hidden, ways = self._num_gates, self._num_hidden, len(self._directions)
        rest = sum(prod(shape) for _, shape in self._layout(0))
        features, left = divmod(size - rest, gates * hidden * ways)
        if features < 1 or left:
            raise ShapeError(
                f"unpack_weights: {self._prefix}parameters has {size} elements, which fit no number of "
                f"features; expected {rest} and a multiple of {gates * hidden * ways}"
            )
        return features

    def _layout(self, features: int) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Name and shape of each gate's arrays, in the vector's order: all weights, and then all biases."""
        hidden, ways = self._num_hidden, self._directions
        for kind in ("weight", "bias"):
            for layer in range(self._num_layers):
                lengths = {"i2h": len(ways) * hidden if layer else features, "h2h": hidden}
                for name in (f"{self._prefix}{way}{layer}_{group}" for way in ways for group in lengths):
                    for gate in self._gate_names:
                        columns = (lengths[name[-3:]],) if kind == "weight" else ()
                        yield f"{name}{gate}_{kind}", (hidden, *columns)

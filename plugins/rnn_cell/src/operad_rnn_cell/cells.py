"""Cells of one layer: `RNNCell`, `LSTMCell`, `GRUCell`.

Source: python/mxnet/rnn/rnn_cell.py, whose names and order of gates these are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import operad
from operad import Symbol, sym
from operad_rnn_cell.base import BaseRNNCell, RNNParams


class _GatedCell(BaseRNNCell):
    """A cell that joins input and hidden state by one matrix each."""

    def __init__(
        self, num_hidden: int, prefix: str, params: RNNParams | None, bias: dict[str, Any] | None = None
    ) -> None:
        super().__init__(prefix, params)
        self._num_hidden = num_hidden
        self._iW = self._params.get("i2h_weight")
        self._iB = self._params.get("i2h_bias", **(bias or {}))
        self._hW = self._params.get("h2h_weight")
        self._hB = self._params.get("h2h_bias")

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """The hidden state."""
        return [{"shape": (0, self._num_hidden), "__layout__": "NC"}]

    def _joined(self, inputs: Symbol, hidden: Symbol, name: str) -> tuple[Symbol, Symbol]:
        """What input and hidden state give to all gates."""
        rows = self._num_hidden * len(self._gate_names)
        of_input = sym.FullyConnected(inputs, self._iW, self._iB, num_hidden=rows, name=f"{name}i2h")
        of_hidden = sym.FullyConnected(hidden, self._hW, self._hB, num_hidden=rows, name=f"{name}h2h")
        return of_input, of_hidden


class RNNCell(_GatedCell):
    """`h = activation(Wi x + bi + Wh h + bh)`.

    Args:
        num_hidden: Length of output and state.
        activation: What `sym.Activation` takes, or a function of a symbol.
        prefix: As in `BaseRNNCell`, with what follows.
    """

    def __init__(
        self, num_hidden: int, activation: Any = "tanh", prefix: str = "rnn_", params: RNNParams | None = None
    ) -> None:
        super().__init__(num_hidden, prefix, params)
        self._activation = activation

    @property
    def _gate_names(self) -> Sequence[str]:
        return ("",)

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """One step."""
        name = self._next_step()
        of_input, of_hidden = self._joined(inputs, states[0], name)
        output = self._get_activation(of_input + of_hidden, self._activation, name=f"{name}out")
        return output, [output]

    def _get_activation(self, inputs: Symbol, activation: Any, **kwargs: Any) -> Symbol:
        if isinstance(activation, str):
            return sym.Activation(inputs, act_type=activation, **kwargs)  # type: ignore[no-any-return]
        return activation(inputs, **kwargs)  # type: ignore[no-any-return]


class LSTMCell(_GatedCell):
    """Long short-term memory: `c = f c + i g` and `h = o tanh(c)`.

    The gates `i`, `f`, `o` are sigmoids, and `g` a tanh, of `W x + U h + b`.

    Args:
        num_hidden: Length of output and states.
        prefix: As in `BaseRNNCell`, with the one that follows.
        forget_bias: What the bias of the forget gate begins with.

    Source: Hochreiter and Schmidhuber, "Long short-term memory", 1997; Gers et al., "Learning to
    forget", 2000.
    """

    def __init__(
        self,
        num_hidden: int,
        prefix: str = "lstm_",
        params: RNNParams | None = None,
        forget_bias: float = 1.0,
    ) -> None:
        super().__init__(num_hidden, prefix, params, {"init": operad.init.LSTMBias(forget_bias=forget_bias)})

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """The hidden state and the cell's memory."""
        return super().state_info * 2

    @property
    def _gate_names(self) -> Sequence[str]:
        return ["_i", "_f", "_c", "_o"]

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """One step."""
        name = self._next_step()
        of_input, of_hidden = self._joined(inputs, states[0], name)
        gates = sym.SliceChannel(of_input + of_hidden, num_outputs=4, name=f"{name}slice")
        kept = sym.Activation(gates[0], act_type="sigmoid", name=f"{name}i")
        remembered = sym.Activation(gates[1], act_type="sigmoid", name=f"{name}f")
        candidate = sym.Activation(gates[2], act_type="tanh", name=f"{name}c")
        shown = sym.Activation(gates[3], act_type="sigmoid", name=f"{name}o")
        memory = sym.elemwise_add(remembered * states[1], kept * candidate, name=f"{name}state")
        output = sym.elemwise_mul(shown, sym.Activation(memory, act_type="tanh"), name=f"{name}out")
        return output, [output, memory]


class GRUCell(_GatedCell):
    """Gated recurrent unit: `h = (1 - z) g + z h`, of the candidate `g = tanh(Wx + bi + r (Uh + bh))`.

    The gates `r` and `z` are sigmoids of `W x + U h + b`.

    Args:
        num_hidden: Length of output and state.
        prefix: As in `BaseRNNCell`, with what follows.

    Source: Cho et al., "Learning phrase representations using RNN encoder-decoder", 2014, with the reset gate
    behind the matrix, as in cuDNN.
    """

    def __init__(self, num_hidden: int, prefix: str = "gru_", params: RNNParams | None = None) -> None:
        super().__init__(num_hidden, prefix, params)

    @property
    def _gate_names(self) -> Sequence[str]:
        return ["_r", "_z", "_o"]

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """One step."""
        name = self._next_step()
        of_input, of_hidden = self._joined(inputs, states[0], f"{name}_")
        i_r, i_z, i_g = sym.SliceChannel(of_input, num_outputs=3, name=f"{name}_i2h_slice")
        h_r, h_z, h_g = sym.SliceChannel(of_hidden, num_outputs=3, name=f"{name}_h2h_slice")
        reset = sym.Activation(i_r + h_r, act_type="sigmoid", name=f"{name}_r_act")
        update = sym.Activation(i_z + h_z, act_type="sigmoid", name=f"{name}_z_act")
        candidate = sym.Activation(i_g + reset * h_g, act_type="tanh", name=f"{name}_h_act")
        output = sym.elemwise_add((1.0 - update) * candidate, update * states[0], name=f"{name}out")
        return output, [output]

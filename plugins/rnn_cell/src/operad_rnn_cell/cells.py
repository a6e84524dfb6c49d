"""Cells of one layer, whose weights are matrices: `RNNCell`, `LSTMCell`, `GRUCell`.

Source: python/mxnet/rnn/rnn_cell.py.
"""

from __future__ import annotations

from typing import Any

import operad
from operad import Symbol, sym
from operad_rnn_cell.base import RNNParams
from operad_rnn_cell.steps import GatedCell, GRUStep, LSTMStep, PlainStep


class _MatrixCell(GatedCell):
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
        rows = self._num_hidden * len(self._gate_names)
        of_input = sym.FullyConnected(inputs, self._iW, self._iB, num_hidden=rows, name=f"{name}i2h")
        of_hidden = sym.FullyConnected(hidden, self._hW, self._hB, num_hidden=rows, name=f"{name}h2h")
        return of_input, of_hidden


class RNNCell(PlainStep, _MatrixCell):
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


class LSTMCell(LSTMStep, _MatrixCell):
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


class GRUCell(GRUStep, _MatrixCell):
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

    def _joined(self, inputs: Symbol, hidden: Symbol, name: str) -> tuple[Symbol, Symbol]:
        return super()._joined(inputs, hidden, f"{name}_")

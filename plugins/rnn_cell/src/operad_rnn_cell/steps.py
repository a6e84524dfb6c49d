"""One step of a plain, an LSTM or a GRU cell, whatever joins the input and the hidden state.

Cells of matrices (`cells`) and of convolutions (`convolutional`) say how that is done; the rest is the same.

Source: python/mxnet/rnn/rnn_cell.py, whose names and order of gates these are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from operad import Symbol, sym
from operad_rnn_cell.base import BaseRNNCell


class GatedCell(BaseRNNCell):
    """A cell whose gates all see the input and the hidden state."""

    _activation: Any = "tanh"

    @abstractmethod
    def _joined(self, inputs: Symbol, hidden: Symbol, name: str) -> tuple[Symbol, Symbol]:
        """Sums for all gates from input and hidden state."""

    def _get_activation(self, inputs: Symbol, activation: Any, **kwargs: Any) -> Symbol:
        if isinstance(activation, str):
            return sym.Activation(inputs, act_type=activation, **kwargs)  # type: ignore[no-any-return]
        return activation(inputs, **kwargs)  # type: ignore[no-any-return]

    def _parts(self, gates: Symbol, name: str) -> Symbol:
        return sym.SliceChannel(gates, num_outputs=len(self._gate_names), name=name)  # type: ignore[no-any-return]


class PlainStep(GatedCell):
    """`h = activation(W x + U h + b)`."""

    @property
    def _gate_names(self) -> Sequence[str]:
        return ("",)

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """One step."""
        name = self._next_step()
        of_input, of_hidden = self._joined(inputs, states[0], name)
        output = self._get_activation(of_input + of_hidden, self._activation, name=f"{name}out")
        return output, [output]


class LSTMStep(GatedCell):
    """`c = f c + i g` and `h = o activation(c)`; `g` has the activation, `i`, `f`, `o` are sigmoids."""

    @property
    def _gate_names(self) -> Sequence[str]:
        return ["_i", "_f", "_c", "_o"]

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """One step."""
        name = self._next_step()
        of_input, of_hidden = self._joined(inputs, states[0], name)
        gates = self._parts(of_input + of_hidden, f"{name}slice")
        kept = sym.Activation(gates[0], act_type="sigmoid", name=f"{name}i")
        remembered = sym.Activation(gates[1], act_type="sigmoid", name=f"{name}f")
        candidate = self._get_activation(gates[2], self._activation, name=f"{name}c")
        shown = sym.Activation(gates[3], act_type="sigmoid", name=f"{name}o")
        memory = sym.elemwise_add(remembered * states[1], kept * candidate, name=f"{name}state")
        output = sym.elemwise_mul(shown, self._get_activation(memory, self._activation), name=f"{name}out")
        return output, [output, memory]


class GRUStep(GatedCell):
    """`h = (1 - z) g + z h`, of `g = activation(W x + bi + r (U h + bh))` and sigmoids `r`, `z`."""

    @property
    def _gate_names(self) -> Sequence[str]:
        return ["_r", "_z", "_o"]

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """One step."""
        name = self._next_step()
        of_input, of_hidden = self._joined(inputs, states[0], name)
        i_r, i_z, i_g = self._parts(of_input, f"{name}_i2h_slice")
        h_r, h_z, h_g = self._parts(of_hidden, f"{name}_h2h_slice")
        reset = sym.Activation(i_r + h_r, act_type="sigmoid", name=f"{name}_r_act")
        update = sym.Activation(i_z + h_z, act_type="sigmoid", name=f"{name}_z_act")
        candidate = self._get_activation(i_g + reset * h_g, self._activation, name=f"{name}_h_act")
        output = sym.elemwise_add((1.0 - update) * candidate, update * states[0], name=f"{name}out")
        return output, [output]

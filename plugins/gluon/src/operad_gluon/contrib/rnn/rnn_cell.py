"""`VariationalDropoutCell`, `LSTMPCell` and `dynamic_unroll`.

Source: python/mxnet/gluon/contrib/rnn/rnn_cell.py.
"""

from __future__ import annotations

from typing import Any

from operad_gluon.rnn.base import Sequence, get_begin_state
from operad_gluon.rnn.cells import GatedCell
from operad_gluon.rnn.modifiers import ModifierCell, refuse_bidirectional
from operad_gluon.rnn.sequences import as_list, format_sequence, mask_sequence, tensor_types

__all__ = ["LSTMPCell", "VariationalDropoutCell", "dynamic_unroll"]


class VariationalDropoutCell(ModifierCell):
    """Dropout whose mask is drawn once for a sequence (Gal and Ghahramani 2016).

    Args:
        base_cell: The cell.
        drop_inputs: Share of the inputs' elements that become 0 in training.
        drop_states: Share of the first state's.
        drop_outputs: Share of the outputs'.
    """

    def __init__(
        self, base_cell: Any, drop_inputs: float = 0.0, drop_states: float = 0.0, drop_outputs: float = 0.0
    ) -> None:
        if drop_states:
            refuse_bidirectional("VariationalDropoutCell", base_cell)
        super().__init__(base_cell)
        self.drop_inputs = drop_inputs
        self.drop_states = drop_states
        self.drop_outputs = drop_outputs
        self._forget_masks()

    def _forget_masks(self) -> None:
        self.drop_inputs_mask: Any = None
        self.drop_states_mask: Any = None
        self.drop_outputs_mask: Any = None

    def _alias(self) -> str:
        return "vardrop"

    def reset(self) -> None:
        """Begin another sequence, with other masks."""
        super().reset()
        self._forget_masks()

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> tuple[Any, Any]:
        """Compute one step."""

        def mask(share: float, drawn: Any, like: Any) -> Any:
            return F.Dropout(F.ones_like(like), p=share) if share and drawn is None else drawn

        self.drop_states_mask = mask(self.drop_states, self.drop_states_mask, states[0])
        self.drop_inputs_mask = mask(self.drop_inputs, self.drop_inputs_mask, inputs)
        if self.drop_states:
            states = [states[0] * self.drop_states_mask, *states[1:]]
        if self.drop_inputs:
            inputs = inputs * self.drop_inputs_mask
        output, states = self.base_cell(inputs, states)
        self.drop_outputs_mask = mask(self.drop_outputs, self.drop_outputs_mask, output)
        return (output * self.drop_outputs_mask if self.drop_outputs else output), states

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p_out = {self.drop_outputs}, p_state = {self.drop_states})"

    def _unroll(self, given: Sequence) -> tuple[Any, Any]:
        """Run a whole sequence."""
        if self.drop_states:
            return super()._unroll(given)
        length, inputs, begin_state, layout, merge_outputs, valid_length = given
        inputs, axis, F, batch_size = format_sequence(length, inputs, layout, True)
        states = get_begin_state(self, F, begin_state, inputs, batch_size)
        if self.drop_inputs:
            inputs = F.Dropout(inputs, p=self.drop_inputs, axes=(axis,))
        outputs, states = self.base_cell.unroll(length, inputs, states, layout, True, valid_length)
        if self.drop_outputs:
            outputs = F.Dropout(outputs, p=self.drop_outputs, axes=(axis,))
        merge = isinstance(outputs, tensor_types) if merge_outputs is None else merge_outputs
        if valid_length is not None:
            return mask_sequence(F, outputs, length, valid_length, axis, merge), states
        return format_sequence(length, outputs, layout, merge).inputs, states


class LSTMPCell(GatedCell):
    """Long short-term memory whose hidden state is projected (Sak et al. 2014).

    Args:
        hidden_size: Units.
        projection_size: Length of the hidden state and of the output.
        i2h_weight_initializer: Of the weights of the input.
        h2h_weight_initializer: Of the weights of the hidden state.
        h2r_weight_initializer: Of the weights of the projection.
        i2h_bias_initializer: Of the bias of the input.
        h2h_bias_initializer: Of the bias of the hidden state.
        input_size: Length of an input; 0: that of the first one.
        prefix: As of `Block`.
        params: As of `Block`.
    """

    _gates = 4
    h2r_weight: Any

    def __init__(
        self,
        hidden_size: int,
        projection_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        h2r_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: Any = None,
    ) -> None:
        initializers = {
            "i2h_weight": i2h_weight_initializer,
            "h2h_weight": h2h_weight_initializer,
            "h2r_weight": h2r_weight_initializer,
            "i2h_bias": i2h_bias_initializer,
            "h2h_bias": h2h_bias_initializer,
        }
        self._begin(hidden_size, initializers, input_size, prefix, params, projection_size)
        self._projection_size = projection_size

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The hidden state and the cell state."""
        sizes = self._projection_size, self._hidden_size
        return [{"shape": (batch_size, size), "__layout__": "NC"} for size in sizes]

    def _alias(self) -> str:
        return "lstmp"

    def _mapping(self) -> str:
        return f"{super()._mapping()} -> {self.h2r_weight.shape[0]}"

    def hybrid_forward(  # inputs by name
        self,
        F: Any,
        inputs: Any,
        states: Any,
        i2h_weight: Any,
        h2h_weight: Any,
        h2r_weight: Any,
        i2h_bias: Any,
        h2h_bias: Any,
    ) -> tuple[Any, list[Any]]:
        """Compute one step."""
        prefix = self._step
        i2h, h2h = self._products(F, inputs, states[0], (i2h_weight, i2h_bias), (h2h_weight, h2h_bias))
        parts = F.SliceChannel(i2h + h2h, num_outputs=4, name=f"{prefix}slice")
        in_gate = F.Activation(parts[0], act_type="sigmoid", name=f"{prefix}i")
        forget_gate = F.Activation(parts[1], act_type="sigmoid", name=f"{prefix}f")
        in_transform = F.Activation(parts[2], act_type="tanh", name=f"{prefix}c")
        out_gate = F.Activation(parts[3], act_type="sigmoid", name=f"{prefix}o")
        next_c = F.elemwise_add(forget_gate * states[1], in_gate * in_transform, name=f"{prefix}state")
        hidden = F.elemwise_mul(out_gate, F.Activation(next_c, act_type="tanh"), name=f"{prefix}hidden")
        next_r = F.FullyConnected(
            hidden, h2r_weight, num_hidden=self._projection_size, no_bias=True, name=f"{prefix}out"
        )
        return next_r, [next_r, next_c]


def dynamic_unroll(
    cell: Any,
    inputs: Any,
    begin_state: Any,
    drop_inputs: float = 0,
    drop_outputs: float = 0,
    layout: str = "TNC",
    valid_length: Any = None,
) -> tuple[Any, Any]:
    """Run a cell over a sequence of any length, by the operator `foreach`.

    Args:
        cell: The cell.
        inputs: One array or symbol.
        begin_state: States before the first step.
        drop_inputs: Share of the inputs' elements that become 0 in training, in all steps alike.
        drop_outputs: Share of the outputs'.
        layout: `TNC` or `NTC`.
        valid_length: Steps of each sequence; outputs behind them are 0, and states are those after them.

    Returns:
        The outputs, in the layout, and the states after the last step.
    """
    inputs, axis, F, _ = format_sequence(None, inputs, layout, True)
    if axis:
        inputs = F.swapaxes(inputs, dim1=0, dim2=axis)
    if drop_inputs:
        inputs = F.Dropout(inputs, p=drop_inputs, axes=(0,))
    states = as_list(begin_state)
    count = len(states)

    def until_the_end(step: Any, states: Any) -> tuple[Any, list[Any]]:
        *old, number = states
        output, new = cell(step, old)
        goes_on = F.broadcast_greater(valid_length, number)
        return output, [*(F.where(goes_on, *pair) for pair in zip(new, old, strict=True)), number + 1]

    if valid_length is None:
        outputs, states = F.contrib.foreach(cell, inputs, states)
    else:
        outputs, states = F.contrib.foreach(until_the_end, inputs, [*states, F.zeros((1,))])
        outputs = F.SequenceMask(outputs, sequence_length=valid_length, use_sequence_length=True, axis=0)
    if drop_outputs:
        outputs = F.Dropout(outputs, p=drop_outputs, axes=(0,))
    return (F.swapaxes(outputs, dim1=0, dim2=axis) if axis else outputs), states[:count]

"""Cells with weights: `RNNCell`, `LSTMCell` and `GRUCell`.

Source: python/mxnet/gluon/rnn/rnn_cell.py.
"""

from __future__ import annotations

from typing import Any

from operad_gluon.rnn.base import HybridRecurrentCell


class GatedCell(HybridRecurrentCell):
    """Base of cells of products of the input and of the hidden state with weights.

    Args:
        hidden_size: Units.
        i2h_weight_initializer: Of the weights of the input.
        h2h_weight_initializer: Of the weights of the hidden state.
        i2h_bias_initializer: Of the bias of the input.
        h2h_bias_initializer: Of the bias of the hidden state.
        input_size: Length of an input; 0: that of the first one.
        prefix: As of `Block`.
        params: As of `Block`.
    """

    _gates: int
    """Number of blocks of `hidden_size` units in the products."""

    i2h_weight: Any

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: Any = None,
    ) -> None:
        initializers = {
            "i2h_weight": i2h_weight_initializer,
            "h2h_weight": h2h_weight_initializer,
            "i2h_bias": i2h_bias_initializer,
            "h2h_bias": h2h_bias_initializer,
        }
        self._begin(hidden_size, initializers, input_size, prefix, params)

    def _begin(
        self,
        hidden_size: int,
        initializers: dict[str, Any],
        input_size: int,
        prefix: str | None,
        params: Any,
        recurrent_size: int | None = None,
    ) -> None:
        """Make the parameters, in the order of their initializers."""
        super().__init__(prefix=prefix, params=params)
        self._hidden_size = hidden_size
        self._input_size = input_size
        rows = self._gates * hidden_size
        shapes = {
            "i2h_weight": (rows, input_size),
            "h2h_weight": (rows, recurrent_size or hidden_size),
            "h2r_weight": (recurrent_size or hidden_size, hidden_size),
            "i2h_bias": (rows,),
            "h2h_bias": (rows,),
        }
        for name, init in initializers.items():
            made = self.params.get(name, shape=shapes[name], init=init, allow_deferred_init=True)
            setattr(self, name, made)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The hidden state."""
        return [{"shape": (batch_size, self._hidden_size), "__layout__": "NC"}]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._mapping()})"

    def _mapping(self) -> str:
        rows, columns = self.i2h_weight.shape
        return f"{columns or None} -> {rows}"

    def _products(
        self, F: Any, inputs: Any, state: Any, i2h: tuple[Any, Any], h2h: tuple[Any, Any]
    ) -> tuple[Any, Any]:
        """Products of the input and of the state with their weights, plus biases."""
        rows, prefix = self._gates * self._hidden_size, self._step
        return (
            F.FullyConnected(inputs, i2h[0], i2h[1], num_hidden=rows, name=f"{prefix}i2h"),
            F.FullyConnected(state, h2h[0], h2h[1], num_hidden=rows, name=f"{prefix}h2h"),
        )

    @property
    def _step(self) -> str:
        """Beginning of the names of this step's nodes."""
        return f"t{self._counter}_"


class RNNCell(GatedCell):
    """`activation(W_i x + b_i + W_h h + b_h)`.

    Args:
        hidden_size: Units.
        activation: Name of an activation, or a block.
        i2h_weight_initializer: Of the weights of the input.
        h2h_weight_initializer: Of the weights of the hidden state.
        i2h_bias_initializer: Of the bias of the input.
        h2h_bias_initializer: Of the bias of the hidden state.
        input_size: Length of an input; 0: that of the first one.
        prefix: As of `Block`.
        params: As of `Block`.
    """

    _gates = 1

    def __init__(
        self,
        hidden_size: int,
        activation: Any = "tanh",
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: Any = None,
    ) -> None:
        super().__init__(
            hidden_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
            h2h_bias_initializer, input_size, prefix, params,
        )  # fmt: skip
        self._activation = activation

    def _alias(self) -> str:
        return "rnn"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._mapping()}, {self._activation})"

    def hybrid_forward(
        self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any
    ) -> tuple[Any, list[Any]]:
        """Compute one step."""
        i2h, h2h = self._products(F, inputs, states[0], (i2h_weight, i2h_bias), (h2h_weight, h2h_bias))
        total = F.elemwise_add(i2h, h2h, name=f"{self._step}plus0")
        output = self._get_activation(F, total, self._activation, name=f"{self._step}out")
        return output, [output]


class LSTMCell(GatedCell):
    """Long short-term memory, with gates in the order input, forget, transform, output.

    Args:
        hidden_size: Units.
        i2h_weight_initializer: Of the weights of the input.
        h2h_weight_initializer: Of the weights of the hidden state.
        i2h_bias_initializer: Of the bias of the input.
        h2h_bias_initializer: Of the bias of the hidden state.
        input_size: Length of an input; 0: that of the first one.
        prefix: As of `Block`.
        params: As of `Block`.
        activation: Of the transform and of the cell state.
        recurrent_activation: Of the three gates.
    """

    _gates = 4

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: Any = None,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
    ) -> None:
        super().__init__(
            hidden_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
            h2h_bias_initializer, input_size, prefix, params,
        )  # fmt: skip
        self._activation = activation
        self._recurrent_activation = recurrent_activation

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The hidden state and the cell state."""
        return [*super().state_info(batch_size), *super().state_info(batch_size)]

    def _alias(self) -> str:
        return "lstm"

    def hybrid_forward(
        self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any
    ) -> tuple[Any, list[Any]]:
        """Compute one step."""
        prefix, gate = self._step, self._recurrent_activation
        i2h, h2h = self._products(F, inputs, states[0], (i2h_weight, i2h_bias), (h2h_weight, h2h_bias))
        gates = F.elemwise_add(i2h, h2h, name=f"{prefix}plus0")
        parts = F.SliceChannel(gates, num_outputs=4, name=f"{prefix}slice")
        in_gate = self._get_activation(F, parts[0], gate, name=f"{prefix}i")
        forget_gate = self._get_activation(F, parts[1], gate, name=f"{prefix}f")
        in_transform = self._get_activation(F, parts[2], self._activation, name=f"{prefix}c")
        out_gate = self._get_activation(F, parts[3], gate, name=f"{prefix}o")
        kept = F.elemwise_mul(forget_gate, states[1], name=f"{prefix}mul0")
        new = F.elemwise_mul(in_gate, in_transform, name=f"{prefix}mul1")
        next_c = F.elemwise_add(kept, new, name=f"{prefix}state")
        shown = F.Activation(next_c, act_type=self._activation, name=f"{prefix}activation0")
        next_h = F.elemwise_mul(out_gate, shown, name=f"{prefix}out")
        return next_h, [next_h, next_c]


class GRUCell(GatedCell):
    """Gated recurrent units as cuDNN has them: the reset gate multiplies the product with the hidden state.

    Args:
        hidden_size: Units.
        i2h_weight_initializer: Of the weights of the input.
        h2h_weight_initializer: Of the weights of the hidden state.
        i2h_bias_initializer: Of the bias of the input.
        h2h_bias_initializer: Of the bias of the hidden state.
        input_size: Length of an input; 0: that of the first one.
        prefix: As of `Block`.
        params: As of `Block`.
    """

    _gates = 3

    def _alias(self) -> str:
        return "gru"

    def hybrid_forward(
        self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any
    ) -> tuple[Any, list[Any]]:
        """Compute one step."""
        prefix, before = self._step, states[0]
        i2h, h2h = self._products(F, inputs, before, (i2h_weight, i2h_bias), (h2h_weight, h2h_bias))
        i2h_r, i2h_z, i2h_n = F.SliceChannel(i2h, num_outputs=3, name=f"{prefix}i2h_slice")
        h2h_r, h2h_z, h2h_n = F.SliceChannel(h2h, num_outputs=3, name=f"{prefix}h2h_slice")
        reset = F.Activation(
            F.elemwise_add(i2h_r, h2h_r, name=f"{prefix}plus0"), act_type="sigmoid", name=f"{prefix}r_act"
        )
        update = F.Activation(
            F.elemwise_add(i2h_z, h2h_z, name=f"{prefix}plus1"), act_type="sigmoid", name=f"{prefix}z_act"
        )
        from_state = F.elemwise_mul(reset, h2h_n, name=f"{prefix}mul0")
        proposed = F.Activation(
            F.elemwise_add(i2h_n, from_state, name=f"{prefix}plus2"), act_type="tanh", name=f"{prefix}h_act"
        )
        ones = F.ones_like(update, name=f"{prefix}ones_like0")
        share = F.elemwise_sub(ones, update, name=f"{prefix}minus0")
        new = F.elemwise_mul(share, proposed, name=f"{prefix}mul1")
        kept = F.elemwise_mul(update, before, name=f"{prefix}mul20")
        next_h = F.elemwise_add(new, kept, name=f"{prefix}out")
        return next_h, [next_h]

"""`RNN`, `LSTM` and `GRU`: whole layers over whole sequences, by the operator `RNN`.

Source: python/mxnet/gluon/rnn/rnn_layer.py.
"""

from __future__ import annotations

from typing import Any

from operad_gluon.rnn.layer_base import RecurrentLayer

__all__ = ["GRU", "LSTM", "RNN"]


class RNN(RecurrentLayer):
    """Layers of `activation(W_i x + b_i + W_h h + b_h)`; see `LSTM` for the arguments.

    Args:
        activation: `relu` or `tanh`.
    """

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        activation: str = "relu",
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, f"rnn_{activation}", None,
            None, None, None, False, dtype, **kwargs,
        )  # fmt: skip


class LSTM(RecurrentLayer):
    """Layers of long short-term memory.

    Args:
        hidden_size: Units of a layer, in each direction.
        num_layers: How many layers there are.
        layout: `TNC` or `NTC`: axes of the steps, the batch and the features.
        dropout: Share of a layer's output that is dropped for the next, in training.
        bidirectional: Whether each layer goes through the sequence backwards too.
        input_size: Length of an input; 0: that of the first one.
        i2h_weight_initializer: Of the weights of the input.
        h2h_weight_initializer: Of the weights of the hidden state.
        i2h_bias_initializer: Of the bias of the input.
        h2h_bias_initializer: Of the bias of the hidden state.
        projection_size: Length that hidden states are projected to; None: they are not.
        h2r_weight_initializer: Of the weights of the projection.
        state_clip_min: Least value of cell states.
        state_clip_max: Largest value of cell states.
        state_clip_nan: Whether clipping also makes bounds of NaN.
        dtype: Of parameters and states.
        kwargs: What `HybridBlock` takes, and `use_sequence_length`.

    Example:
        >>> import operad as od
        >>> layer = od.gluon.rnn.LSTM(4)
        >>> layer.initialize()
        >>> layer(od.nd.ones((5, 2, 3))).shape  # 5 steps of 2 sequences
        (5, 2, 4)
    """

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        input_size: int = 0,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        projection_size: int | None = None,
        h2r_weight_initializer: Any = None,
        state_clip_min: float | None = None,
        state_clip_max: float | None = None,
        state_clip_nan: bool = False,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, "lstm", projection_size,
            h2r_weight_initializer, state_clip_min, state_clip_max, state_clip_nan, dtype, **kwargs,
        )  # fmt: skip

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The hidden states and the cell states."""
        return [self._state(batch_size, self._recurrent_size), self._state(batch_size, self._hidden_size)]


class GRU(RecurrentLayer):
    """Layers of gated recurrent units; see `LSTM` for the arguments."""

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        input_size: int = 0,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, "gru", None, None, None, None,
            False, dtype, **kwargs,
        )  # fmt: skip

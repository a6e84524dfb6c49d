"""Base of recurrent layers: parameters, states, and a call of the operator `RNN`.

Source: python/mxnet/gluon/rnn/rnn_layer.py. Differs: weights are put together by reshapes and `concat`, of
which any reader of a symbol file has operators.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any, Final

from operad import NDArray, nd, sym
from operad.errors import ParamError, ShapeError, UnsupportedError
from operad_gluon.block import HybridBlock
from operad_gluon.rnn.cells import GRUCell, LSTMCell, RNNCell
from operad_gluon.rnn.modifiers import DropoutCell
from operad_gluon.rnn.sequences import tensor_types
from operad_gluon.rnn.stacked import BidirectionalCell, HybridSequentialRNNCell

_GATES: Final = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}
_CELLS: Final[dict[str, Callable[..., Any]]] = {
    "rnn_relu": partial(RNNCell, activation="relu"),
    "rnn_tanh": partial(RNNCell, activation="tanh"),
    "lstm": LSTMCell,
    "gru": GRUCell,
}
_PARAMETER: Final = re.compile(r"(l|r)(\d+)_(i2h|h2h|h2r)_(weight|bias)\Z")


class RecurrentLayer(HybridBlock):
    """Base of the layers; see `LSTM` for the arguments."""

    l0_i2h_weight: Any

    def __init__(
        self,
        hidden_size: int,
        num_layers: int,
        layout: str,
        dropout: float,
        bidirectional: bool,
        input_size: int,
        i2h_weight_initializer: Any,
        h2h_weight_initializer: Any,
        i2h_bias_initializer: Any,
        h2h_bias_initializer: Any,
        mode: str,
        projection_size: int | None,
        h2r_weight_initializer: Any,
        lstm_state_clip_min: float | None,
        lstm_state_clip_max: float | None,
        lstm_state_clip_nan: bool,
        dtype: Any,
        use_sequence_length: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if layout not in ("TNC", "NTC"):
            raise ParamError(f"{type(self).__name__}: layout is {layout!r}, expected 'TNC' or 'NTC'")
        self._hidden_size = hidden_size
        self._projection_size = projection_size or None
        self._num_layers = num_layers
        self._mode = mode
        self._layout = layout
        self._dropout = dropout
        self._dir = 2 if bidirectional else 1
        self._input_size = input_size
        self._clip = {
            "lstm_state_clip_min": lstm_state_clip_min,
            "lstm_state_clip_max": lstm_state_clip_max,
            "lstm_state_clip_nan": lstm_state_clip_nan,
        }
        self._dtype = dtype
        self._use_sequence_length = use_sequence_length
        self.skip_states: bool | None = None
        self._gates = _GATES[mode]
        self._initializers = {
            "i2h_weight": i2h_weight_initializer,
            "h2h_weight": h2h_weight_initializer,
            "i2h_bias": i2h_bias_initializer,
            "h2h_bias": h2h_bias_initializer,
        }
        if self._projection_size is not None:
            self._initializers["h2r_weight"] = h2r_weight_initializer
        self._make_parameters()

    @property
    def _recurrent_size(self) -> int:
        return self._projection_size or self._hidden_size

    def _make_parameters(self) -> None:
        rows, recurrent = self._gates * self._hidden_size, self._recurrent_size
        for layer, side in product(range(self._num_layers), "lr"[: self._dir]):
            columns = recurrent * self._dir if layer else self._input_size
            shapes = {
                "i2h_weight": (rows, columns),
                "h2h_weight": (rows, recurrent),
                "i2h_bias": (rows,),
                "h2h_bias": (rows,),
                "h2r_weight": (recurrent, self._hidden_size),
            }
            for what, init in self._initializers.items():
                self._register_param(f"{side}{layer}_{what}", shapes[what], init, self._dtype)

    def _register_param(self, name: str, shape: tuple[int, ...], init: Any, dtype: Any) -> Any:
        made = self.params.get(name, shape=shape, init=init, allow_deferred_init=True, dtype=dtype)
        setattr(self, name, made)
        return made

    def __repr__(self) -> str:
        rows, columns = self.l0_i2h_weight.shape
        parts = [f"{columns or None} -> {rows // self._gates}", self._layout]
        if self._num_layers != 1:
            parts.append(f"num_layers={self._num_layers}")
        if self._dropout:
            parts.append(f"dropout={self._dropout}")
        if self._dir == 2:
            parts.append("bidirectional")
        return f"{type(self).__name__}({', '.join(parts)})"

    def _collect_params_with_prefix(self, prefix: str = "") -> dict[str, Any]:
        """Parameters by the names that the unfused cells have, as files of MXNet have them."""
        prefix = f"{prefix}." if prefix else ""
        found = {}
        for name, param in self._reg_params.items():
            side, layer, product_, kind = _PARAMETER.match(name).groups()  # type: ignore[union-attr]  # all do
            cell = f"{side}_cell." if self._dir == 2 else ""
            found[f"{prefix}_unfused.{layer}.{cell}{product_}_{kind}"] = param
        return found

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Shape, layout and type of each state."""
        return [self._state(batch_size, self._hidden_size)]

    def _state(self, batch_size: int, size: int) -> dict[str, Any]:
        shape = (self._num_layers * self._dir, batch_size, size)
        return {"shape": shape, "__layout__": "LNC", "dtype": self._dtype}

    def _unfuse(self) -> HybridSequentialRNNCell:
        """The same network as cells, which share the parameters.

        Raises:
            UnsupportedError: No cell projects its states, or clips them.
        """
        if self._projection_size or self._clip["lstm_state_clip_min"] or self._clip["lstm_state_clip_max"]:
            raise UnsupportedError(f"{self.name}: no cell projects or clips its states")
        stack = HybridSequentialRNNCell(prefix=self.prefix, params=self.params)
        given = {f"{name}_initializer": init for name, init in self._initializers.items()}
        with stack.name_scope():
            for layer in range(self._num_layers):
                columns = self._hidden_size * self._dir if layer else self._input_size
                cells = [
                    _CELLS[self._mode](
                        self._hidden_size, prefix=f"{side}{layer}_", input_size=columns, **given
                    )
                    for side in "lr"[: self._dir]
                ]
                stack.add(BidirectionalCell(*cells) if self._dir == 2 else cells[0])
                if self._dropout > 0 and layer != self._num_layers - 1:
                    stack.add(DropoutCell(self._dropout))
        return stack

    def cast(self, dtype: Any) -> None:
        """Convert parameters, and the states that `begin_state` makes, to another type."""
        super().cast(dtype)
        self._dtype = dtype

    def begin_state(
        self, batch_size: int = 0, func: Callable[..., Any] = nd.zeros, **kwargs: Any
    ) -> list[Any]:
        """States before the first step; see `RecurrentCell.begin_state`."""
        return [
            func(name=f"{self.prefix}h0_{number}", **{**info, **kwargs})
            for number, info in enumerate(self.state_info(batch_size))
        ]

    def __call__(  # type: ignore[override]  # its inputs have names
        self, inputs: Any, states: Any = None, sequence_length: Any = None, **kwargs: Any
    ) -> Any:
        """Run a batch of sequences.

        Args:
            inputs: Of the layout's axes.
            states: One state or a list; None: zeros, and no states are returned.
            sequence_length: Steps of each sequence, with `use_sequence_length`.

        Returns:
            The outputs, and the list of states after the last step.
        """
        skips = states is None
        if skips != self.skip_states:
            self._clear_cached_op()  # what was compiled returns states, or does not
        self.skip_states = skips
        if states is None and isinstance(inputs, NDArray):
            batch_size = inputs.shape[self._layout.find("N")]
            states = self.begin_state(batch_size, ctx=inputs.context, dtype=inputs.dtype)
        elif states is None:
            states = self.begin_state(0, func=sym.zeros)
        elif isinstance(states, tensor_types):
            states = [states]
        if isinstance(inputs, NDArray):
            self._check_states(states, inputs.shape[self._layout.find("N")])
        more = [sequence_length] if self._use_sequence_length else []
        return super().__call__(inputs, states, *more, **kwargs)

    def hybrid_forward(  # type: ignore[override]  # its second input has a name
        self,
        F: Any,
        inputs: Any,
        states: Any,
        sequence_length: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Compute outputs, and states where they were given."""
        if self._layout == "NTC":
            inputs = F.swapaxes(inputs, dim1=0, dim2=1)
        outputs, *last = F.RNN(
            inputs,
            self._packed(F, kwargs),
            *states,
            *([sequence_length] if self._use_sequence_length else []),
            use_sequence_length=self._use_sequence_length,
            state_size=self._hidden_size,
            projection_size=self._projection_size,
            num_layers=self._num_layers,
            bidirectional=self._dir == 2,
            p=self._dropout,
            state_outputs=True,
            mode=self._mode,
            **self._clip,
        )
        if self._layout == "NTC":
            outputs = F.swapaxes(outputs, dim1=0, dim2=1)
        return outputs if self.skip_states else (outputs, last)

    def _check_states(self, states: Any, batch_size: int) -> None:
        for number, (state, info) in enumerate(zip(states, self.state_info(batch_size), strict=False)):
            if state.shape != info["shape"]:
                raise ShapeError(
                    f"{self.name}: state {number} has shape {state.shape}, expected {info['shape']}; "
                    f"begin_state({batch_size}) makes states"
                )

    def _packed(self, F: Any, params: dict[str, Any]) -> Any:
        """All weights, then all biases, in the order of the operator's `parameters`."""
        weights = [name for name in ("i2h_weight", "h2h_weight", "h2r_weight") if name in self._initializers]
        parts = []
        for kinds in (weights, ["i2h_bias", "h2h_bias"]):
            for layer in range(self._num_layers):
                parts += self._packed_layer(F, params, layer, kinds)
        return F.concat(*parts, dim=0)

    def _packed_layer(self, F: Any, params: dict[str, Any], layer: int, kinds: Sequence[str]) -> list[Any]:
        sides = "lr"[: self._dir]
        if F is nd or len(sides) == 1 or layer:
            return [params[f"{side}{layer}_{kind}"].reshape((-1,)) for side in sides for kind in kinds]
        # Both directions side by side: the data's features are unknown in both, and a `concat` can tell the
        # length of one unknown input alone.
        pairs = [
            F.concat(*(F.expand_dims(params[f"{side}{layer}_{kind}"], axis=0) for side in sides), dim=0)
            for kind in kinds
        ]
        return [F.concat(*(pair.reshape((2, -1)) for pair in pairs), dim=1).reshape((-1,))]

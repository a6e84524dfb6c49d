"""Recurrent cells of convolutions: `Conv1DRNNCell` to `Conv3DGRUCell`.

The kinds say what becomes of the convolutions of input and state. A cell of a kind and a number of axes is a
class whose signature alone differs, in defaults of one, two or three numbers and in the layout; `_class_of`
makes them.

Source: python/mxnet/gluon/contrib/rnn/conv_rnn_cell.py, after Shi et al. 2015, "Convolutional LSTM network".
"""

from __future__ import annotations

from typing import Any

from operad.errors import ParamError
from operad_gluon.rnn.base import HybridRecurrentCell

Sizes = int | tuple[int, ...]


class _ConvCell(HybridRecurrentCell):
    """Base of the cells.

    Args:
        dims: Axes of an image.
        input_shape: Shape of an input, without the batch.
        hidden_channels: Channels of the states.
        i2h_kernel: Size of the convolution of the input.
        h2h_kernel: Size of that of the state; odd.
        i2h_pad: Padding of the input.
        i2h_dilate: Dilation of the convolution of the input.
        h2h_dilate: Dilation of that of the state.
        initializers: Of the weights and the biases, by name.
        conv_layout: Layout of a batch of inputs.
        activation: Name of an activation, or a block.
        prefix: As of `Block`.
        params: As of `Block`.
    Raises:
        ParamError: A size has not as many numbers as there are axes, or `h2h_kernel` is even.
    """

    i2h_weight: Any
    _num_gates = 1
    _num_states = 1

    def __init__(
        self,
        dims: int,
        input_shape: tuple[int, ...],
        hidden_channels: int,
        i2h_kernel: Sizes,
        h2h_kernel: Sizes,
        i2h_pad: Sizes,
        i2h_dilate: Sizes,
        h2h_dilate: Sizes,
        initializers: tuple[Any, Any, Any, Any],
        conv_layout: str,
        activation: Any,
        prefix: str | None,
        params: Any,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._hidden_channels = hidden_channels
        self._input_shape = input_shape
        self._conv_layout = conv_layout
        self._activation = activation
        self._channel_axis = conv_layout.find("C")
        i2h = [self._sizes(dims, one) for one in (i2h_kernel, i2h_pad, i2h_dilate)]
        h2h = [self._sizes(dims, one) for one in (h2h_kernel, h2h_dilate)]
        if any(size % 2 == 0 for size in h2h[0]):
            raise ParamError(f"{type(self).__name__}: h2h_kernel is {h2h_kernel!r}, expected odd numbers")
        same = tuple(d * (k - 1) // 2 for k, d in zip(*h2h, strict=True))
        self._i2h = self._settings(*i2h)
        self._h2h = self._settings(h2h[0], same, h2h[1])
        image = input_shape[1:] if self._channel_axis == 1 else input_shape[:-1]
        outputs = tuple(
            size + 2 * pad - dilate * (kernel - 1) if size else 0
            for size, kernel, pad, dilate in zip(image, *i2h, strict=True)
        )
        self._state_shape = self._with_channels(hidden_channels, outputs)
        total = hidden_channels * self._num_gates
        shapes = {
            "i2h_weight": (total, *self._with_channels(input_shape[self._channel_axis - 1], i2h[0])),
            "h2h_weight": (total, *self._with_channels(hidden_channels, h2h[0])),
            "i2h_bias": (total,),
            "h2h_bias": (total,),
        }
        for (name, shape), init in zip(shapes.items(), initializers, strict=True):
            setattr(self, name, self.params.get(name, shape=shape, init=init, allow_deferred_init=True))

    def _sizes(self, dims: int, given: Sizes) -> tuple[int, ...]:
        sizes = (given,) * dims if isinstance(given, int) else tuple(given)
        if len(sizes) != dims:
            raise ParamError(f"{type(self).__name__}: got {given!r}, expected {dims} numbers, or one")
        return sizes

    def _settings(
        self, kernel: tuple[int, ...], pad: tuple[int, ...], dilate: tuple[int, ...]
    ) -> dict[str, Any]:
        return {
            "kernel": kernel,
            "pad": pad,
            "dilate": dilate,
            "stride": (1,) * len(kernel),
            "num_filter": self._hidden_channels * self._num_gates,
            "layout": self._conv_layout,
        }

    def _with_channels(self, channels: int, image: tuple[int, ...]) -> tuple[int, ...]:
        return (channels, *image) if self._channel_axis == 1 else (*image, channels)

    def __repr__(self) -> str:
        shape = self.i2h_weight.shape
        mapping = f"{shape[1 if self._channel_axis == 1 else -1] or None} -> {shape[0]}"
        return f"{type(self).__name__}({mapping}, {self._activation}, {self._conv_layout})"

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Shape and layout of each state."""
        shape = (batch_size, *self._state_shape)
        return [{"shape": shape, "__layout__": self._conv_layout} for _ in range(self._num_states)]

    def hybrid_forward(  # inputs by name
        self,
        F: Any,
        inputs: Any,
        states: Any,
        i2h_weight: Any,
        h2h_weight: Any,
        i2h_bias: Any,
        h2h_bias: Any,
    ) -> tuple[Any, list[Any]]:
        """Compute one step."""
        prefix = f"t{self._counter}_"
        i2h = F.Convolution(inputs, i2h_weight, i2h_bias, name=f"{prefix}i2h", **self._i2h)
        h2h = F.Convolution(states[0], h2h_weight, h2h_bias, name=f"{prefix}h2h", **self._h2h)
        new = self._new_states(F, i2h, h2h, states, prefix)
        return new[0], new

    def _new_states(self, F: Any, i2h: Any, h2h: Any, states: Any, prefix: str) -> list[Any]:
        raise NotImplementedError  # abstract: each of the three kinds of cells has its own

    def _parts(self, F: Any, data: Any, name: str) -> Any:
        return F.SliceChannel(data, num_outputs=self._num_gates, axis=self._channel_axis, name=name)


class _ConvRNNCell(_ConvCell):
    """`activation` of the sum of the two convolutions."""

    def _alias(self) -> str:
        return "conv_rnn"

    def _new_states(self, F: Any, i2h: Any, h2h: Any, states: Any, prefix: str) -> list[Any]:
        return [self._get_activation(F, i2h + h2h, self._activation, name=f"{prefix}out")]


class _ConvLSTMCell(_ConvCell):
    """Long short-term memory whose products are convolutions."""

    _num_gates = 4
    _num_states = 2

    def _alias(self) -> str:
        return "conv_lstm"

    def _new_states(self, F: Any, i2h: Any, h2h: Any, states: Any, prefix: str) -> list[Any]:
        parts = self._parts(F, i2h + h2h, f"{prefix}slice")
        in_gate = F.Activation(parts[0], act_type="sigmoid", name=f"{prefix}i")
        forget_gate = F.Activation(parts[1], act_type="sigmoid", name=f"{prefix}f")
        in_transform = self._get_activation(F, parts[2], self._activation, name=f"{prefix}c")
        out_gate = F.Activation(parts[3], act_type="sigmoid", name=f"{prefix}o")
        next_c = F.elemwise_add(forget_gate * states[1], in_gate * in_transform, name=f"{prefix}state")
        shown = self._get_activation(F, next_c, self._activation)
        return [F.elemwise_mul(out_gate, shown, name=f"{prefix}out"), next_c]


class _ConvGRUCell(_ConvCell):
    """Gated recurrent units whose products are convolutions."""

    _num_gates = 3

    def _alias(self) -> str:
        return "conv_gru"

    def _new_states(self, F: Any, i2h: Any, h2h: Any, states: Any, prefix: str) -> list[Any]:
        i2h_r, i2h_z, i2h_n = self._parts(F, i2h, f"{prefix}i2h_slice")
        h2h_r, h2h_z, h2h_n = self._parts(F, h2h, f"{prefix}h2h_slice")
        reset = F.Activation(i2h_r + h2h_r, act_type="sigmoid", name=f"{prefix}r_act")
        update = F.Activation(i2h_z + h2h_z, act_type="sigmoid", name=f"{prefix}z_act")
        proposed = self._get_activation(F, i2h_n + reset * h2h_n, self._activation, name=f"{prefix}h_act")
        return [F.elemwise_add((1.0 - update) * proposed, update * states[0], name=f"{prefix}out")]


def _class_of(kind: type[_ConvCell], dims: int, layout: str) -> Any:
    """The class of a kind of cells for images of `dims` axes, in `layout` unless another is given."""
    zeros, ones = (0,) * dims, (1,) * dims

    def __init__(  # noqa: N807 - of the class that is made
        self: Any,
        input_shape: tuple[int, ...],
        hidden_channels: int,
        i2h_kernel: Sizes,
        h2h_kernel: Sizes,
        i2h_pad: Sizes = zeros,
        i2h_dilate: Sizes = ones,
        h2h_dilate: Sizes = ones,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        conv_layout: str = layout,
        activation: Any = "tanh",
        prefix: str | None = None,
        params: Any = None,
    ) -> None:
        initializers = (
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
        )
        kind.__init__(
            self, dims, input_shape, hidden_channels, i2h_kernel, h2h_kernel, i2h_pad, i2h_dilate, h2h_dilate,
            initializers, conv_layout, activation, prefix, params,
        )  # fmt: skip

    name = kind.__name__.replace("_Conv", f"Conv{dims}D")
    doc = f"{kind.__doc__}\n\n    Images have {dims} axes; for the arguments see the base class."
    return type(name, (kind,), {"__init__": __init__, "__doc__": doc, "__module__": __name__})


Conv1DRNNCell = _class_of(_ConvRNNCell, 1, "NCW")
Conv2DRNNCell = _class_of(_ConvRNNCell, 2, "NCHW")
Conv3DRNNCell = _class_of(_ConvRNNCell, 3, "NCDHW")
Conv1DLSTMCell = _class_of(_ConvLSTMCell, 1, "NCW")
Conv2DLSTMCell = _class_of(_ConvLSTMCell, 2, "NCHW")
Conv3DLSTMCell = _class_of(_ConvLSTMCell, 3, "NCDHW")
Conv1DGRUCell = _class_of(_ConvGRUCell, 1, "NCW")
Conv2DGRUCell = _class_of(_ConvGRUCell, 2, "NCHW")
Conv3DGRUCell = _class_of(_ConvGRUCell, 3, "NCDHW")

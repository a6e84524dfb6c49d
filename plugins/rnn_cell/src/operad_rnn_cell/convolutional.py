"""Cells whose weights are convolutions: inputs and states are pictures.

Source: BaseConvRNNCell, python/mxnet/rnn/rnn_cell.py. Differs: any number of spatial axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from operad import Symbol, sym
from operad.errors import ParamError
from operad_rnn_cell.base import RNNParams
from operad_rnn_cell.steps import GatedCell, GRUStep, LSTMStep, PlainStep

Lengths = tuple[int, ...]


def leaky(inputs: Symbol, **arguments: Any) -> Symbol:
    """`x`, or `0.2 x` where it is negative."""
    return sym.LeakyReLU(inputs, act_type="leaky", slope=0.2, **arguments)  # type: ignore[no-any-return]


class BaseConvRNNCell(GatedCell):
    """A cell that joins input and hidden state by one convolution each.

    The convolution of the hidden state is padded so that it keeps its size.

    Args:
        input_shape: Of one step's input, with the batch: (N, C, H, W) in the layout `NCHW`.
        num_hidden: Channels of output and states.
        h2h_kernel: Kernel of the hidden state's convolution; odd lengths.
        h2h_dilate: Its dilation.
        i2h_kernel: Kernel of the input's convolution.
        i2h_stride: Its stride.
        i2h_pad: Its padding.
        i2h_dilate: Its dilation.
        i2h_weight_initializer: What fills the weight, as `init` of `sym.var`; likewise the three that follow.
        activation: What `sym.Activation` takes, or a function of a symbol.
        prefix: As in `BaseRNNCell`, with what follows; None: the cell's own, such as `ConvRNN_`.
        conv_layout: Of inputs and states.

    Raises:
        ParamError: A length of `h2h_kernel` is even, or the lengths are not one for each spatial axis.
    """

    _usual_prefix: ClassVar[str] = ""

    def __init__(
        self,
        input_shape: Sequence[int],
        num_hidden: int,
        h2h_kernel: Lengths = (3, 3),
        h2h_dilate: Lengths = (1, 1),
        i2h_kernel: Lengths = (3, 3),
        i2h_stride: Lengths = (1, 1),
        i2h_pad: Lengths = (1, 1),
        i2h_dilate: Lengths = (1, 1),
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        activation: Any = leaky,
        prefix: str | None = None,
        params: RNNParams | None = None,
        conv_layout: str = "NCHW",
    ) -> None:
        super().__init__(self._usual_prefix if prefix is None else prefix, params)
        what = type(self).__name__
        if any(length % 2 == 0 for length in h2h_kernel):
            raise ParamError(
                f"{what}: h2h_kernel is {h2h_kernel}, expected odd lengths, so that states keep theirs"
            )
        lengths = (h2h_kernel, h2h_dilate, i2h_kernel, i2h_stride, i2h_pad, i2h_dilate)
        axes = len(conv_layout) - 2
        if any(len(each) != axes for each in lengths) or len(input_shape) != axes + 2:
            raise ParamError(
                f"{what}: the input's shape is {tuple(input_shape)} and kernels and the like are {lengths}; "
                f"expected {axes + 2} axes with the batch, and {axes} lengths, for layout {conv_layout!r}"
            )
        self._num_hidden = num_hidden
        self._activation = activation
        self._layout = conv_layout
        self._of_input = {"kernel": i2h_kernel, "stride": i2h_stride, "pad": i2h_pad, "dilate": i2h_dilate}
        pad = tuple(dilate * (length - 1) // 2 for length, dilate in zip(h2h_kernel, h2h_dilate, strict=True))
        self._of_hidden = {"kernel": h2h_kernel, "stride": (1,) * axes, "pad": pad, "dilate": h2h_dilate}
        self._iW = self._params.get("i2h_weight", init=i2h_weight_initializer)
        self._hW = self._params.get("h2h_weight", init=h2h_weight_initializer)
        self._iB = self._params.get("i2h_bias", init=i2h_bias_initializer)
        self._hB = self._params.get("h2h_bias", init=h2h_bias_initializer)
        made = sym.Convolution(sym.var("data"), num_filter=num_hidden, layout=conv_layout, **self._of_input)
        self._state_shape = (0, *made.infer_shape(data=tuple(input_shape))[1][0][1:])

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """The hidden state."""
        return [{"shape": self._state_shape, "__layout__": self._layout}]

    def _joined(self, inputs: Symbol, hidden: Symbol, name: str) -> tuple[Symbol, Symbol]:
        common = {"num_filter": self._num_hidden * len(self._gate_names), "layout": self._layout}
        of_input = sym.Convolution(inputs, self._iW, self._iB, name=f"{name}i2h", **common, **self._of_input)
        of_hidden = sym.Convolution(
            hidden, self._hW, self._hB, name=f"{name}h2h", **common, **self._of_hidden
        )
        return of_input, of_hidden


class ConvRNNCell(PlainStep, BaseConvRNNCell):
    """`h = activation(W * x + U * h + b)`, where `*` is a convolution; see `BaseConvRNNCell`."""

    _usual_prefix = "ConvRNN_"


class ConvLSTMCell(LSTMStep, BaseConvRNNCell):
    """An LSTM of convolutions; see `BaseConvRNNCell`.

    Source: Shi et al., "Convolutional LSTM network", 2015.
    """

    _usual_prefix = "ConvLSTM_"

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """The hidden state and the cell's memory."""
        return super().state_info * 2


class ConvGRUCell(GRUStep, BaseConvRNNCell):
    """A GRU of convolutions; see `BaseConvRNNCell`."""

    _usual_prefix = "ConvGRU_"

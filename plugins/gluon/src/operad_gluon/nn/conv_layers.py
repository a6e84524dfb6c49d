"""Convolutions and their transposes, and padding.

The axes of a weight follow the layout of data: N stands for outputs and C for inputs of a convolution, and
the other way round for a transposed one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from operad_gluon.block import HybridBlock as HybridBlock
from operad_gluon.errors import ParameterError
from operad_gluon.nn.activations import Activation as Activation
from operad_gluon.nn.pooling import AvgPool1D as AvgPool1D
from operad_gluon.nn.pooling import AvgPool2D as AvgPool2D
from operad_gluon.nn.pooling import AvgPool3D as AvgPool3D
from operad_gluon.nn.pooling import GlobalAvgPool1D as GlobalAvgPool1D
from operad_gluon.nn.pooling import GlobalAvgPool2D as GlobalAvgPool2D
from operad_gluon.nn.pooling import GlobalAvgPool3D as GlobalAvgPool3D
from operad_gluon.nn.pooling import GlobalMaxPool1D as GlobalMaxPool1D
from operad_gluon.nn.pooling import GlobalMaxPool2D as GlobalMaxPool2D
from operad_gluon.nn.pooling import GlobalMaxPool3D as GlobalMaxPool3D
from operad_gluon.nn.pooling import MaxPool1D as MaxPool1D
from operad_gluon.nn.pooling import MaxPool2D as MaxPool2D
from operad_gluon.nn.pooling import MaxPool3D as MaxPool3D
from operad_gluon.nn.pooling import known_layout, per_axis, show_defaults


class _Conv(HybridBlock):
    """A convolution over the axes of a layout."""

    _layouts: ClassVar[tuple[str, str]]
    _op_name = "Convolution"
    _is_transpose = False

    def __init_subclass__(cls, layouts: tuple[str, str] | None = None) -> None:
        if layouts is not None:
            rank = len(layouts[0]) - 2
            ones, zeros = ((1,) * rank, (0,) * rank) if rank > 1 else (1, 0)
            cls._layouts = layouts
            show_defaults(
                cls, strides=ones, padding=zeros, output_padding=zeros, dilation=ones, layout=layouts[0]
            )

    def __init__(
        self,
        channels: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        layout: str = "",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        layout = known_layout(type(self).__name__, layout, self._layouts)
        rank = len(layout) - 2
        self._channels, self._in_channels = channels, in_channels
        self._kwargs: dict[str, Any] = {
            "kernel": per_axis("kernel_size", kernel_size, rank),
            "stride": per_axis("strides", strides, rank),
            "dilate": per_axis("dilation", dilation, rank),
            "pad": per_axis("padding", padding, rank),
            "num_filter": channels,
            "num_group": groups,
            "no_bias": not use_bias,
            "layout": layout,
        }
        with self.name_scope():
            self.weight = self.params.get(
                "weight", shape=self._weight_shape(), init=weight_initializer, allow_deferred_init=True
            )
            self.bias, self.act = None, None
            if use_bias:
                self.bias = self.params.get(
                    "bias", shape=(channels,), init=bias_initializer, allow_deferred_init=True
                )
            if activation is not None:
                self.act = Activation(activation, prefix=activation + "_")

    def _weight_shape(self) -> tuple[int, ...]:
        groups, spatial = self._kwargs["num_group"], iter(self._kwargs["kernel"])
        sizes = {"N": self._channels, "C": self._in_channels // groups}
        if self._is_transpose:
            sizes = {"N": self._in_channels, "C": self._channels // groups}
        return tuple(sizes[axis] if axis in sizes else next(spatial) for axis in self._kwargs["layout"])

    def _alias(self) -> str:
        return "conv"

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:
        """The convolved `x`."""
        given = (x, weight) if bias is None else (x, weight, bias)
        found = getattr(F, self._op_name)(*given, name="fwd", **self._kwargs)
        return found if self.act is None else self.act(found)

    def __repr__(self) -> str:
        kwargs, shape = self._kwargs, self.weight.shape or (0, 0)
        rank = len(kwargs["kernel"])
        text = f"{shape[1] or None} -> {shape[0]}, kernel_size={kwargs['kernel']}, stride={kwargs['stride']}"
        if kwargs["pad"] != (0,) * rank:
            text += f", padding={kwargs['pad']}"
        if kwargs["dilate"] != (1,) * rank:
            text += f", dilation={kwargs['dilate']}"
        if kwargs["num_group"] != 1:
            text += f", groups={kwargs['num_group']}"
        if self.bias is None:
            text += ", bias=False"
        if self.act is not None:
            text += f", {self.act!r}"
        return f"{type(self).__name__}({text})"


class _ConvTranspose(_Conv):
    """The transpose of a convolution: as its gradient maps outputs to inputs."""

    _op_name = "Deconvolution"
    _is_transpose = True

    def __init__(
        self,
        channels: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        output_padding: int | Sequence[int] = 0,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(channels, kernel_size, strides, padding, *args, **kwargs)
        rank = len(self._kwargs["kernel"])
        self._kwargs["adj"] = per_axis("output_padding", output_padding, rank)


class Conv1D(_Conv, layouts=("NCW", "NWC")):
    """A convolution of sequences.

    Args:
        channels: Number of output channels.
        kernel_size: Length of the kernel, along each axis or all.
        strides: Step of the kernel.
        padding: Zeros on each side.
        dilation: Distance of the kernel's elements.
        groups: Number of groups of channels, each convolved apart.
        layout: Order of the axes, "NCW" or "NWC".
        activation: Name of the function of its outputs, or None.
        use_bias: Whether it has a bias.
        weight_initializer: Initializer of the weight.
        bias_initializer: Initializer of the bias.
        in_channels: Number of input channels; 0 where the first batch tells it.
    """


class Conv1DTranspose(_ConvTranspose, layouts=("NCW", "NWC")):
    """The transpose of a convolution of sequences.

    Its arguments are those of `Conv1D`, and `output_padding`, zeros added to one side of the output.
    """


class Conv2D(_Conv, layouts=("NCHW", "NHWC")):
    """A convolution of pictures. Its arguments are those of `Conv1D`."""


class Conv2DTranspose(_ConvTranspose, layouts=("NCHW", "NHWC")):
    """The transpose of a convolution of pictures. Its arguments are those of `Conv1DTranspose`."""


class Conv3D(_Conv, layouts=("NCDHW", "NDHWC")):
    """A convolution of volumes. Its arguments are those of `Conv1D`."""


class Conv3DTranspose(_ConvTranspose, layouts=("NCDHW", "NDHWC")):
    """The transpose of a convolution of volumes. Its arguments are those of `Conv1DTranspose`."""


class ReflectionPad2D(HybridBlock):
    """Pads pictures by their reflection.

    Args:
        padding: Rows and columns on each side, or all eight numbers of the operator's `pad_width`.
    """

    def __init__(self, padding: int | Sequence[int] = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if isinstance(padding, int):
            padding = (0,) * 4 + (padding,) * 4
        if len(padding) != 8:
            raise ParameterError(f"ReflectionPad2D: padding is {padding!r}, expected a number, or 8 of them")
        self._padding = padding

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The padded `x`."""
        return F.pad(x, mode="reflect", pad_width=self._padding)

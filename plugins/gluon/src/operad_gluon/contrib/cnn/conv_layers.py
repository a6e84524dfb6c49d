"""Deformable convolutions (Dai et al. 2017, Zhu et al. 2018): a convolution of the input says where to read.

Source: python/mxnet/gluon/contrib/cnn/conv_layers.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

from operad.errors import ParamError
from operad_gluon.block import HybridBlock
from operad_gluon.nn import Activation
from operad_gluon.nn.pooling import per_axis, show_defaults

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]

Sizes = int | Sequence[int]


class DeformableConvolution(HybridBlock):
    """A convolution each of whose taps is moved by an offset that another convolution computes.

    Args:
        channels: Channels of the output.
        kernel_size: Height and width of the kernel, or one number for both.
        strides: Likewise, of the stride.
        padding: Likewise, of the padding.
        dilation: Likewise, of the dilation.
        groups: Groups of channels that do not see each other.
        num_deformable_group: Groups of channels with offsets of their own.
        layout: `NCHW`.
        use_bias: Whether the convolution has a bias.
        in_channels: Channels of the input; 0: those of the first one.
        activation: Name of an activation of the output, or None.
        weight_initializer: Of the weight.
        bias_initializer: Of the bias.
        offset_weight_initializer: Of the weight of the convolution of offsets.
        offset_bias_initializer: Of its bias.
        offset_use_bias: Whether it has one.
        op_name: Taken and not used, as is `adj`.
        prefix: As of `Block`.
        params: As of `Block`.
    Raises:
        ParamError: It is another layout.
    """

    _offsets_per_tap: ClassVar[int] = 2
    deformable_conv_weight: Any
    _order: ClassVar[tuple[str, ...]] = ("offset", "deformable_conv")
    """Order in which the two convolutions' parameters are made."""

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes = (1, 1),
        strides: Sizes = (1, 1),
        padding: Sizes = (0, 0),
        dilation: Sizes = (1, 1),
        groups: int = 1,
        num_deformable_group: int = 1,
        layout: str = "NCHW",
        use_bias: bool = True,
        in_channels: int = 0,
        activation: str | None = None,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        offset_weight_initializer: Any = "zeros",
        offset_bias_initializer: Any = "zeros",
        offset_use_bias: bool = True,
        op_name: str = "DeformableConvolution",
        adj: Any = None,
        prefix: str | None = None,
        params: Any = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        if layout != "NCHW":
            raise ParamError(f"{type(self).__name__}: layout is {layout!r}, expected 'NCHW'")
        kernel = per_axis("kernel_size", kernel_size, 2)
        shared = {
            "kernel": kernel,
            "stride": per_axis("strides", strides, 2),
            "dilate": per_axis("dilation", dilation, 2),
            "pad": per_axis("padding", padding, 2),
            "num_group": groups,
            "layout": layout,
        }
        self._taps = num_deformable_group * prod(kernel)
        offsets = self._offsets_per_tap * self._taps
        self._offset: dict[str, Any] = {**shared, "num_filter": offsets, "no_bias": not offset_use_bias}
        self._kwargs: dict[str, Any] = {
            **shared,
            "num_filter": channels,
            "no_bias": not use_bias,
            "num_deformable_group": num_deformable_group,
        }
        made = {
            "offset": (offsets, offset_weight_initializer, offset_bias_initializer, offset_use_bias),
            "deformable_conv": (channels, weight_initializer, bias_initializer, use_bias),
        }
        # The first input tells the features of the convolution itself, as in MXNet.
        inputs = {"offset": in_channels // groups, "deformable_conv": 0}
        with self.name_scope():
            for name in self._order:
                self._make(name, (inputs[name], *kernel), *made[name])
            self.act = Activation(activation, prefix=f"{activation}_") if activation else None

    def _make(
        self, name: str, of_input: tuple[int, ...], outputs: int, weight: Any, bias: Any, has_bias: bool
    ) -> None:
        shapes = {"weight": ((outputs, *of_input), weight), "bias": ((outputs,), bias)}
        for kind, (shape, init) in shapes.items():
            param = None
            if kind == "weight" or has_bias:
                param = self.params.get(f"{name}_{kind}", shape=shape, init=init, allow_deferred_init=True)
            setattr(self, f"{name}_{kind}", param)

    def _alias(self) -> str:
        return "deformable_conv"

    def hybrid_forward(
        self,
        F: Any,
        x: Any,
        offset_weight: Any,
        deformable_conv_weight: Any,
        offset_bias: Any = None,
        deformable_conv_bias: Any = None,
    ) -> Any:
        """Return the output."""
        bias = [] if offset_bias is None else [offset_bias]
        offset = F.Convolution(x, offset_weight, *bias, **self._offset)
        own = [deformable_conv_weight, *([] if deformable_conv_bias is None else [deformable_conv_bias])]
        out = self._deformed(F, x, offset, own)
        return out if self.act is None else self.act(out)

    def _deformed(self, F: Any, x: Any, offset: Any, own: Sequence[Any]) -> Any:
        return F.contrib.DeformableConvolution(x, offset, *own, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        settings = self._kwargs
        outputs, inputs = self.deformable_conv_weight.shape[:2]
        parts = [
            f"{inputs or None} -> {outputs}",
            f"kernel_size={settings['kernel']}",
            f"stride={settings['stride']}",
            *([f"padding={settings['pad']}"] if any(settings["pad"]) else []),
            *([f"dilation={settings['dilate']}"] if set(settings["dilate"]) != {1} else []),
            *([f"groups={settings['num_group']}"] if settings["num_group"] != 1 else []),
            *(["bias=False"] if settings["no_bias"] else []),
            *([repr(self.act)] if self.act is not None else []),
        ]
        return f"{type(self).__name__}({', '.join(parts)})"


class ModulatedDeformableConvolution(DeformableConvolution):
    """`DeformableConvolution` whose taps also get weights between 0 and 2, from the same convolution."""

    _offsets_per_tap = 3
    _order = ("deformable_conv", "offset")

    def _alias(self) -> str:
        return "modulated_deformable_conv"

    def _deformed(self, F: Any, x: Any, offset: Any, own: Sequence[Any]) -> Any:
        moved = F.slice_axis(offset, axis=1, begin=0, end=2 * self._taps)
        mask = F.sigmoid(F.slice_axis(offset, axis=1, begin=2 * self._taps, end=None)) * 2
        return F.contrib.ModulatedDeformableConvolution(x, moved, mask, *own, name="fwd", **self._kwargs)


show_defaults(ModulatedDeformableConvolution, op_name="ModulatedDeformableConvolution")

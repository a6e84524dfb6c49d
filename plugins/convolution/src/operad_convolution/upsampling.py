"""`UpSampling`: images made larger by an integer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from operad_convolution.deconvolution import Deconvolution
from operad_sdk import (
    Array,
    Contract,
    OpContext,
    OperatorProperty,
    ResourceRequest,
    Shape,
    ShapeError,
    gradient,
    operator,
    param,
)


def _is_nearest(prop: Any) -> bool:
    return bool(prop.sample_type == "nearest")


def _is_bilinear(prop: Any) -> bool:
    return not _is_nearest(prop)


def _enlarged(shapes: Sequence[Shape], scale: int, mode: str) -> Shape:
    """The output's size is the first input's, scaled; the others must repeat to it."""
    for index, shape in enumerate(shapes):
        if len(shape) != 4:
            raise ShapeError(f"UpSampling: arg{index} has shape {shape}, expected (N, C, H, W)")
    batch, channels, *size = shapes[0]
    out = [axis * scale for axis in size]
    for index, shape in enumerate(shapes):
        fits = shape[0] == batch and all(
            axis and wanted % axis == 0 for axis, wanted in zip(shape[2:], out, strict=True)
        )
        if not fits or (mode == "sum" and shape[1] != channels):
            raise ShapeError(
                f"UpSampling: arg{index} has shape {shape}, expected one that repeats to "
                f"{(batch, channels, *out)}"
            )
    return (batch, channels if mode == "sum" else sum(shape[1] for shape in shapes), *out)


def _some_images(prop: Any, choose: Callable[[Sequence[int]], int]) -> list[Shape]:
    """Images that go together: the others as large as the first, as the output, or of one pixel."""
    batch, channels = choose((1, 2, 3)), choose((1, 2, 3))
    height, width = choose((1, 2, 3)), choose((1, 2, 4))
    if _is_bilinear(prop):
        channels, size = prop.num_filter or channels, 2 * prop.scale - prop.scale % 2
        return [(batch, channels, height, width), (channels, 1, size, size)]
    found: list[Shape] = [(batch, channels, height, width)]
    for _ in range(prop.num_args - 1):
        own = channels if prop.multi_input_mode == "sum" else choose((1, 2, 3))
        factor = choose((0, 1, prop.scale))
        found.append((batch, own, height * factor or 1, width * factor or 1))
    return found


@operator("UpSampling")
class UpSampling(OperatorProperty):
    """Images of `scale` times the height and width.

    `nearest` repeats pixels and takes any number of inputs; each is brought to the size that the first
    one gets, and they are concatenated along the channels, or added. `bilinear` is a `Deconvolution` of
    each channel with a kernel of `2 * scale - scale % 2`, which an initialiser makes bilinear.

    Shapes:
        arg0, arg1, ...: (N, C, H, W), for nearest; each height and width divides the output's.
        data: (N, C, H, W), for bilinear.
        weight: (C, 1, k, k), for bilinear.
        output: (N, C, scale * H, scale * W); with several inputs to concatenate, the sum of their C.

    Example:
        >>> import operad as od
        >>> od.nd.UpSampling(od.nd.array([[[[1, 2]]]]), scale=2, sample_type="nearest").asnumpy()
        array([[[[1., 1., 2., 2.],
                 [1., 1., 2., 2.]]]], dtype=float32)

    Source: UpSamplingParam, src/operator/nn/upsampling-inl.h.
    """

    scale = param(int, ge=1, doc="Scale factor of the output.")
    num_filter = param(int, 0, ge=0, doc="Channels of data, for bilinear; left out: they are counted.")
    sample_type = param(str, choices=("nearest", "bilinear"), doc="Interpolation of pixels.")
    multi_input_mode = param(str, "concat", choices=("concat", "sum"), doc="Combination of several inputs.")
    num_args = param(int, ge=1, doc="Number of inputs; counted by the front ends.")
    workspace = param(int, 512, ge=0, doc="MXNet's limit of scratch memory in MB; unused.")

    key_var_num_args = "num_args"
    initializers = dict.fromkeys(("arg1", "weight"), '["bilinear", {}]')  # as MXNet, for nearest too
    compute_dtype = "float32"
    linear_in = ("data", "weight")

    spec = (
        "arg[num_args]:(*A[i]) if sample_type == 'nearest', data:(N, C, H, W) if sample_type == 'bilinear', "
        "weight:(C, 1, 2*scale - scale%2, 2*scale - scale%2) if sample_type == 'bilinear' "
        "-> output:(*enlarged(A, scale, multi_input_mode)) if sample_type == 'nearest', "
        "output:(N, C, scale*H, scale*W) if sample_type == 'bilinear'"
    )
    functions = {"enlarged": _enlarged}
    contract = Contract(shapes=_some_images)

    def forward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """Scratch memory, for bilinear."""
        return [ResourceRequest.TEMP_SPACE] if _is_bilinear(self) else []

    def backward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """Scratch memory, for bilinear."""
        return self.forward_resource(in_shapes)

    def forward(
        self, op_ctx: OpContext, arg: Sequence[Array], data: Array | None, weight: Array | None, output: Array
    ) -> None:
        """Repeat, or transpose a convolution."""
        if data is not None and weight is not None:
            layer = self._deconvolution(data.shape[1])
            Deconvolution.forward(layer, op_ctx, data, weight, None, output)
            return
        start = 0
        for index, item in enumerate(arg):
            part = _blocks(output[:, start : start + item.shape[1]], item.shape)
            source = item[:, :, :, None, :, None]
            if index and self.multi_input_mode == "sum":
                np.add(part, source, out=part)
            else:
                part[...] = source
            start += item.shape[1] if self.multi_input_mode == "concat" else 0

    @gradient(when=_is_nearest)
    def nearest_gradient(output_grad: Array, multi_input_mode: str, arg_grad: Any) -> None:
        """`dy/dx = 1` for each copy of a pixel, so their gradients are summed."""
        start = 0
        for target in arg_grad:
            part = output_grad[:, start : start + target.shape[1]]
            _blocks(part, target.shape).sum((3, 5), out=target)
            start += target.shape[1] if multi_input_mode == "concat" else 0

    @gradient(when=_is_bilinear)
    def bilinear_data_gradient(
        self, op_ctx: OpContext, output_grad: Array, weight: Array, data_grad: Array
    ) -> None:
        """The convolution that is `d/d data` of a deconvolution."""
        layer = self._deconvolution(output_grad.shape[1])
        Deconvolution.data_grad(layer, op_ctx, output_grad, weight, data_grad)

    @gradient(when=_is_bilinear)
    def bilinear_weight_gradient(
        self, op_ctx: OpContext, output_grad: Array, data: Array, weight_grad: Array
    ) -> None:
        """`d/d weight` of a deconvolution."""
        layer = self._deconvolution(output_grad.shape[1])
        Deconvolution.weight_grad(layer, op_ctx, output_grad, data, weight_grad)

    def _deconvolution(self, channels: int) -> Deconvolution:
        side = 2 * self.scale - self.scale % 2
        groups = max(1, channels)  # a layer has one at least, which is empty where there is no channel
        made: Deconvolution = Deconvolution(
            kernel=(side, side),
            stride=(self.scale, self.scale),
            pad=(self.scale // 2, self.scale // 2),
            num_filter=groups,
            num_group=groups,
        )
        return made


def _blocks(images: Array, shape: Shape) -> Array:
    """A view of `images` as (N, C, H, copies, W, copies), where `shape` is (N, C, H, W)."""
    height, width = (total // size for total, size in zip(images.shape[2:], shape[2:], strict=True))
    return images.reshape(*images.shape[:2], shape[2], height, shape[3], width)

"""`UpSampling`: images made larger by a whole number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from operad.errors import ShapeError
from operad.operator import InferredShapes, PartialShape
from operad_convolution.deconvolution import Deconvolution
from operad_convolution.layer import widened
from operad_sdk import (
    Array,
    OpContext,
    OperatorProperty,
    Output,
    ResourceRequest,
    Shape,
    gradient,
    operator,
    param,
)


def _is_nearest(prop: Any) -> bool:
    return bool(prop.sample_type == "nearest")


def _is_bilinear(prop: Any) -> bool:
    return not _is_nearest(prop)


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

    scale = param(int, ge=1, doc="How many times larger the output is.")
    num_filter = param(int, 0, ge=0, doc="Channels of data, for bilinear; left out: they are counted.")
    sample_type = param(str, choices=("nearest", "bilinear"), doc="How pixels are found.")
    multi_input_mode = param(str, "concat", choices=("concat", "sum"), doc="What happens to several inputs.")
    num_args = param(int, 1, ge=1, doc="Number of inputs; counted by the front ends.")
    workspace = param(int, 512, ge=0, doc="MXNet's limit of scratch memory in MB; unused.")

    key_var_num_args = "num_args"

    def spec(self) -> str:
        """One line of the shape language; that inputs fit the output, it does not say."""
        if _is_bilinear(self):
            side = "2*scale - scale % 2"
            return f"data:(N, C, H, W), weight:(C, 1, {side}, {side}) -> output:(N, C, scale*H, scale*W)"
        is_sum = self.multi_input_mode == "sum"
        channels = ["C" if is_sum else f"C{i}" for i in range(self.num_args)]
        arguments = ", ".join(f"arg{i}:(N, {c}, H{i}, W{i})" for i, c in enumerate(channels))
        return f"{arguments} -> output:(N, {'C' if is_sum else ' + '.join(channels)}, scale*H0, scale*W0)"

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """The output's size is the first input's, scaled."""
        if _is_bilinear(self):
            return super().infer_shape(in_shapes)
        shapes = list(in_shapes)
        if any(shape is None or None in shape for shape in shapes):
            return shapes, [None], []
        for name, shape in zip(self.list_arguments(), shapes, strict=True):
            if shape is None or len(shape) != 4:
                raise ShapeError(f"{self.name}: {name} has shape {shape}, expected (N, C, H, W)")
        (batch, channels, *size), *_ = (tuple(axis or 0 for axis in shape or ()) for shape in shapes)
        out = [axis * self.scale for axis in size]
        for index, shape in enumerate(shapes):
            self._check_input(index, [axis or 0 for axis in shape or ()], [batch, channels, *out])
        if self.multi_input_mode == "concat":
            channels = sum(shape[1] or 0 for shape in shapes if shape is not None)
        return shapes, [(batch, channels, *out)], []

    def forward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """Scratch memory, for bilinear."""
        return [ResourceRequest.TEMP_SPACE] if _is_bilinear(self) else []

    def backward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """Scratch memory, for bilinear."""
        return self.forward_resource(in_shapes)

    def forward(
        self,
        op_ctx: OpContext,
        output: Output,
        arg: Any = None,
        data: Array | None = None,
        weight: Array | None = None,
    ) -> None:
        """Repeat, or transpose a convolution."""
        if data is not None and weight is not None:
            self._deconvolution(data.shape[1]).forward(op_ctx, data, weight, None, output)
            return
        with output.writing() as out:
            start = 0
            for index, item in enumerate(arg):
                part = out[:, start : start + item.shape[1]]
                source = item[:, :, :, None, :, None]
                if index and self.multi_input_mode == "sum":
                    _blocks(part, item.shape)[...] += source
                else:
                    _blocks(part, item.shape)[...] = source
                start += item.shape[1] if self.multi_input_mode == "concat" else 0

    @gradient(when=_is_nearest)
    def nearest_gradient(self, output_grad: Array, arg_grad: Any) -> None:
        """Each pixel gets the sum over its copies."""
        start = 0
        for target in arg_grad:
            part = widened(output_grad[:, start : start + target.shape[1]])
            if target.wanted:
                target.assign(_blocks(part, target.shape).sum((3, 5)))
            start += target.shape[1] if self.multi_input_mode == "concat" else 0

    @gradient(when=_is_bilinear)
    def bilinear_data_gradient(
        self, op_ctx: OpContext, output_grad: Array, weight: Array, data_grad: Output
    ) -> None:
        """The convolution itself."""
        layer = self._deconvolution(output_grad.shape[1])
        layer.data_gradient(op_ctx, output_grad, weight, data_grad)

    @gradient(when=_is_bilinear)
    def bilinear_weight_gradient(
        self, op_ctx: OpContext, output_grad: Array, data: Array, weight_grad: Output
    ) -> None:
        """As in a convolution whose input is the output's gradient."""
        layer = self._deconvolution(output_grad.shape[1])
        layer.weight_gradient(op_ctx, output_grad, data, weight_grad)

    def _check_input(self, index: int, shape: Sequence[int], out: Sequence[int]) -> None:
        fits = shape[0] == out[0] and all(
            size and wanted % size == 0 for size, wanted in zip(shape[2:], out[2:], strict=True)
        )
        if not fits or (self.multi_input_mode == "sum" and shape[1] != out[1]):
            raise ShapeError(
                f"{self.name}: arg{index} has shape {tuple(shape)}, expected one that repeats to {tuple(out)}"
            )

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

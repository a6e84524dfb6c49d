"""`Deconvolution`: the transpose of `Convolution`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

from operad.errors import ParamError, ShapeError
from operad.operator import InferredShapes, PartialShape
from operad_convolution.correlate import correlate, correlate_data_gradient, correlate_weight_gradient
from operad_convolution.examples import PARAMS, deconvolution_shapes
from operad_convolution.geometry import Geometry, with_three_axes
from operad_convolution.layer import Layer, scratch_for, sum_over_positions, widened, write
from operad_sdk import Array, Contract, OpContext, Output, Shape, gradient, operator, param


@operator("Deconvolution")
class Deconvolution(Layer):
    """The transposed convolution: what `Convolution` does to gradients, in one to three dimensions.

    Shapes:
        data: (N, C, ...) with as many spatial axes as kernel has elements.
        weight: (C, num_filter / num_group, *kernel).
        bias: (num_filter,), unless `no_bias`, which is the default.
        output: (N, num_filter, ...), each axis stride (size - 1) + dilate (kernel - 1) + 1 - 2 pad + adj.

    Example:
        >>> import operad as od
        >>> data, weight = od.nd.array([[[1, 2]]]), od.nd.array([[[1, 10]]])
        >>> od.nd.Deconvolution(data, weight, kernel=(2,), num_filter=1).asnumpy()
        array([[[ 1., 12., 20.]]], dtype=float32)

    Source: DeconvolutionParam, src/operator/nn/deconvolution-inl.h. Differs: channels come first.
    """

    adj = param("shape", (), ge=0, doc="Further positions at the end, less than stride; left out: none.")
    target_shape = param("shape", (), ge=0, doc="Spatial size of the output, from which pad and adj follow.")
    no_bias = param(bool, True, doc="Leave the bias out.")
    contract = Contract(
        params={
            **PARAMS,
            # most of what is drawn alone is no less than some stride, or of another length
            "adj": (*((),) * 6, (1,), (1, 0), (0, 1), (0, 1, 1)),
            "target_shape": (*((),) * 12, (3,), (5,), (4, 4), (2, 5), (3, 2, 4), (2, 2, 1)),
        },
        shapes=deconvolution_shapes,
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.fill_in("adj", 0)
        if any(extra >= step for extra, step in zip(self.adj, self.stride, strict=True)):
            raise ParamError(f"{self.name}: adj is {self.adj}, expected less than stride {self.stride}")
        if not any(self.target_shape):
            self.target_shape = ()  # MXNet writes zeros for none
        elif len(self.target_shape) != len(self.kernel):
            raise ParamError(
                f"{self.name}: target_shape is {self.target_shape}, expected as many as in kernel"
            )

    def spec(self) -> str:
        """One line of the shape language, which depends on `target_shape`."""
        size = "((S - 1)*stride + dilate*(kernel - 1) + 1 - 2*pad + adj)"
        return (
            "data:(N, C, *S), weight:(C, num_filter//num_group, *kernel), bias:(num_filter) if not no_bias "
            f"-> output:(N, num_filter, *{'target_shape' if self.target_shape else size})"
        )

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """What follows from `spec`; groups must be whole and the target within reach."""
        data = in_shapes[0]
        self.check_channels(data)
        if data is not None and len(data) != len(self.kernel) + 2:
            raise ShapeError(
                f"{self.name}: data has shape {data}, expected (N, C) and one axis each of {self.kernel}"
            )
        found = super().infer_shape(in_shapes)
        if data is not None and None not in data[2:] and min(self._surplus(data), default=0) < 0:
            raise ShapeError(
                f"{self.name}: target_shape is {self.target_shape}, more than data {data} gives without pad; "
                "expected a smaller target_shape, or a larger kernel or stride"
            )
        return found

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> float:
        """Multiplications and additions."""
        return 2.0 * prod(in_shapes[0]) * prod(in_shapes[1][1:])

    def forward(
        self, op_ctx: OpContext, data: Array, weight: Array, bias: Array | None, output: Output
    ) -> None:
        """The adjoint of a convolution from the output to the data."""
        xp, geometry, filters = op_ctx.xp, self._transposed(data.shape, output.shape), widened(weight)
        scratch = scratch_for(op_ctx, geometry, filters.dtype)
        shift = None if bias is None else widened(bias)
        images = with_three_axes(data)
        write(xp, output, partial(correlate_data_gradient, op_ctx, geometry, filters, images, shift, scratch))

    @gradient
    def data_gradient(self, op_ctx: OpContext, output_grad: Array, weight: Array, data_grad: Output) -> None:
        """The convolution itself."""
        xp, filters = op_ctx.xp, widened(weight)
        geometry = self._transposed(data_grad.shape, output_grad.shape)
        scratch = scratch_for(op_ctx, geometry, filters.dtype)
        images = with_three_axes(output_grad)
        write(xp, data_grad, partial(correlate, op_ctx, geometry, images, filters, None, scratch))

    @gradient
    def weight_gradient(
        self, op_ctx: OpContext, output_grad: Array, data: Array, weight_grad: Output
    ) -> None:
        """As in a convolution whose input is the output's gradient."""
        geometry = self._transposed(data.shape, output_grad.shape)
        images, ograd = with_three_axes(output_grad), with_three_axes(widened(data))
        scratch = scratch_for(op_ctx, geometry, ograd.dtype)
        total = correlate_weight_gradient(op_ctx, geometry, images, ograd, scratch)
        weight_grad.assign(total.reshape(weight_grad.shape))

    @gradient(when=lambda prop: not prop.no_bias)
    def bias_gradient(self, output_grad: Array, bias_grad: Output) -> None:
        """The sum over all positions."""
        bias_grad.assign(sum_over_positions(output_grad))

    def _transposed(self, data: Shape, output: Shape) -> Geometry:
        """The convolution of which this is the transpose."""
        pad = tuple((surplus + 1) // 2 for surplus in self._surplus(data)) if self.target_shape else self.pad
        return self.geometry(output, data, pad)

    def _surplus(self, data: PartialShape) -> list[int]:
        """By how much each axis exceeds `target_shape` before padding cuts it."""
        assert data is not None
        axes = zip(data[2:], self.stride, self.dilate, self.kernel, self.target_shape, strict=False)
        return [
            step * (size - 1) + gap * (kernel - 1) + 1 - wanted
            for size, step, gap, kernel, wanted in axes
            if size is not None
        ]

"""`Convolution`: the layer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod

from operad.errors import ShapeError
from operad.operator import InferredShapes, PartialShape
from operad_convolution.correlate import correlate, correlate_data_gradient, correlate_weight_gradient
from operad_convolution.examples import PARAMS, by_windows, convolution_shapes
from operad_convolution.geometry import with_three_axes
from operad_convolution.layer import Layer, scratch_for, sum_over_positions, widened, write
from operad_sdk import Array, Contract, OpContext, Output, Shape, gradient, operator, param


@operator("Convolution")
class Convolution(Layer):
    """Correlation of images with filters, in one to three dimensions.

    Shapes:
        data: (N, C, ...) with as many spatial axes as kernel has elements.
        weight: (num_filter, C / num_group, *kernel).
        bias: (num_filter,), unless `no_bias`.
        output: (N, num_filter, ...), along each axis (size + 2 pad - dilate (kernel - 1) - 1) // stride + 1.

    Example:
        >>> import operad as od
        >>> data, weight = od.nd.array([[[1, 2, 4, 8]]]), od.nd.array([[[1, -1]]])
        >>> od.nd.Convolution(data, weight, kernel=(2,), num_filter=1, no_bias=True).asnumpy()
        array([[[-1., -2., -4.]]], dtype=float32)

    Source: ConvolutionParam, src/operator/nn/convolution-inl.h. Differs: channels come first.
    """

    no_bias = param(bool, False, doc="Leave the bias out.")

    spec = (
        "data:(N, C, *S), weight:(num_filter, C//num_group, *kernel), bias:(num_filter) if not no_bias "
        "-> output:(N, num_filter, *((S + 2*pad - dilate*(kernel - 1) - 1)//stride + 1))"
    )
    contract = Contract(params=PARAMS, shapes=convolution_shapes, reference=by_windows)

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """What follows from `spec`; groups must be whole and the window must fit."""
        self.check_channels(in_shapes[0])
        found = super().infer_shape(in_shapes)
        out = found[1][0]
        if out is not None and 0 in out[2:]:
            raise ShapeError(
                f"{self.name}: kernel {self.kernel} with dilate {self.dilate} exceeds data {in_shapes[0]} "
                f"with pad {self.pad}; expected a smaller kernel or more padding"
            )
        return found

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> float:
        """Multiplications and additions."""
        return 2.0 * prod(out_shapes[0]) * prod(in_shapes[1][1:])

    def forward(
        self, op_ctx: OpContext, data: Array, weight: Array, bias: Array | None, output: Output
    ) -> None:
        """Unroll rows, multiply, and add the bias on the way to the output."""
        xp, geometry, filters = op_ctx.xp, self.geometry(data.shape, output.shape, self.pad), widened(weight)
        scratch = scratch_for(op_ctx, geometry, filters.dtype)
        shift = None if bias is None else widened(bias)
        images = with_three_axes(data)
        write(xp, output, partial(correlate, op_ctx, geometry, images, filters, shift, scratch))

    @gradient
    def data_gradient(self, op_ctx: OpContext, output_grad: Array, weight: Array, data_grad: Output) -> None:
        """The adjoint by the data, which needs the weight alone."""
        xp, filters = op_ctx.xp, widened(weight)
        geometry = self.geometry(data_grad.shape, output_grad.shape, self.pad)
        scratch = scratch_for(op_ctx, geometry, filters.dtype)
        ograd = with_three_axes(output_grad)
        write(
            xp, data_grad, partial(correlate_data_gradient, op_ctx, geometry, filters, ograd, None, scratch)
        )

    @gradient
    def weight_gradient(
        self, op_ctx: OpContext, output_grad: Array, data: Array, weight_grad: Output
    ) -> None:
        """The adjoint by the weight, which needs the data alone."""
        geometry = self.geometry(data.shape, output_grad.shape, self.pad)
        images, ograd = with_three_axes(data), with_three_axes(widened(output_grad))
        scratch = scratch_for(op_ctx, geometry, ograd.dtype)
        total = correlate_weight_gradient(op_ctx, geometry, images, ograd, scratch)
        weight_grad.assign(total.reshape(weight_grad.shape))

    @gradient(when=lambda prop: not prop.no_bias)
    def bias_gradient(self, output_grad: Array, bias_grad: Output) -> None:
        """The sum over all positions."""
        bias_grad.assign(sum_over_positions(output_grad))

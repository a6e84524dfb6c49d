"""`Convolution`: the layer."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from operad import Context
from operad_convolution.correlate import correlate, correlate_data_gradient, correlate_weight_gradient
from operad_convolution.direct.layer import DirectCorrelation, computed_in, direct_correlation, refusal
from operad_convolution.direct.prepared import prepared_weights
from operad_convolution.examples import NARROWED, PARAMS, by_windows, convolution_shapes
from operad_convolution.geometry import Geometry, with_three_axes
from operad_convolution.layer import Layer, output_shape, scratch_for
from operad_sdk import (
    Array,
    Contract,
    Cost,
    DType,
    InferredShapes,
    KernelCall,
    OpContext,
    PartialShape,
    Shape,
    ShapeError,
    operator,
)
from operad_sdk.vector import InVectorCode


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

    spec = (
        "data:(N, C, *S), weight:(num_filter, C//num_group, *kernel), bias:(num_filter) if not no_bias "
        "-> output:(N, num_filter, *((S + 2*pad - dilate*(kernel - 1) - 1)//stride + 1))"
    )
    multiplies = ("data", "weight")
    contract = Contract(params=PARAMS, narrowed=NARROWED, shapes=convolution_shapes, reference=by_windows)

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Shapes that follow from `spec`; groups must be whole and the window must fit."""
        self.check_channels(in_shapes[0])
        found = super().infer_shape(in_shapes)
        out = found[1][0]
        if out is not None and 0 in out[2:]:
            raise ShapeError(
                f"{self.name}: kernel {self.kernel} with dilate {self.dilate} exceeds data {in_shapes[0]} "
                f"with pad {self.pad}; expected a smaller kernel or more padding"
            )
        return found

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Products of all windows with the filters, and the rows that are unrolled for them."""
        window = prod(in_shapes[1][1:])
        unrolled = in_shapes[0][0] * prod(out_shapes[0][2:]) * window * self.num_group
        return Cost(loops=unrolled, single_flops=2.0 * prod(out_shapes[0]) * window)

    def forward(
        self, op_ctx: OpContext, data: Array, weight: Array, bias: Array | None, output: Array
    ) -> None:
        """Unroll rows, multiply, and add the bias on the way to the output."""
        geometry = self.geometry(data.shape, output.shape, self.pad)
        scratch = scratch_for(op_ctx, geometry, weight.dtype)
        images, out = with_three_axes(data), with_three_axes(output)
        correlate(op_ctx, geometry, images, weight, bias, scratch, out)

    def data_grad(self, op_ctx: OpContext, output_grad: Array, weight: Array, data_grad: Array) -> None:
        """The adjoint by the data, which needs the weight alone.

        `d/d data[n, c, i] = sum of output_grad[n, f, o] * weight[f, c, k]` over all f, o and k with
        `i = o * stride + k * dilate - pad`.
        """
        geometry = self.geometry(data_grad.shape, output_grad.shape, self.pad)
        scratch = scratch_for(op_ctx, geometry, weight.dtype)
        heads, out = with_three_axes(output_grad), with_three_axes(data_grad)
        correlate_data_gradient(op_ctx, geometry, weight, heads, None, scratch, out)

    def weight_grad(self, op_ctx: OpContext, output_grad: Array, data: Array, weight_grad: Array) -> None:
        """The adjoint by the weight, which needs the data alone.

        `d/d weight[f, c, k] = sum of output_grad[n, f, o] * data[n, c, i]` over all n and o, with
        `i = o * stride + k * dilate - pad`.
        """
        geometry = self.geometry(data.shape, output_grad.shape, self.pad)
        images, heads = with_three_axes(data), with_three_axes(output_grad)
        scratch = scratch_for(op_ctx, geometry, heads.dtype)
        total = correlate_weight_gradient(op_ctx, geometry, images, heads, scratch)
        weight_grad[...] = total.reshape(weight_grad.shape)


def _geometry_of(prop: Convolution, in_shapes: Sequence[Shape]) -> Geometry:
    """The correlation that a layer is."""
    return prop.geometry(in_shapes[0], output_shape(prop, in_shapes), prop.pad)


def _refusal(call: KernelCall, is_large: bool) -> str | None:
    return refusal(_geometry_of(call.prop, call.in_shapes), is_large)


def _correlation(call: KernelCall) -> DirectCorrelation:
    return direct_correlation(_geometry_of(call.prop, call.in_shapes), computed_in(call.in_types[0]))


@Convolution.kernel(
    "cpu",
    priority=10,
    when=InVectorCode(_refusal),
    prepares=prepared_weights(_correlation, "forward", "data_grad"),
)
class Direct:
    """Without unrolled rows, in vector code."""

    def __init__(
        self, prop: Convolution, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> None:
        self._correlation = direct_correlation(_geometry_of(prop, in_shapes), computed_in(in_types[0]))

    def forward(
        self,
        op_ctx: OpContext,
        data: Array,
        weight: Array,
        bias: Array | None,
        output: Array,
        packed: Array | None,
    ) -> None:
        """The correlation."""
        self._correlation.correlate(op_ctx, data, weight, bias, output, packed)

    def data_grad(
        self,
        op_ctx: OpContext,
        output_grad: Array,
        weight: Array,
        data_grad: Array,
        turned: Array | None,
    ) -> None:
        """Its adjoint by the data."""
        self._correlation.data_gradient(op_ctx, weight, output_grad, None, data_grad, turned)

    def weight_grad(self, op_ctx: OpContext, output_grad: Array, data: Array, weight_grad: Array) -> None:
        """Its adjoint by the weight."""
        self._correlation.weight_gradient(op_ctx, data, output_grad, weight_grad)

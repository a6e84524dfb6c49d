"""`Convolution`: the layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from operad_convolution.correlate import correlate, correlate_data_gradient, correlate_weight_gradient
from operad_convolution.direct.kernel import DirectKernel, prepared_weights, refusal
from operad_convolution.examples import NARROWED, PARAMS, by_windows, convolution_shapes
from operad_convolution.geometry import Geometry
from operad_convolution.layer import Layer
from operad_sdk import (
    Array,
    Contract,
    Cost,
    InferredShapes,
    OpContext,
    PartialShape,
    Shape,
    ShapeError,
    operator,
    param,
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
    multiplies = linear_in = ("data", "weight")
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
        correlate(op_ctx, self.correlation(data.shape, output.shape), data, weight, bias, output)

    def data_grad(self, op_ctx: OpContext, output_grad: Array, weight: Array, data_grad: Array) -> None:
        """The adjoint by the data, which needs the weight alone.

        `d/d data[n, c, i] = sum of output_grad[n, f, o] * weight[f, c, k]` over all f, o and k with
        `i = o * stride + k * dilate - pad`.
        """
        geometry = self.correlation(data_grad.shape, output_grad.shape)
        correlate_data_gradient(op_ctx, geometry, output_grad, weight, None, data_grad)

    def weight_grad(self, op_ctx: OpContext, output_grad: Array, data: Array, weight_grad: Array) -> None:
        """The adjoint by the weight, which needs the data alone.

        `d/d weight[f, c, k] = sum of output_grad[n, f, o] * data[n, c, i]` over all n and o, with
        `i = o * stride + k * dilate - pad`.
        """
        geometry = self.correlation(data.shape, output_grad.shape)
        correlate_weight_gradient(op_ctx, geometry, data, output_grad, weight_grad)

    def correlation(self, data: Shape, output: Shape) -> Geometry:
        """The correlation that the layer is."""
        return self.geometry(data, output, self.pad)


@Convolution.kernel(
    "cpu", priority=10, when=InVectorCode(refusal), prepares=prepared_weights(is_transpose=False)
)
class Direct(DirectKernel):
    """Without unrolled rows, in vector code."""


@operator("Convolution_v1")
class ConvolutionV1(Convolution):
    """`Convolution` under its name before MXNet 0.9, which old files have.

    Shapes:
        data: (N, C, ...) with as many spatial axes as kernel has elements.
        weight: (num_filter, C / num_group, *kernel).
        bias: (num_filter,), unless `no_bias`.
        output: (N, num_filter, ...), along each axis (size + 2 pad - dilate (kernel - 1) - 1) // stride + 1.

    Example:
        >>> import operad as od
        >>> data, weight = od.nd.array([[[[1, 2], [4, 8]]]]), od.nd.array([[[[1, -1]]]])
        >>> od.nd.Convolution_v1(data, weight, kernel=(1, 2), num_filter=1, no_bias=True).asnumpy()
        array([[[[-1.],
                 [-4.]]]], dtype=float32)

    Source: ConvolutionV1Param, src/operator/convolution_v1-inl.h.
    """

    layout = param(
        str, None, choices=("NCDHW", "NCHW", "NDHWC", "NHWC"), doc="Order of the axes; channels come first."
    )
    contract = replace(
        Convolution.contract,
        params={**PARAMS, "layout": tuple(each for each in PARAMS["layout"] if each != "NCW")},
    )

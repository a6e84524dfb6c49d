"""`Deconvolution`: the transpose of `Convolution`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from operad_convolution.correlate import correlate, correlate_data_gradient, correlate_weight_gradient
from operad_convolution.direct.kernel import DirectKernel, prepared_weights, refusal
from operad_convolution.examples import NARROWED, PARAMS, deconvolution_shapes
from operad_convolution.geometry import Geometry
from operad_convolution.layer import Layer
from operad_sdk import (
    Array,
    Contract,
    Cost,
    InferredShapes,
    OpContext,
    ParamError,
    PartialShape,
    Shape,
    ShapeError,
    operator,
    param,
)
from operad_sdk.vector import InVectorCode


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

    adj = param(
        "shape",
        (),
        ge=0,
        per="kernel",
        fill=0,
        doc="Further positions at the end, less than stride; left out: none.",
    )
    target_shape = param("shape", (), ge=0, doc="Spatial size of the output, from which pad and adj follow.")
    num_filter, num_group = Layer.num_filter, Layer.num_group
    workspace = param(int, 512, ge=0, ignored="MXNet's limit of scratch memory in MB.")
    no_bias = param(bool, True, doc="Leave the bias out.")
    cudnn_tune, cudnn_off, layout = Layer.cudnn_tune, Layer.cudnn_off, Layer.layout
    multiplies = linear_in = ("data", "weight")
    contract = Contract(
        params={
            **PARAMS,
            # most of what is drawn alone is no less than some stride, or of another length
            "adj": (*((),) * 6, (1,), (1, 0), (0, 1), (0, 1, 1)),
            "target_shape": (*((),) * 12, (3,), (5,), (4, 4), (2, 5), (3, 2, 4), (2, 2, 1)),
        },
        narrowed=NARROWED,
        shapes=deconvolution_shapes,
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if not any(self.target_shape) and any(
            extra >= step for extra, step in zip(self.adj, self.stride, strict=True)
        ):
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
        """Shapes that follow from `spec`; groups must be whole and the target within reach."""
        data = in_shapes[0]
        self.check_channels(data)
        if data is not None and len(data) != len(self.kernel) + 2:
            raise ShapeError(
                f"{self.name}: data has shape {data}, expected (N, C) and one axis each of {self.kernel}"
            )
        found = super().infer_shape(in_shapes)
        if data is not None and None not in data[2:]:
            self._check_reach(data)
        return found

    def _check_reach(self, data: PartialShape) -> None:
        """Refuse a target that no padding, with `adj` less than the stride, leads to."""
        for surplus, step in zip(self._surplus(data), self.stride, strict=False):
            if surplus < 0:
                raise ShapeError(
                    f"{self.name}: target_shape is {self.target_shape}, more than data {data} gives without "
                    "pad; expected a smaller target_shape, or a larger kernel or stride"
                )
            if surplus % 2 >= step:
                raise ShapeError(
                    f"{self.name}: target_shape is {self.target_shape}, which stride {self.stride} cannot "
                    f"reach from data {data}; add 1 to a length of target_shape, or subtract 1"
                )

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Products of all pixels with their filters, and the rows that are unrolled for them."""
        taps = prod(in_shapes[1][2:])
        return Cost(
            loops=prod(out_shapes[0]) * taps / max(1, prod(self.stride)),
            single_flops=2.0 * prod(in_shapes[0]) * in_shapes[1][1] * taps,
        )

    def forward(
        self, op_ctx: OpContext, data: Array, weight: Array, bias: Array | None, output: Array
    ) -> None:
        """The adjoint of a convolution from the output to the data."""
        geometry = self.correlation(data.shape, output.shape)
        correlate_data_gradient(op_ctx, geometry, data, weight, bias, output)

    def data_grad(self, op_ctx: OpContext, output_grad: Array, weight: Array, data_grad: Array) -> None:
        """The convolution itself.

        `d/d data[n, c, i] = sum of output_grad[n, f, o] * weight[c, f, k]` over all f and k, with
        `o = i * stride + k * dilate - pad`.
        """
        geometry = self.correlation(data_grad.shape, output_grad.shape)
        correlate(op_ctx, geometry, output_grad, weight, None, data_grad)

    def weight_grad(self, op_ctx: OpContext, output_grad: Array, data: Array, weight_grad: Array) -> None:
        """As in a convolution whose input is the output's gradient.

        `d/d weight[c, f, k] = sum of output_grad[n, f, o] * data[n, c, i]` over all n and i, with
        `o = i * stride + k * dilate - pad`.
        """
        geometry = self.correlation(data.shape, output_grad.shape)
        correlate_weight_gradient(op_ctx, geometry, output_grad, data, weight_grad)

    def correlation(self, data: Shape, output: Shape) -> Geometry:
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


@Deconvolution.kernel(
    "cpu", priority=10, when=InVectorCode(refusal), prepares=prepared_weights(is_transpose=True)
)
class Direct(DirectKernel):
    """Without unrolled rows, in vector code."""

    is_transpose = True

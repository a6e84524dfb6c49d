"""Kernels of layers: what their correlations in vector code need of a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from operad import Context
from operad_convolution.direct.layer import DirectCorrelation, direct_correlation
from operad_convolution.geometry import Geometry
from operad_sdk import Array, DType, KernelCall, OpContext, Prepared, Shape

FROM_PRODUCTS: Final = 1 << 20
"""Products from which the kernels are worth their compilation, 0.05 s each where no process did it before."""


def _computed_in(dtype: DType) -> DType:
    """The element type in which arrays of a type are computed."""
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def _geometry_of(prop: Any, in_shapes: Sequence[Shape]) -> Geometry:
    """The correlation that a layer is, or that it is the transpose of."""
    (output,) = prop.infer_shape(in_shapes)[1]
    found: Geometry = prop.correlation(in_shapes[0], output)
    return found


def _correlation(call: KernelCall) -> DirectCorrelation:
    return direct_correlation(_geometry_of(call.prop, call.in_shapes), _computed_in(call.in_types[0]))


def refusal(call: KernelCall, is_large: bool) -> str | None:
    """Why a correlation is better computed by products of matrices; None if it is not.

    Args:
        is_large: Whether to take it for one that is worth a compilation.
    """
    geometry = _geometry_of(call.prop, call.in_shapes)
    if 0 in (geometry.batch, geometry.channels, geometry.filters, *geometry.size, *geometry.out):
        return "there is nothing to compute"
    if geometry.size[0] != 1 or geometry.kernel[0] != 1 or geometry.pad[0]:
        return "there are three spatial axes, expected one or two"
    # mutant: 1 becomes 2: equivalent, because it decides between two ways to the same
    if geometry.kernel == geometry.stride == geometry.size == (1, 1, 1):
        return "it is one product of matrices"
    products = prod(
        (geometry.batch, *geometry.out, geometry.filters, geometry.group_channels, *geometry.kernel)
    )
    if products < FROM_PRODUCTS and not is_large:
        return f"{products} products are not worth a compilation"
    return None


def prepared_weights(*, is_transpose: bool) -> dict[str, Prepared]:
    """Weights as the kernels of a layer read them, made once for each version of the weights.

    Args:
        is_transpose: Whether forward is the adjoint, by the images, of a correlation; else it is one.
    """

    def prepared(part: str) -> Prepared:
        def packing(call: KernelCall) -> Any:
            is_forward = part == "forward"
            has_bias = is_forward and "bias" in call.prop.list_arguments()
            return _correlation(call).packing(has_bias, is_turned=is_forward == is_transpose)

        def array(call: KernelCall) -> tuple[Shape, DType]:
            return (packing(call).elements,), _computed_in(call.in_types[0])

        def pack(call: KernelCall) -> Callable[[Array, Array], None]:
            correlation, order = _correlation(call), packing(call)
            return lambda weight, out: correlation.pack(order, weight, out)

        return Prepared(("weight",), (part,), array, pack)

    return {f"{part}_weight": prepared(part) for part in ("forward", "data_grad")}


class DirectKernel:
    """A layer without unrolled rows: a correlation, or where `is_transpose` its adjoint by the images."""

    is_transpose = False

    def __init__(
        self, prop: Any, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> None:
        self.correlation = direct_correlation(_geometry_of(prop, in_shapes), _computed_in(in_types[0]))

    def forward(
        self,
        op_ctx: OpContext,
        data: Array,
        weight: Array,
        bias: Array | None,
        output: Array,
        forward_weight: Array | None,
    ) -> None:
        """The correlation, or its adjoint."""
        if self.is_transpose:
            self.correlation.data_gradient(op_ctx, weight, data, bias, output, forward_weight)
        else:
            self.correlation.correlate(op_ctx, data, weight, bias, output, forward_weight)

    def data_grad(
        self,
        op_ctx: OpContext,
        output_grad: Array,
        weight: Array,
        data_grad: Array,
        data_grad_weight: Array | None,
    ) -> None:
        """The other one of the two."""
        if self.is_transpose:
            self.correlation.correlate(op_ctx, output_grad, weight, None, data_grad, data_grad_weight)
        else:
            self.correlation.data_gradient(op_ctx, weight, output_grad, None, data_grad, data_grad_weight)

    def weight_grad(self, op_ctx: OpContext, output_grad: Array, data: Array, weight_grad: Array) -> None:
        """The adjoint of the correlation by the weight."""
        images, heads = (output_grad, data) if self.is_transpose else (data, output_grad)
        self.correlation.weight_gradient(op_ctx, images, heads, weight_grad)

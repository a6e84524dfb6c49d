"""Kernels of layers: what their correlations in vector code need of a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from operad import Context
from operad_convolution.direct.layer import DirectCorrelation, direct_correlation
from operad_convolution.geometry import Geometry
from operad_sdk import Array, DType, KernelCall, Prepared, Shape

COPIED_FOR_PRODUCTS: Final = 1 << 20
"""Elements up to which an image is copied where kernels are of one element: they stay in the last cache."""
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
    pixels, is_product = prod(geometry.size), geometry.kernel == geometry.stride == (1, 1, 1)
    # mutant: 1 becomes 2: equivalent, because it decides between two ways to the same
    if is_product and pixels == 1:
        return "it is one product of matrices"
    if is_product and geometry.channels * pixels > COPIED_FOR_PRODUCTS:
        return "images are too large to be copied for one product with each element"
    products = prod(
        (geometry.batch, *geometry.out, geometry.filters, geometry.group_channels, *geometry.kernel)
    )
    if products < FROM_PRODUCTS and not is_large:
        return f"{products} products are not worth a compilation"
    return None


def prepared_weights(correlates: str, adjoint: str) -> dict[str, Prepared]:
    """Weights as the kernels of a layer read them, made once for each version of the weights.

    Args:
        correlates: The part that computes the correlation. A bias belongs to `forward`.
        adjoint: The part that computes its adjoint by the images.
    """

    def prepared(part: str) -> Prepared:
        def packing(call: KernelCall) -> Any:
            has_bias = part == "forward" and "bias" in call.prop.list_arguments()
            return _correlation(call).packing(has_bias, is_turned=part == adjoint)

        def array(call: KernelCall) -> tuple[Shape, DType]:
            return (packing(call).elements,), _computed_in(call.in_types[0])

        def pack(call: KernelCall) -> Callable[[Array, Array], None]:
            correlation, order = _correlation(call), packing(call)
            return lambda weight, out: correlation.pack(order, weight, out)

        return Prepared(("weight",), (part,), array, pack)

    return {"packed": prepared(correlates), "turned": prepared(adjoint)}


class DirectKernel:
    """A layer without unrolled rows; a subclass says which part is which of the correlation's."""

    def __init__(
        self, prop: Any, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> None:
        self.correlation = direct_correlation(_geometry_of(prop, in_shapes), _computed_in(in_types[0]))

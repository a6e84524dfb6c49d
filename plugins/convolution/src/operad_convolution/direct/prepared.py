"""Weights as the kernels read them, made once for each version of the weights."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from operad_convolution.direct.layer import DirectCorrelation, computed_in
from operad_sdk import Array, DType, KernelCall, Prepared, Shape

CorrelationOf = Callable[[KernelCall], DirectCorrelation]


def prepared_weights(correlation_of: CorrelationOf, correlates: str, adjoint: str) -> dict[str, Prepared]:
    """Arrays that a layer has prepared.

    Args:
        correlation_of: Gives the correlation of a call.
        correlates: The part that computes the correlation. A bias belongs to `forward`.
        adjoint: The part that computes its adjoint by the images.
    """

    def has_bias(call: KernelCall, part: str) -> bool:
        return part == "forward" and "bias" in call.prop.list_arguments()

    def packed(call: KernelCall) -> tuple[Shape, DType]:
        count = correlation_of(call).packed_elements(has_bias(call, correlates))
        return (count,), np.dtype(computed_in(call.in_types[0]))

    def pack(call: KernelCall) -> Callable[[Array, Array], None]:
        correlation, with_bias = correlation_of(call), has_bias(call, correlates)
        return lambda weight, out: correlation.pack(weight, with_bias, out)

    def turned(call: KernelCall) -> tuple[Shape, DType]:
        count = correlation_of(call).turned_elements(has_bias(call, adjoint))
        return (count,), np.dtype(computed_in(call.in_types[0]))

    def turn(call: KernelCall) -> Callable[[Array, Array], None]:
        correlation, with_bias = correlation_of(call), has_bias(call, adjoint)
        return lambda weight, out: correlation.turn(weight, with_bias, out)

    return {
        "packed": Prepared(("weight",), (correlates,), packed, pack),
        "turned": Prepared(("weight",), (adjoint,), turned, turn),
    }

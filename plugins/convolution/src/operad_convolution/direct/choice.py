"""Kernels that should be faster: with pixels in the lanes of vectors, or with filters."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from operad_convolution.direct.across import AcrossForward, AcrossWeightGradient
from operad_convolution.direct.correlation import Correlation
from operad_convolution.direct.direct import Forward, WeightGradient
from operad_convolution.direct.program import ForwardProgram
from operad_convolution.direct.tiles import (
    across_forward_tile,
    across_tile,
    forward_tile,
    heads_of,
    weight_tile,
)
from operad_sdk.vector import LANES


def forward_program(correlation: Correlation, dtype: np.dtype[Any], has_bias: bool) -> ForwardProgram:
    """The kernel that should be faster: with pixels in vectors, or with filters."""
    lanes, pixels = LANES[dtype.itemsize], prod(correlation.out)
    products: float = correlation.channels // correlation.groups * len(correlation.taps)
    if pixels * dtype.itemsize % 1024 == 0:
        products /= 4  # the filters of a pixel share few lines of a cache
    *_, along = forward_tile(correlation, lanes)
    *_, across = across_forward_tile(correlation, products, lanes)
    return (Forward if along >= across else AcrossForward)(correlation, dtype, has_bias)


def weight_program(
    correlation: Correlation, dtype: np.dtype[Any], batch: int
) -> WeightGradient | AcrossWeightGradient:
    """The same for the gradient by the weights, of which parts of so many images are computed."""
    lanes, filters = LANES[dtype.itemsize], correlation.filters // correlation.groups
    positions = correlation.channels // correlation.groups * len(correlation.taps)
    _, along = weight_tile(filters, positions, heads_of(correlation.out, lanes), lanes)
    _, across = across_tile(filters, positions, positions, lanes)
    if along >= across:
        return WeightGradient(correlation, dtype, batch)
    return AcrossWeightGradient(correlation, dtype, batch)

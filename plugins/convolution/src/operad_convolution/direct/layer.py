"""Correlations in vector code as layers call them: images side by side in threads, and no work twice."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, Final, final

import numpy as np

from operad_convolution.direct.across import AcrossForward, AcrossWeightGradient
from operad_convolution.direct.copies import Run
from operad_convolution.direct.correlation import Correlation, by_data, forward
from operad_convolution.direct.direct import Forward, WeightGradient
from operad_convolution.direct.tiles import across_tile, forward_tile, heads_of, weight_tile
from operad_convolution.geometry import Geometry
from operad_sdk import Array, DType, OpContext
from operad_sdk.vector import LANES, has_team, team

_PARTS: Final = 4
"""Into how many parts images are cut that are computed side by side; by shapes alone, so that sums round
alike."""
FROM_PRODUCTS: Final = 1 << 20
"""Products from which the kernels are worth their compilation, 0.05 s each where no process did it before."""


def refusal(geometry: Geometry, is_large: bool) -> str | None:
    """Why a correlation is better computed by products of matrices; None if it is not.

    Args:
        is_large: Whether to take it for one that is worth a compilation.
    """
    if 0 in (geometry.batch, geometry.channels, geometry.filters, *geometry.size, *geometry.out):
        return "there is nothing to compute"
    if geometry.size[0] != 1 or geometry.kernel[0] != 1 or geometry.pad[0]:
        return "there are three spatial axes, expected one or two"
    # mutant: 1 becomes 2: equivalent, because it decides between two ways to the same
    if geometry.kernel == geometry.stride == (1, 1, 1):
        return "it is a product of matrices"
    products = (
        geometry.batch
        * prod(geometry.out)
        * geometry.filters
        * geometry.group_channels
        * prod(geometry.kernel)
    )
    if products < FROM_PRODUCTS and not is_large:
        return f"{products} products are not worth a compilation"
    return None


def computed_in(dtype: DType) -> np.dtype[Any]:
    """The element type in which arrays of a type are computed."""
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def forward_program(
    correlation: Correlation, dtype: np.dtype[Any], has_bias: bool
) -> Forward | AcrossForward:
    """The kernel that should be faster: with pixels in vectors, or with filters."""
    lanes, pixels = LANES[dtype.itemsize], prod(correlation.out)
    products: float = correlation.channels // correlation.groups * len(correlation.taps)
    if pixels * dtype.itemsize % 1024 == 0:
        products /= 4  # the filters of a pixel share few lines of a cache
    *_, along = forward_tile(correlation, lanes)
    _, across = across_tile(correlation.filters // correlation.groups, pixels, products, lanes)
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
    return AcrossWeightGradient(correlation, dtype)


@lru_cache(maxsize=256)
def direct_correlation(geometry: Geometry, dtype: np.dtype[Any]) -> DirectCorrelation:
    """The correlation of such sizes: one, whoever computes it."""
    return DirectCorrelation(geometry, dtype)


@final
class DirectCorrelation:
    """A correlation and its adjoints; what follows from sizes is worked out when it is first wanted."""

    def __init__(self, geometry: Geometry, dtype: np.dtype[Any]) -> None:
        self._geometry, self._dtype = geometry, dtype
        self._correlation = forward(
            geometry.channels,
            geometry.filters,
            geometry.groups,
            *(
                each[1:]
                for each in (
                    geometry.size,
                    geometry.out,
                    geometry.kernel,
                    geometry.stride,
                    geometry.dilate,
                    geometry.pad,
                )
            ),
        )
        self._forwards: dict[tuple[Correlation, bool], Forward | AcrossForward] = {}
        self._adjoints = by_data(self._correlation)
        self._weights: list[WeightGradient | AcrossWeightGradient] = []

    def packed_elements(self, has_bias: bool) -> int:
        """Elements of what `pack` fills."""
        return self._program(self._correlation, has_bias).packed_elements

    def pack(self, weight: Array, has_bias: bool, out: Array) -> None:
        """Fill `out` with the weights as `correlate` reads them."""
        out[...] = self._packed(self._correlation, self._by_taps(weight), has_bias)

    def correlate(
        self,
        op_ctx: OpContext,
        images: Array,
        weight: Array,
        bias: Array | None,
        out: Array,
        packed: Array | None = None,
    ) -> None:
        """Write the correlation of `images` with `weight` into `out`, all with three spatial axes.

        Args:
            packed: What `pack` fills; None: it is made of the weights here.
        """
        correlation = self._correlation
        if packed is None:
            packed = self._packed(correlation, self._by_taps(weight), bias is not None)
        self._run(op_ctx, correlation, images, packed, bias, out)

    def _by_taps(self, weight: Array) -> Array:
        return weight.reshape(*weight.shape[:2], prod(self._geometry.kernel))

    def turned_elements(self, has_bias: bool) -> int:
        """Elements of what `turn` fills."""
        return sum(self._program(each, has_bias).packed_elements for _, each in self._adjoints if each)

    def turn(self, weight: Array, has_bias: bool, out: Array) -> None:
        """Fill `out` with the weights as `data_gradient` reads them, one place of a stride after another."""
        first = 0
        for _, correlation in self._adjoints:
            if correlation is not None:
                found = self._packed(correlation, self._turned(weight, correlation), has_bias)
                out[first : first + found.size] = found
                first += found.size

    def _turned(self, weight: Array, correlation: Correlation) -> Array:
        """The filters of one place of a stride: (C, filters of a group, taps), for each channel its own."""
        geometry = self._geometry
        turned = weight.reshape(
            geometry.groups, geometry.group_filters, geometry.group_channels, *geometry.kernel[1:]
        )
        turned = turned.swapaxes(1, 2).reshape(
            geometry.channels, geometry.group_filters, *geometry.kernel[1:]
        )
        return np.stack([turned[:, :, i, j] for i, j in [tap.place for tap in correlation.taps]], axis=-1)

    def data_gradient(
        self,
        op_ctx: OpContext,
        weight: Array,
        output_grad: Array,
        bias: Array | None,
        images: Array,
        turned: Array | None = None,
    ) -> None:
        """Write the gradient of the images into `images`.

        Args:
            turned: What `turn` fills; None: it is made of the weights here.
        """
        geometry, (high, wide) = self._geometry, self._correlation.stride
        if turned is None:
            turned = np.empty(self.turned_elements(bias is not None), self._dtype)
            self.turn(weight, bias is not None, turned)
        first = 0
        flat = images.reshape(images.shape[0], geometry.channels, *geometry.size[1:])
        for (row, column), correlation in self._adjoints:
            part = flat[:, :, row::high, column::wide]
            if correlation is None:
                part[...] = 0 if bias is None else bias.reshape(-1, 1, 1)
                continue
            end = first + self._program(correlation, bias is not None).packed_elements
            own = turned[first:end]
            first = end
            if part.flags.c_contiguous:
                self._run(op_ctx, correlation, output_grad, own, bias, part)
            else:
                found = np.empty(part.shape, self._dtype)
                self._run(op_ctx, correlation, output_grad, own, bias, found)
                part[...] = found

    def weight_gradient(
        self, op_ctx: OpContext, images: Array, output_grad: Array, weight_grad: Array
    ) -> None:
        """Write the gradient of the weights."""
        if not self._weights:
            batch = -(-self._geometry.batch // _PARTS)
            self._weights.append(weight_program(self._correlation, self._dtype, batch))
        program = self._weights[0]
        images, output_grad = np.ascontiguousarray(images), program.turned(output_grad)
        count = min(_PARTS, len(images))
        sums = np.zeros((count, program.sum_elements), self._dtype)
        runs = [program.bind(images, output_grad, each) for each in sums]
        self._each_part(op_ctx, program.scratch_elements, runs)
        total = np.empty(weight_grad.shape, self._dtype)
        program.unpack(sums.sum(axis=0) if count > 1 else sums[0], total)
        weight_grad[...] = total

    def _program(self, correlation: Correlation, has_bias: bool) -> Forward | AcrossForward:
        key = correlation, has_bias
        program = self._forwards.get(key)
        if program is None:
            program = self._forwards[key] = forward_program(correlation, self._dtype, has_bias)
        return program

    def _packed(self, correlation: Correlation, weight: Array, has_bias: bool) -> Array:
        return self._program(correlation, has_bias).packed(weight).reshape(-1)

    def _run(
        self,
        op_ctx: OpContext,
        correlation: Correlation,
        images: Array,
        packed: Array,
        bias: Array | None,
        out: Array,
    ) -> None:
        program = self._program(correlation, bias is not None)
        images = np.ascontiguousarray(images)
        target = out if out.flags.c_contiguous else np.empty(out.shape, self._dtype)
        run = program.bind(images, packed, bias if bias is None else np.ascontiguousarray(bias), target)
        self._each_part(op_ctx, program.scratch_elements, [run] * min(_PARTS, len(images)))
        if target is not out:
            out[...] = target

    def _each_part(self, op_ctx: OpContext, scratch_elements: int, runs: list[Run]) -> None:
        """Call each function with its part of the images, side by side in threads."""
        count, batch = len(runs), self._geometry.batch
        width = max(1, min(op_ctx.num_threads, count))
        scratch = op_ctx.requested[0].get_space((width, scratch_elements), self._dtype)

        def part(number: int, slot: int) -> None:
            runs[number](batch * number // count, batch * (number + 1) // count, scratch[slot])

        if count and has_team():
            team.divide(runs[0].address, [run.table for run in runs], batch, scratch)
        else:
            op_ctx.parallel(part, count, width)

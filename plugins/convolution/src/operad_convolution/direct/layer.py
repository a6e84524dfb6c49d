"""Correlations in vector code as layers call them: images or their pieces side by side in threads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import gcd, prod
from typing import Any, Final, final

import numpy as np

from operad_convolution.direct.across import AcrossWeightGradient
from operad_convolution.direct.choice import forward_program, weight_program
from operad_convolution.direct.correlation import Correlation, by_data, forward
from operad_convolution.direct.direct import WeightGradient
from operad_convolution.direct.kept_calls import KeptCalls
from operad_convolution.direct.packing import Order, Packing, Weights
from operad_convolution.direct.places import Places
from operad_convolution.direct.program import ForwardProgram
from operad_convolution.geometry import Geometry
from operad_sdk import Array, OpContext
from operad_sdk.vector import BoundKernel, has_team, team

_PARTS: Final = 4
"""Into how many parts images are cut, whose gradients of the weights are added up."""
_DIVIDED: Final = 1 << 15
"""Weights from which packing them, and adding up the parts of their gradient, is divided."""
_ALIGNED: Final = 16
"""Elements of a line of a cache, of which each thread's memory has whole ones."""


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
        self._forwards: dict[tuple[Correlation, bool], ForwardProgram] = {}
        self._adjoints = by_data(self._correlation)
        self._packings: dict[tuple[bool, bool], Packing] = {}
        self._places: dict[bool, ForwardProgram | Places] = {}
        self._weights: list[WeightGradient | AcrossWeightGradient] = []
        self._kept = KeptCalls()

    def pack(self, packing: Packing, weight: Array, out: Array) -> None:
        """Fill `out` with the weights as a part reads them."""
        packing.bind(np.ascontiguousarray(weight, self._dtype), out).run()

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
        has_bias = bias is not None
        if packed is None:
            packed = self._copies(op_ctx, self.packing(has_bias), weight)
        program = self._program(self._correlation, has_bias)
        self._run(op_ctx, program, images, packed, bias, out)

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
            turned: What `pack` fills; None: it is made of the weights here.
        """
        has_bias = bias is not None
        if turned is None:
            turned = self._copies(op_ctx, self.packing(has_bias, is_turned=True), weight)
        self._run(op_ctx, self._adjoint(has_bias), output_grad, turned, bias, images)

    def weight_gradient(
        self, op_ctx: OpContext, images: Array, output_grad: Array, weight_grad: Array
    ) -> None:
        """Write the gradient of the weights."""
        if not self._weights:
            batch = -(-self._geometry.batch // _PARTS)
            self._weights.append(weight_program(self._correlation, self._dtype, batch))
        program, count = self._weights[0], min(_PARTS, len(images))
        images, output_grad = np.ascontiguousarray(images), np.ascontiguousarray(output_grad)
        # The sums of all parts lie before the scratch memory of the threads.
        per, width = -(-program.sum_elements // _ALIGNED) * _ALIGNED, self._width(op_ctx, count)
        scratch_elements = -(-program.scratch_elements // _ALIGNED) * _ALIGNED
        memory = op_ctx.requested[0].get_space((count * per + width * scratch_elements,), self._dtype)
        sums = memory[: count * program.sum_elements].reshape(count, -1)
        scratch = memory[count * per :].reshape(width, -1)
        kernels = [program.bind(images, output_grad, each) for each in sums]
        target = self._target(weight_grad)
        total = program.total(sums, target)
        self._each_part(op_ctx, kernels, self._geometry.batch, scratch)
        self._each_unit(op_ctx, total, weight_grad.size)
        if target is not weight_grad:
            weight_grad[...] = target

    def _program(self, correlation: Correlation, has_bias: bool) -> ForwardProgram:
        key = correlation, has_bias
        program = self._forwards.get(key)
        if program is None:
            program = self._forwards[key] = forward_program(correlation, self._dtype, has_bias)
        return program

    def _adjoint(self, has_bias: bool) -> ForwardProgram | Places:
        """The gradient by the data: one correlation where windows touch, or else one for each place."""
        found = self._places.get(has_bias)
        if found is None:
            if self._correlation.stride == (1, 1):
                ((_, adjoint),) = self._adjoints
                assert adjoint is not None
                found = self._program(adjoint, has_bias)
            else:
                programs = {
                    place: each and (each, self._program(each, has_bias)) for place, each in self._adjoints
                }
                found = Places(self._correlation, programs, self._dtype, has_bias)
            self._places[has_bias] = found
        return found

    def packing(self, has_bias: bool, is_turned: bool = False) -> Packing:
        """The order of the weights as `correlate` reads them.

        Args:
            is_turned: As `data_gradient` reads them: a channel is what a filter was, one place of a stride
                after another.
        """
        found = self._packings.get((has_bias, is_turned))
        if found is None:
            geometry, taps = self._geometry, prod(self._geometry.kernel)
            filters, channels = geometry.group_filters, geometry.group_channels
            row, matrix = channels * taps, taps
            copies: list[tuple[Order, Sequence[int]]]
            if is_turned:
                filters, channels, row, matrix = channels, filters, matrix, row
                copies = [
                    (
                        self._program(each, has_bias).order,
                        [tap.place[0] * geometry.kernel[2] + tap.place[1] for tap in each.taps],
                    )
                    for _, each in self._adjoints
                    if each is not None
                ]
            else:
                copies = [(self._program(self._correlation, has_bias).order, range(taps))]
            weights = Weights(
                geometry.groups, filters, taps, channels, filters * channels * taps, row, matrix
            )
            found = self._packings[has_bias, is_turned] = Packing(weights, self._dtype, copies)
        return found

    def _copies(self, op_ctx: OpContext, packing: Packing, weight: Array) -> Array:
        out = np.empty(packing.elements, self._dtype)
        kernel = packing.bind(np.ascontiguousarray(weight, self._dtype), out)
        self._each_unit(op_ctx, kernel, weight.size)
        return out

    def _run(
        self,
        op_ctx: OpContext,
        program: ForwardProgram | Places,
        images: Array,
        packed: Array,
        bias: Array | None,
        out: Array,
    ) -> None:
        arrays = np.ascontiguousarray(images), packed, _without_gaps(bias), self._target(out)
        batch, threads, target = len(images), op_ctx.num_threads, arrays[-1]
        # As many pieces of each image as make parts that all threads get the same number of.
        pieces = threads // gcd(batch, threads) if batch < 2 * threads else 1
        is_cut = pieces > 1 and isinstance(program, ForwardProgram)

        def bind() -> list[BoundKernel]:
            if isinstance(program, ForwardProgram) and is_cut:
                return program.bind_pieces(pieces, *arrays)
            return [program.bind(*arrays)] * min(max(_PARTS, threads), batch)

        is_plain = arrays[0] is images and arrays[2] is bias and target is out
        given = images, packed, bias, out
        kernels = self._kept.bound((program, threads), given, bind) if is_plain else bind()
        units = len(kernels) if is_cut else batch
        width = self._width(op_ctx, len(kernels))
        scratch = op_ctx.requested[0].get_space((width, program.scratch_elements), self._dtype)
        self._each_part(op_ctx, kernels, units, scratch)
        if target is not out:
            out[...] = target

    def _target(self, array: Array) -> Array:
        """The array, or one without gaps."""
        fits = array.flags.c_contiguous and array.dtype == self._dtype
        return array if fits else np.empty(array.shape, self._dtype)

    def _width(self, op_ctx: OpContext, count: int) -> int:
        return max(1, min(op_ctx.num_threads, count))

    def _each_unit(self, op_ctx: OpContext, kernel: BoundKernel, elements: int) -> None:
        """Call a kernel without scratch memory, in threads where so many elements are worth it."""
        count = min(_PARTS, kernel.units)
        width = self._width(op_ctx, count) if elements >= _DIVIDED else 1
        if width == 1:
            kernel.run()
        else:
            self._each_part(op_ctx, [kernel] * count, kernel.units, np.empty((width, 0), self._dtype))

    def _each_part(
        self, op_ctx: OpContext, kernels: Sequence[BoundKernel], units: int, scratch: Array
    ) -> None:
        """Call each kernel with its part of the images or units, side by side in threads."""
        count = len(kernels)

        def part(number: int, slot: int) -> None:
            kernels[number].run(units * number // count, units * (number + 1) // count, scratch[slot])

        if count and has_team():
            team.divide(kernels[0].address, [kernel.table for kernel in kernels], units, scratch)
        else:
            op_ctx.parallel(part, count, len(scratch))


def _without_gaps(array: Array | None) -> Array | None:
    return None if array is None else np.ascontiguousarray(array)

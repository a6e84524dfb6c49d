"""Standardizing with compiled loops: one pass over memory where NumPy's functions take eight.

They are the kernels of choice where numba is installed (`operad-sdk[fast]`), for groups whose elements lie in
long segments, in arrays that are not small; where an array turns out not to be contiguous, NumPy's loops
compute instead. (Training forward and backward of 32x64x28x28 in float32, one core: 5 ms
against 59 ms.)
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from operad_normalization import standardize as blocks
from operad_normalization.groups import Groups, Segments
from operad_sdk import Array, CompiledLoops, Cost, KernelCall, OpContext

_LOOPS: Final = CompiledLoops("operad_normalization.compiled")

Condition = Callable[[KernelCall], bool | str]

_BLOCK: Final = 1 << 17
"""Elements of the groups that one part has, at least."""


def pay(*also: Condition) -> Condition:
    """The condition of a kernel that computes by these loops, beside others."""
    return _LOOPS.when(lambda call: call.size("data"), *also, _has_segments)


def _has_segments(call: KernelCall) -> bool | str:
    """Return whether the groups have segments for the loops, or the reason why not."""
    shape = call.shape("data")
    found = call.prop.groups(shape).segments
    return found is not None or f"groups of data {shape} have no long segments"


# mutant: equivalent, because an estimate is no result
def forward_cost(call: KernelCall) -> Cost:
    """One pass that reads the data twice and writes once, and some calls in Python around it."""
    return Cost(0.4 * call.size("data"), size_bytes=12.0 * call.size("data"), beside_us=25)


# mutant: equivalent, because an estimate is no result
def gradients_cost(call: KernelCall) -> Cost:
    """Two passes over two arrays, of which the second writes."""
    return Cost(0.8 * call.size("data"), size_bytes=20.0 * call.size("data"), beside_us=30)


def _segments(groups: Groups, *arrays: Array) -> Segments | None:
    """Segments of the arrays for the loops; None where the loops cannot read the arrays."""
    return groups.segments if all(array.flags.c_contiguous for array in arrays) else None


def standardize(
    op_ctx: OpContext,
    groups: Groups,
    data: Array,
    gamma: Array | None,
    beta: Array,
    eps: float,
    output: Array,
    mean: Array,
    variance: Array,
) -> None:
    """`operad_normalization.standardize.standardize` with compiled loops."""
    segments = _segments(groups, data, output)
    if segments is None:
        blocks.standardize(op_ctx, groups, data, gamma, beta, eps, output, mean, variance)
        return
    gain, offset = _vectors(groups, segments, data, gamma, beta)
    fill = _LOOPS.standardize_by_element if segments.is_by_element else _LOOPS.standardize_by_group
    x, y = data.reshape(segments.shape), output.reshape(segments.shape)
    found = np.empty((2, segments.shape[1]))

    def run(first: int, last: int, part: int) -> None:
        fill(x, gain, offset, eps, y, found[0], found[1], first, last)

    _each_part(op_ctx, segments, run)
    mean[...], variance[...] = found.reshape(2, *groups.statistics)


def apply_statistics(
    op_ctx: OpContext,
    groups: Groups,
    data: Array,
    gamma: Array | None,
    beta: Array,
    output: Array,
    mean: Array,
    inverse: Array,
) -> None:
    """`operad_normalization.standardize.apply_statistics` with compiled loops."""
    segments = _segments(groups, data, output)
    if segments is None:
        blocks.apply_statistics(op_ctx, groups, data, gamma, beta, output, mean, inverse)
        return
    gain, offset = _vectors(groups, segments, data, gamma, beta)
    x, y = data.reshape(segments.shape), output.reshape(segments.shape)
    m, r = _flat(mean), _flat(inverse)

    def run(first: int, last: int, part: int) -> None:
        _LOOPS.apply_by_group(x, gain, offset, m, r, y, first, last)

    _each_part(op_ctx, segments, run)


def sums_of_gradients(
    op_ctx: OpContext,
    groups: Groups,
    output_grad: Array,
    data: Array,
    gamma: Array | None,
    mean: Array,
    inverse: Array,
    data_grad: Array | None,
    is_given: bool,
) -> Array:
    """`operad_normalization.standardize.sums_of_gradients` with compiled loops."""
    arrays = (output_grad, data) if data_grad is None else (output_grad, data, data_grad)
    segments = _segments(groups, *arrays)
    if segments is None:
        return blocks.sums_of_gradients(
            op_ctx, groups, output_grad, data, gamma, mean, inverse, data_grad, is_given
        )
    (gain,) = _vectors(groups, segments, data, gamma)
    g, x = output_grad.reshape(segments.shape), data.reshape(segments.shape)
    dx = np.empty((0, 0, 0), data.dtype) if data_grad is None else data_grad.reshape(segments.shape)
    m, r = _flat(mean), _flat(inverse)
    if segments.is_by_element:
        sums = np.zeros((_part_count(segments), 2, segments.shape[2]))

        def run(first: int, last: int, part: int) -> None:
            _LOOPS.gradients_by_element(g, x, gain, m, r, dx, sums[part], first, last)

        _each_part(op_ctx, segments, run)
        return sums.sum(0).reshape(2, *groups.vector)
    sums = np.zeros((2, segments.shape[1]))

    def run_groups(first: int, last: int, part: int) -> None:
        _LOOPS.gradients_by_group(g, x, gain, m, r, is_given, dx, sums, first, last)

    _each_part(op_ctx, segments, run_groups)
    shared = tuple(axis + 1 for axis in range(len(groups.shape)) if axis != groups.gain_axis)
    return sums.reshape(2, *groups.statistics).sum(shared, keepdims=True)


def _flat(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1)


def _vectors(groups: Groups, segments: Segments, data: Array, *vectors: Array | None) -> list[Array]:
    """Gains and offsets, one for each element or for each group; ones for None."""
    shape = groups.vector if segments.is_by_element else groups.statistics
    return [
        np.ones(prod(shape), data.dtype) if vector is None else _flat(np.broadcast_to(vector, shape))
        for vector in vectors
    ]


def _part_size(segments: Segments) -> int:
    return max(1, _BLOCK // (segments.shape[0] * segments.shape[2]))


def _part_count(segments: Segments) -> int:
    return -(-segments.shape[1] // _part_size(segments))


def _each_part(op_ctx: OpContext, segments: Segments, run: Any) -> None:
    """Call `run(first, last, part)` for parts of the groups, side by side where there are threads."""
    step, groups = _part_size(segments), segments.shape[1]

    def run_part(part: int, slot: int) -> None:
        run(part * step, min((part + 1) * step, groups), part)

    op_ctx.parallel(run_part, _part_count(segments), op_ctx.num_threads)


BY_LOOP: Final = blocks.Way(standardize, apply_statistics, sums_of_gradients)

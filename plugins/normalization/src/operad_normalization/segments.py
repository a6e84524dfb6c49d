"""Standardizing in vector code: one pass over memory where NumPy's functions take eight.

These are the kernels of choice where there is vector code (llvmlite), for groups whose elements lie
in long segments; where an array turns out not to be contiguous, NumPy's loops compute instead. `kernel_text`
has what the kernels compute.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Final

import numpy as np

from operad_normalization.gradients import BY_BLOCKS, Way
from operad_normalization.group_text import Table, Variant
from operad_normalization.groups import Groups, Segments
from operad_normalization.kernel_text import gradients_text, standardize_text
from operad_sdk import Array, Cost, KernelCall, OpContext
from operad_sdk.vector import BoundKernel, InVectorCode, Kernel, TableLayout, array_call, has_team, team

Condition = Callable[[KernelCall], bool | str]

_FROM_SIZE: Final = 256
"""Elements from which a kernel is worth its compilation."""
_BLOCK: Final = 1 << 16
"""Elements of the groups that one part has, at least."""
_KINDS: Final = {np.dtype(name): name for name in ("float32", "float64")}
_LOCKED: Final = 1 << 14
"""Elements for which it is not worth giving the interpreter's lock back."""


def pay(*also: Condition) -> InVectorCode:
    """The condition of a kernel that computes by these functions, beside others."""

    def refusal(call: KernelCall, is_large: bool) -> str | None:
        size = call.size("data")
        if size < _FROM_SIZE and not is_large:
            return f"{size} elements, vector code pays from {_FROM_SIZE}"
        for condition in (*also, _has_segments):
            found = condition(call)
            if found is not True:
                return str(found)
        return None

    return InVectorCode(refusal)


def _has_segments(call: KernelCall) -> bool | str:
    """Return whether the groups have segments for the kernels, or the reason why not."""
    shape = call.shape("data")
    found = call.prop.groups(shape).segments
    return found is not None or f"groups of data {shape} have no long segments"


# mutant: equivalent, because an estimate is no result
def forward_cost(call: KernelCall) -> Cost:
    """One pass that reads the data twice and writes once, and some calls in Python around it."""
    return _divided(Cost(0.2 * call.size("data"), size_bytes=12.0 * call.size("data"), beside_us=15))


# mutant: equivalent, because an estimate is no result
def gradients_cost(call: KernelCall) -> Cost:
    """Two passes over two arrays, of which the second writes."""
    return _divided(Cost(0.4 * call.size("data"), size_bytes=20.0 * call.size("data"), beside_us=20))


def _divided(cost: Cost) -> Cost:
    return cost._replace(pooled_us=cost.work_us) if has_team() else cost


def _segments(groups: Groups, *arrays: Array | None) -> Segments | None:
    """Segments of the arrays for the kernels; None where they cannot read the arrays."""
    fits = all(array is None or (array.flags.c_contiguous and array.size) for array in arrays)
    return groups.segments if fits else None


def standardize(
    op_ctx: OpContext,
    groups: Groups,
    data: Array,
    gamma: Array,
    beta: Array,
    eps: float,
    output: Array,
    mean: Array,
    deviation: Array,
) -> None:
    """`operad_normalization.standardize.standardize` in vector code."""
    segments = _segments(groups, data, output)
    if segments is None:
        BY_BLOCKS.standardize(op_ctx, groups, data, gamma, beta, eps, output, mean, deviation)
        return
    found = np.empty((3, segments.shape[0]))
    _run(
        op_ctx, standardize_text, segments, _variant(data, segments), eps,
        data=data, gain=_flat(gamma), offset=_flat(beta), output=output, mean=found[0], spread=found[1],
        deviation=found[2],
    )  # fmt: skip
    own = found.reshape(3, *groups.statistics)
    mean[...], deviation[...] = own[0], own[2]


def sums_of_gradients(
    op_ctx: OpContext,
    groups: Groups,
    output_grad: Array,
    data: Array,
    gamma: Array,
    mean: Array,
    inverse: Array,
    data_grad: Array | None,
) -> Array:
    """`operad_normalization.gradients.sums_of_gradients` in vector code."""
    segments = _segments(groups, output_grad, data, data_grad)
    if segments is None:
        return BY_BLOCKS.sums_of_gradients(op_ctx, groups, output_grad, data, gamma, mean, inverse, data_grad)
    by_element = segments.is_by_element
    rows = (_part_count(segments), 2, segments.shape[1]) if by_element else (1, 2, segments.shape[0])
    sums = np.zeros(rows)
    variant = Variant(
        _KINDS[data.dtype],
        by_element,
        has_data_grad=data_grad is not None,
    )
    _run(
        op_ctx, gradients_text, segments, variant,
        data=data, gain=_flat(gamma), output_grad=output_grad, mean=_flat(mean), spread=_flat(inverse),
        data_grad=data_grad, gain_sums=sums[0, 0], offset_sums=sums[0, 1],
    )  # fmt: skip
    if by_element:
        return (sums[0] if len(sums) == 1 else sums.sum(0)).reshape(2, *groups.vector)
    if groups.vector == groups.statistics:
        return sums.reshape(2, *groups.vector)
    shared = tuple(axis + 1 for axis in range(len(groups.shape)) if axis != groups.gain_axis)
    return sums.reshape(2, *groups.statistics).sum(shared, keepdims=True)


_Text = Callable[[Variant], str]


def _run(
    op_ctx: OpContext,
    text: _Text,
    segments: Segments,
    variant: Variant,
    eps: float = 0.0,
    **arrays: Array | None,
) -> None:
    """Run a kernel for all groups; for parts of them, side by side, where there are threads.

    Args:
        op_ctx: The run.
        text: The kernel's text.
        segments: How the groups lie.
        variant: What the kernel is for.
        eps: What is added to the variance.
        arrays: By their names in the kernel's table, contiguous; those that are None are left out.
    """
    given = {name: array for name, array in arrays.items() if array is not None}
    count, groups = _part_count(segments), segments.shape[0]
    layout, at_once = _prepared(text, segments, variant, eps, given["gain"].size, tuple(given))
    width = 1 if count == 1 else op_ctx.num_threads
    if width == 1 and at_once is not None:
        at_once(*given.values())
        return
    bound = BoundKernel(layout, list(given.values()))

    def run_part(part: int, slot: int) -> None:
        bound.run(groups * part // count, groups * (part + 1) // count)

    if has_team():
        team.run(bound, count if segments.is_by_element else min(groups, 2 * width), width)
    else:
        op_ctx.parallel(run_part, count, width)


@lru_cache(maxsize=1024)
def _prepared(
    text: _Text, segments: Segments, variant: Variant, eps: float, gains: int, names: tuple[str, ...]
) -> tuple[TableLayout, Callable[..., None] | None]:
    """The kernel with its table, and, where there can be one, its call with the arrays."""
    groups, columns = segments.shape
    bits = struct.unpack("<q", struct.pack("<d", eps))[0]
    fields = Table(columns, groups, _part_count(segments), gains, bits)
    layout = TableLayout(_kernel(text, variant), groups, fields, tuple(map(Table._fields.index, names)))
    return layout, array_call(layout, len(names), keeps_lock=prod(segments.shape) <= _LOCKED)


@lru_cache(maxsize=256)
def _kernel(text: _Text, variant: Variant) -> Kernel:
    return Kernel(text(variant))


def _variant(data: Array, segments: Segments) -> Variant:
    return Variant(_KINDS[data.dtype], segments.is_by_element)


def _flat(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1)


def _part_count(segments: Segments) -> int:
    """Parts of the groups: by shapes alone, so that threads change no result."""
    return -(-segments.shape[0] // max(1, _BLOCK // segments.shape[1]))


BY_VECTORS: Final = Way(standardize, sums_of_gradients)

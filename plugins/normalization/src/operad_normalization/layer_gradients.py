"""Gradients of groups that are standardized within a sample.

With `h = (x - mean - rest) r`, `r = 1 / deviation`, where `g` is the gradient of the output, `k = g gamma`,
and n is the number of a group's elements,

* `d/dx = r (k - sum(k) / n - h sum(k h) / n)`, with sums over the group;
* `d/dgamma = sum(g h)`, `d/dbeta = sum(g)`, over all that one element of gamma is multiplied with.

Where a group has one gain, the sums over groups are parts of both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from operad_normalization.groups import Groups
from operad_sdk import Array, OpContext, blocked_sum


def write_data_gradient(
    op_ctx: OpContext,
    groups: Groups,
    output_grad: Array,
    data: Array,
    gamma: Array,
    mean: Array,
    deviation: Array,
    rest: Array,
    is_coarse: bool,
    data_grad: Array,
) -> None:
    """Write the gradient of the data, where elements of a group have gains.

    Args:
        op_ctx: The run.
        groups: What was normalized together.
        output_grad: Its gradient, which may be the memory of `data_grad`.
        data: What was normalized.
        gamma: Of one axis.
        mean: Of each group, rounded, as `deviation`.
        deviation: `sqrt(variance + eps)`.
        rest: What rounding took from a quarter of the mean.
        is_coarse: Whether the mean, which callers see, may have been rounded once more, to half precision.
        data_grad: To be written.
    """

    def run(of: _Part) -> None:
        h, r = _standardized(of, groups, data, mean, deviation, rest, is_coarse)
        k = of(output_grad, groups.shape) * of(gamma, groups.vector)
        total, product = (blocked_sum(each, groups.axes, keepdims=True) for each in (k, k * h))
        of(data_grad, groups.shape)[...] = _data_gradient(groups, k, h, total, product) * r

    _each_block(op_ctx, groups, data, run)


def write_vector_gradients(
    op_ctx: OpContext,
    groups: Groups,
    output_grad: Array,
    data: Array,
    mean: Array,
    deviation: Array,
    rest: Array,
    is_coarse: bool,
    gamma_grad: Array,
    beta_grad: Array,
) -> None:
    """Write the gradients of gains and offsets; arguments as those of `write_data_gradient`."""

    def run(of: _Part) -> tuple[Array, Array]:
        h, _ = _standardized(of, groups, data, mean, deviation, rest, is_coarse)
        g = of(output_grad, groups.shape)
        gain, offset = (blocked_sum(each, groups.others, keepdims=True) for each in (g * h, g))
        return gain, offset

    _write_sums(groups, _each_block(op_ctx, groups, data, run), gamma_grad, beta_grad)


def write_all_gradients(
    op_ctx: OpContext,
    groups: Groups,
    output_grad: Array,
    data: Array,
    gamma: Array,
    mean: Array,
    deviation: Array,
    rest: Array,
    is_coarse: bool,
    data_grad: Array | None,
    gamma_grad: Array,
    beta_grad: Array,
) -> None:
    """Write all gradients, where each group has one gain; arguments as those of `write_data_gradient`."""

    def run(of: _Part) -> tuple[Array, Array]:
        h, r = _standardized(of, groups, data, mean, deviation, rest, is_coarse)
        g = of(output_grad, groups.shape)
        total, product = (blocked_sum(each, groups.axes, keepdims=True) for each in (g, g * h))
        if data_grad is not None:
            # By gamma last: its product with a large `r` may be beyond the type's range.
            found = _data_gradient(groups, g, h, total, product) * r * of(gamma, groups.vector)
            of(data_grad, groups.shape)[...] = found
        gain, offset = (blocked_sum(each, groups.others, keepdims=True) for each in (product, total))
        return gain, offset

    _write_sums(groups, _each_block(op_ctx, groups, data, run), gamma_grad, beta_grad)


_Part = Callable[[Array, tuple[int, ...]], Array]
"""A block's part of an array, which has or gets the given shape."""


def _each_block(op_ctx: OpContext, groups: Groups, data: Array, run: Callable[[_Part], Any]) -> list[Any]:
    """Results of a function for each block."""
    blocks = groups.blocks(data)
    found: list[Any] = [None] * len(blocks)

    def run_one(part: int, slot: int) -> None:
        with np.errstate(all="ignore"):
            found[part] = run(lambda array, shape: groups.of(blocks[part], array.reshape(shape)))

    op_ctx.parallel(run_one, len(blocks), op_ctx.num_threads)
    return found


def _standardized(
    of: _Part, groups: Groups, data: Array, mean: Array, deviation: Array, rest: Array, is_coarse: bool
) -> tuple[Array, Array]:
    """The standardized data and the inverse deviation; quarters of differences are within the range."""
    m, s, lost = (of(each, groups.statistics) for each in (mean, deviation, rest))
    d = of(data, groups.shape) * 0.25 - m * 0.25 - lost
    if is_coarse:
        d = d - blocked_sum(d, groups.axes, keepdims=True) / groups.count
    return d * (4 / s), 1 / s


def _data_gradient(groups: Groups, k: Array, h: Array, total: Array, product: Array) -> Array:
    return k - total / groups.count - h * (product / groups.count)


def _write_sums(
    groups: Groups, found: Sequence[tuple[Array, Array]], gamma_grad: Array, beta_grad: Array
) -> None:
    """Put the sums of blocks together: one after another, or added where blocks have the same gains."""
    for target, parts in zip((gamma_grad, beta_grad), zip(*found, strict=True), strict=True):
        whole = parts[0]
        if len(parts) > 1:
            is_cut = groups.cut == groups.gain_axis
            whole = np.concatenate(parts, groups.cut) if is_cut else np.sum(parts, axis=0)
        target[...] = whole.reshape(target.shape)

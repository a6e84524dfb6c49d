"""Gradients of groups that are standardized within a sample.

With `h = (x - mean - rest) r`, `r = 1 / deviation`, where `g` is the gradient of the output, `k = g gamma`,
and n is the number of a group's elements,

* `d/dx = r (k - sum(k) / n - h sum(k h) / n)`, with sums over the group;
* `d/dgamma = sum(g h)`, `d/dbeta = sum(g)`, over all that one element of gamma is multiplied with.

Where a group has one gain, the sums over groups are parts of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np

from operad_normalization.groups import Groups, Part
from operad_sdk import Array, OpContext, blocked_sum


@final
class Kept(NamedTuple):
    """Results of a forward pass that the gradients of its layer need.

    Attributes:
        groups: What was normalized together.
        data: What was normalized.
        mean: Of each group, rounded, as `deviation`.
        deviation: `sqrt(variance + eps)`.
        rest: What rounding took from a quarter of the mean.
        is_coarse: Whether the mean, which callers see, may have been rounded once more, to half precision.
    """

    groups: Groups
    data: Array
    mean: Array
    deviation: Array
    rest: Array
    is_coarse: bool


def write_data_gradient(
    op_ctx: OpContext, kept: Kept, output_grad: Array, gamma: Array, data_grad: Array
) -> None:
    """Write the gradient of the data, where elements of a group have gains.

    Args:
        op_ctx: The run.
        kept: Of the forward pass.
        output_grad: Its gradient, which may be the memory of `data_grad`.
        gamma: Of one axis.
        data_grad: To be written.
    """
    groups = kept.groups

    def run(of: Part) -> None:
        h, r = _standardized(of, kept)
        k = of(output_grad.reshape(groups.shape)) * of(gamma.reshape(groups.vector))
        total, product = (blocked_sum(each, groups.axes, keepdims=True) for each in (k, k * h))
        of(data_grad.reshape(groups.shape))[...] = _data_gradient(groups, k, h, total, product) * r

    groups.each_block(op_ctx, kept.data, run)


def write_vector_gradients(
    op_ctx: OpContext, kept: Kept, output_grad: Array, gamma_grad: Array, beta_grad: Array
) -> None:
    """Write the gradients of gains and offsets; arguments as those of `write_data_gradient`."""
    groups = kept.groups

    def run(of: Part) -> tuple[Array, Array]:
        h, _ = _standardized(of, kept)
        g = of(output_grad.reshape(groups.shape))
        return blocked_sum(g * h, groups.others, keepdims=True), blocked_sum(g, groups.others, keepdims=True)

    _write_sums(groups, groups.each_block(op_ctx, kept.data, run), gamma_grad, beta_grad)


def write_all_gradients(
    op_ctx: OpContext,
    kept: Kept,
    output_grad: Array,
    gamma: Array,
    data_grad: Array | None,
    gamma_grad: Array,
    beta_grad: Array,
) -> None:
    """Write all gradients, where each group has one gain; arguments as those of `write_data_gradient`."""
    groups = kept.groups

    def run(of: Part) -> tuple[Array, Array]:
        h, r = _standardized(of, kept)
        g = of(output_grad.reshape(groups.shape))
        total, product = (blocked_sum(each, groups.axes, keepdims=True) for each in (g, g * h))
        if data_grad is not None:
            # By gamma last: its product with a large `r` may be beyond the type's range.
            found = _data_gradient(groups, g, h, total, product) * r * of(gamma.reshape(groups.vector))
            of(data_grad.reshape(groups.shape))[...] = found
        gain, offset = (blocked_sum(each, groups.others, keepdims=True) for each in (product, total))
        return gain, offset

    _write_sums(groups, groups.each_block(op_ctx, kept.data, run), gamma_grad, beta_grad)


def _standardized(of: Part, kept: Kept) -> tuple[Array, Array]:
    """The standardized data and the inverse deviation; quarters of differences are within the range."""
    groups = kept.groups
    m, s, lost = (of(each.reshape(groups.statistics)) for each in (kept.mean, kept.deviation, kept.rest))
    d = of(kept.data.reshape(groups.shape)) * 0.25 - m * 0.25 - lost
    if kept.is_coarse:
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

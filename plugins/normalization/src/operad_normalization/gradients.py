"""Gradients of what `standardize` computes.

With `d = x - mean`, `r = 1 / sqrt(mean(d^2) + eps)`, `h = d * r`, where `g` is the gradient of the output and
`k = g * gamma`,

* `d/dx = r (k - mean(k) - h mean(k h))`, or `r k` where mean and variance are given and not the data's;
* `d/dgamma = sum(g h)`, `d/dbeta = sum(g)`, over all that one element of gamma is multiplied with.

The mean that is given is rounded, as `standardize` says, so what rounding lost is found again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from operad_normalization.groups import WHOLE, Groups
from operad_normalization.standardize import scale, standardize, subtract
from operad_sdk import Array, OpContext


def standardize_gradients(
    find: Callable[..., Any],
    op_ctx: OpContext,
    groups: Groups,
    output_grad: Array,
    data: Array,
    gamma: Array | None,
    mean: Array,
    inverse: Array,
    data_grad: Array | None,
    gamma_grad: Array | None,
    beta_grad: Array,
) -> None:
    """Write the gradients.

    Args:
        find: `sums_of_gradients`, or what computes the same.
        op_ctx: The run.
        groups: What was normalized together.
        output_grad: Of the shape of the groups, as `data`.
        data: What was normalized.
        gamma: Of the groups' vector shape; None: 1.
        mean: Of the groups' statistics shape, as `inverse`.
        inverse: `1 / sqrt(variance + eps)`.
        data_grad: To be written, and may be the memory of `output_grad`; None: not wanted.
        gamma_grad: To be written, of one axis as `beta_grad`; None: not wanted.
        beta_grad: To be written.
    """
    sums = find(op_ctx, groups, output_grad, data, gamma, mean, inverse, data_grad)
    for target, total in zip((gamma_grad, beta_grad), sums, strict=True):
        if target is not None:
            target[...] = total.reshape(target.shape)


def sums_of_gradients(
    op_ctx: OpContext,
    groups: Groups,
    output_grad: Array,
    data: Array,
    gamma: Array | None,
    mean: Array,
    inverse: Array,
    data_grad: Array | None,
    *,
    is_given: bool = False,
) -> tuple[Array, Array]:
    """Write the gradient of the data where it is wanted, and return those of gamma and beta.

    Args:
        is_given: Whether mean and deviation did not depend on the data; then each group has gains of its own.
    """
    blocks = groups.blocks(data)
    # A row of sums for each block; one for all where they are cut between gains, and write different parts.
    has_one = blocks == [WHOLE] or groups.cut == groups.gain_axis
    rows = [0] * len(blocks) if has_one else list(range(len(blocks)))
    of_gamma, of_beta = (op_ctx.xp.zeros((max(rows) + 1, *groups.vector), data.dtype) for _ in range(2))

    def run(part: int, slot: int) -> None:
        block = blocks[part]
        g, x, m, r = (groups.of(block, array) for array in (output_grad, data, mean, inverse))
        gain, dx = (None if array is None else groups.of(block, array) for array in (gamma, data_grad))
        of_gain, of_offset = (groups.of(block, of[rows[part]]) for of in (of_gamma, of_beta))
        with np.errstate(all="ignore"):
            h = op_ctx.xp.empty(x.shape, x.dtype)
            subtract(x, m, h)
            h *= r * 4
            if groups.vector == groups.statistics:
                _write_with_own_gains(groups, g, h, r, gain, of_gain, of_offset, dx, is_given)
            else:
                _write_with_shared_gains(groups, g, h, r, gain, of_gain, of_offset, dx)

    op_ctx.parallel(run, len(blocks), op_ctx.num_threads)
    return of_gamma.sum(0), of_beta.sum(0)


def _write_with_own_gains(
    groups: Groups,
    g: Array,
    h: Array,
    r: Array,
    gain: Array | None,
    gain_sums: Array,
    offset_sums: Array,
    dx: Array | None,
    is_given: bool,
) -> None:
    """Write gradients where each group has a gain, which can be multiplied with last.

    What rounding the mean lost, which `h` has, is subtracted from the sum of `g h`, so that a form walks over
    the data once less.
    """
    gain_sums[...] = (g * h).sum(groups.axes, keepdims=True)
    offset_sums[...] = g.sum(groups.axes, keepdims=True)
    if is_given:
        if dx is not None:
            np.multiply(g, r, out=dx)
            scale(dx, gain)
        return
    # mutant: equivalent, because it makes up for roundings, less than is allowed
    rest = h.sum(groups.axes, keepdims=True) / groups.count
    gain_sums -= rest * offset_sums
    if dx is not None:
        h -= rest
        h *= gain_sums / groups.count
        np.subtract(g, h, out=dx)
        dx -= offset_sums / groups.count
        dx *= r
        scale(dx, gain)


def _write_with_shared_gains(
    groups: Groups,
    g: Array,
    h: Array,
    r: Array,
    gain: Array | None,
    gain_sums: Array,
    offset_sums: Array,
    dx: Array | None,
) -> None:
    """Write gradients where several groups, or the elements of each, have a gain."""
    # mutant: equivalent, because it makes up for roundings, less than is allowed
    h -= h.sum(groups.axes, keepdims=True) / groups.count  # what rounding the mean lost
    product = g * h
    gain_sums[...] = product.sum(groups.others, keepdims=True)
    offset_sums[...] = g.sum(groups.others, keepdims=True)
    if dx is None:
        return
    if gain is not None:
        g = g * gain
        product *= gain
    h *= product.sum(groups.axes, keepdims=True) / groups.count
    h += g.sum(groups.axes, keepdims=True) / groups.count
    np.subtract(g, h, out=dx)
    dx *= r


class Way(NamedTuple):
    """Functions that compute the same as those of these modules; see there.

    Attributes:
        standardize: Writes the output and statistics of the data.
        sums_of_gradients: Writes the gradient of the data, and returns those of gain and offset.
    """

    standardize: Callable[..., None]
    sums_of_gradients: Callable[..., Array]


BY_BLOCKS: Final = Way(standardize, sums_of_gradients)

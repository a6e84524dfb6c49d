"""Gradients of `BatchNorm`.

With `d = x - mean`, `r = 1 / sqrt(mean(d^2) + eps)`, `h = d * r`, where `g` is the gradient of the output and
`k = g * gamma`,

* `d/dx = r (k - mean(k) - h mean(k h))`, or `r k` where mean and variance are given and not the data's;
* `d/dgamma = sum(g h)`, `d/dbeta = sum(g)`, over all that one element of gamma is multiplied with.

The mean that is given is rounded, as `standardize` says, so what rounding lost is found again.
"""

from __future__ import annotations

import numpy as np

from operad_normalization.groups import Groups, Part
from operad_normalization.standardize import scale, subtract
from operad_sdk import Array, OpContext, blocked_sum


def standardize_gradients(
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
    *,
    is_given: bool = False,
) -> None:
    """Write the gradients, where each group has a gain of its own.

    Args:
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
        is_given: Whether mean and deviation did not depend on the data.
    """
    of_gamma, of_beta = (op_ctx.xp.zeros(groups.vector, data.dtype) for _ in range(2))

    def run(of: Part) -> None:
        g, x, r, dx, gain_sums, offset_sums = map(
            of, (output_grad, data, inverse, data_grad, of_gamma, of_beta)
        )
        h = op_ctx.xp.empty(x.shape, x.dtype)
        subtract(x, of(mean), h)
        h *= r * 4
        gain_sums[...] = blocked_sum(g * h, groups.axes, keepdims=True)
        offset_sums[...] = blocked_sum(g, groups.axes, keepdims=True)
        if not is_given:
            # What rounding the mean lost, which `h` has, is subtracted from the sum of `g h`, so that a form
            # walks over the data once less.
            # mutant: equivalent, because it makes up for roundings, less than is allowed
            rest = blocked_sum(h, groups.axes, keepdims=True) / groups.count
            gain_sums -= rest * offset_sums
        if dx is None:
            return
        if is_given:
            np.multiply(g, r, out=dx)
        else:
            h -= rest
            h *= gain_sums / groups.count
            np.subtract(g, h, out=dx)
            dx -= offset_sums / groups.count
            dx *= r
        scale(dx, of(gamma))  # last, as its product with a large `r` may be beyond the type's range

    groups.each_block(op_ctx, data, run)
    for target, total in ((gamma_grad, of_gamma), (beta_grad, of_beta)):
        if target is not None:
            target[...] = total.reshape(target.shape)

"""Subtract the mean, divide by the standard deviation.

With `d = x - mean`, `r = 1 / sqrt(mean(d^2) + eps)`, `h = d * r` the output is `gamma * h + beta`.

The variance is the mean of `d^2`, never the difference of two large means. A mean that is rounded to its
type is off by up to half a unit in the last place, which is much of a small deviation: around 10000
float32 has steps of 0.001. The differences from the rounded mean are exact, or nearly, so their own mean is
what rounding lost: it is subtracted too, and its square from the mean of theirs, which is as small. The
gradient takes it from forward, or does the same with the mean that it is given.

Squares of float32 overflow from 1.8e19 on, and sums do where many elements are near the limit. There mean and
deviation, which the type holds, are found of the data times a power of two. The variance is infinite then.
Differences from the mean may be twice as large as the limit, so quarters of them are computed with, and four
times `r`; both are exact.

These are NumPy's loops, for every device and layout, and what kernels of forms follow from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_normalization.groups import Groups, Part
from operad_sdk import Array, OpContext, blocked_sum


def standardize(
    op_ctx: OpContext,
    groups: Groups,
    data: Array,
    gamma: Array | None,
    beta: Array,
    eps: float,
    output: Array,
    mean: Array,
    deviation: Array,
    variance: Array | None = None,
    rest: Array | None = None,
) -> None:
    """Write the output, and mean and deviation of every group.

    Args:
        op_ctx: The run.
        groups: What is normalized together.
        data: Of the shape of the groups, as `output`, which may be the same memory.
        gamma: Of the groups' vector shape, as `beta`; None: 1.
        beta: What is added.
        eps: Added to the variance.
        output: To be written.
        mean: To be written; of the groups' statistics shape, as `deviation` and `variance`.
        deviation: To be written: `sqrt(variance + eps)`.
        variance: To be written, without eps; None: not wanted.
        rest: To be written: what rounding took from a quarter of the mean; None: not wanted.
    """

    def run(of: Part) -> None:
        x, y, m, s = map(of, (data, output, mean, deviation))
        find = _statistics if type(x) is np.ndarray else _scaled_statistics
        m[...], v, lost, s[...], inverse, low = find(x, y, groups, eps)  # and `x - m`, scaled, into `y`
        if variance is not None:
            of(variance)[...] = v
        if rest is not None:
            of(rest)[...] = low
        y -= lost
        y *= inverse  # which is no more than 1e23 where the square is not 0
        scale(y, of(gamma))
        y += of(beta)

    groups.each_block(op_ctx, data, run)


_Statistics = tuple[Array, Array, Array, Array, Array, Array]
"""Of a group the rounded mean, the variance, what rounding took from the mean, the deviation, its inverse,
and what rounding took from a quarter of the mean.

The third and the fifth are of data that is scaled by a power of two, as the differences that are written are.
"""


def _statistics(x: Array, y: Array, groups: Groups, eps: float) -> _Statistics:
    mean = _mean(x, groups)
    subtract(x, mean, y)  # from here on, as the data may have been there
    variance, rest = _variance(y, groups)
    root = np.sqrt(variance + eps / 16)
    if not np.isfinite(root).all():
        small = 2.0 ** (-np.finfo(y.dtype).maxexp * 5 // 8)
        scaled, shift = _variance(y * y.dtype.type(small), groups)
        rest = np.where(np.isfinite(root), rest, shift / small)
        wide = np.sqrt(scaled + eps / 16 * small * small) / small
        root = np.where(np.isfinite(root), root, _in_range(wide, scaled, np.finfo(y.dtype).max / 4))
    return mean, variance * 16, rest, root * 4, 1 / root, rest


def _in_range(root: Array, variance: Array, most: Any) -> Array:
    """A deviation, which is in the range of the type but for roundings, unless the variance is infinite."""
    return np.where(variance < np.inf, np.minimum(root, most), root)


def subtract(x: Array, mean: Array, out: Array) -> None:
    """Write quarters of the differences, which the type holds."""
    np.multiply(x, 0.25, out=out)
    out -= mean * 0.25


def _mean(x: Array, groups: Groups) -> Array:
    mean: Array = blocked_sum(x, groups.axes, keepdims=True) / groups.count
    if type(x) is not np.ndarray or np.isfinite(mean).all():
        return mean
    small = x.dtype.type(2.0**-40)
    scaled = blocked_sum(x * small, groups.axes, keepdims=True) / groups.count / small
    return np.where(np.isfinite(mean), mean, scaled)


def _variance(y: Array, groups: Groups) -> tuple[Array, Array]:
    rest = blocked_sum(y, groups.axes, keepdims=True) / groups.count
    squares = blocked_sum(np.square(y), groups.axes, keepdims=True) / groups.count
    # Beyond the range of the type the variance is infinite, and not infinity less infinity.
    return np.maximum(squares - np.minimum(rest * rest, np.finfo(y.dtype).max), 0), rest


def _scaled_statistics(x: Array, y: Array, groups: Groups, eps: float) -> _Statistics:
    """The same for forms and devices, where nobody may look whether the type holds a sum: of scaled data.

    The sum of sizes bounds all elements, and so tells which power of two keeps their squares within the type
    and those of a mean's roundings above its smallest numbers.
    """
    kind, most = x.dtype.type, np.finfo(x.dtype).maxexp
    part = x * kind(2**-24)  # so many elements have a sum; of subnormal numbers it is not the mean
    size = blocked_sum(np.abs(part), groups.axes, keepdims=True)
    mean = blocked_sum(part, groups.axes, keepdims=True) / groups.count * kind(2**24)
    grown = np.where(size < kind(2.0 ** (-most * 9 // 32)), kind(2.0 ** (most * 7 // 16)), kind(0.25))
    # mutant: / (64): equivalent, because 64 divides the exponents of float32 and float64
    scale = np.where(size > kind(2.0 ** (most * 19 // 64)), kind(2.0 ** (-most * 9 // 16)), grown)
    np.multiply(x, scale, out=y)
    y -= mean * scale
    rest = blocked_sum(y, groups.axes, keepdims=True) / groups.count
    squares = blocked_sum(np.square(y), groups.axes, keepdims=True) / groups.count
    variance = np.maximum(squares - rest * rest, 0)
    root = np.sqrt(variance + eps * scale * scale)
    deviation = np.minimum(root / scale, np.finfo(x.dtype).max)  # beyond which roundings may take it
    return mean, variance / scale / scale, rest, deviation, 1 / root, rest / scale * 0.25


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
    """Write `gamma (x - mean) inverse + beta` for a given mean and inverse deviation of every group."""

    def run(of: Part) -> None:
        y = of(output)
        subtract(of(data), of(mean), y)
        y *= of(inverse) * 4
        scale(y, of(gamma))
        y += of(beta)

    groups.each_block(op_ctx, data, run)


def scale(array: Array, gain: Array | None) -> None:
    """Multiply with gamma, last: its product with a large `1 / deviation` may be beyond the type's range."""
    if gain is not None:
        array *= gain

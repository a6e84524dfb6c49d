"""Subtract the mean, divide by the standard deviation; and the gradient of that.

With `d = x - mean`, `r = 1 / sqrt(mean(d^2) + eps)`, `h = d * r` the output is `gamma * h + beta`. Where `g`
is the gradient of the output and `k = g * gamma`,

* `d/dx = r (k - mean(k) - h mean(k h))`, or `r k` where mean and variance are given and not the data's;
* `d/dgamma = sum(g h)`, `d/dbeta = sum(g)`, over all that one element of gamma is multiplied with.

The variance is the mean of `d^2`, never the difference of two large means. A mean that is rounded to its
type is off by up to half a unit in the last place, which is much of a small deviation: around 10000
float32 has steps of 0.001. The differences from the rounded mean are exact, or nearly, so their own mean is
what rounding lost: it is subtracted too, and its square from the mean of theirs, which is as small. The
gradient does the same with the mean that it is given.

Squares of float32 overflow from 1.8e19 on, and sums do where many elements are near the limit. There mean and
deviation, which the type holds, are found of the data times a power of two. The variance is infinite then.
Differences from the mean may be twice as large as the limit, so quarters of them are computed with, and four
times `r`; both are exact.

These are NumPy's loops, for every device and layout; `segments.py` has faster ones for the usual case, which
are kernels of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from operad_normalization.groups import WHOLE, Groups
from operad_sdk import Array, OpContext


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
    """
    blocks = groups.blocks(data)

    def run(part: int, slot: int) -> None:
        x, y, m, s, b = (groups.of(blocks[part], array) for array in (data, output, mean, deviation, beta))
        with np.errstate(all="ignore"):
            find = _statistics if type(x) is np.ndarray else _scaled_statistics
            m[...], v, rest, s[...], inverse = find(x, y, groups, eps)  # and `x - m`, scaled, into `y`
            if variance is not None:
                groups.of(blocks[part], variance)[...] = v
            y -= rest
            y *= inverse  # which is no more than 1e23 where the square is not 0
            _scale(y, None if gamma is None else groups.of(blocks[part], gamma))
            y += b

    op_ctx.parallel(run, len(blocks), op_ctx.num_threads)


_Statistics = tuple[Array, Array, Array, Array, Array]
"""Of a group the rounded mean, the variance, what rounding left of the mean, the deviation, and its inverse.

The third and the last are of data that is scaled by a power of two, as the differences that are written are.
"""


def _statistics(x: Array, y: Array, groups: Groups, eps: float) -> _Statistics:
    mean = _mean(x, groups)
    _subtract(x, mean, y)  # from here on, as the data may have been there
    variance, rest = _variance(y, groups)
    root = np.sqrt(variance + eps / 16)
    if not np.isfinite(root).all():
        small = 2.0 ** (-np.finfo(y.dtype).maxexp * 5 // 8)
        scaled, shift = _variance(y * y.dtype.type(small), groups)
        rest = np.where(np.isfinite(root), rest, shift / small)
        wide = np.sqrt(scaled + eps / 16 * small * small) / small
        root = np.where(np.isfinite(root), root, _in_range(wide, scaled, np.finfo(y.dtype).max / 4))
    return mean, variance * 16, rest, root * 4, 1 / root


def _in_range(root: Array, variance: Array, most: Any) -> Array:
    """A deviation, which is in the range of the type but for roundings, unless the variance is infinite."""
    return np.where(variance < np.inf, np.minimum(root, most), root)


def _subtract(x: Array, mean: Array, out: Array) -> None:
    """Write quarters of the differences, which the type holds."""
    np.multiply(x, 0.25, out=out)
    out -= mean * 0.25


def _mean(x: Array, groups: Groups) -> Array:
    mean: Array = x.sum(groups.axes, keepdims=True) / groups.count
    if type(x) is not np.ndarray or np.isfinite(mean).all():
        return mean
    small = x.dtype.type(2.0**-40)
    scaled = (x * small).sum(groups.axes, keepdims=True) / groups.count / small
    return np.where(np.isfinite(mean), mean, scaled)


def _variance(y: Array, groups: Groups) -> tuple[Array, Array]:
    rest = y.sum(groups.axes, keepdims=True) / groups.count
    squares = np.square(y).sum(groups.axes, keepdims=True) / groups.count
    # Beyond the range of the type the variance is infinite, and not infinity less infinity.
    return np.maximum(squares - np.minimum(rest * rest, np.finfo(y.dtype).max), 0), rest


def _scaled_statistics(x: Array, y: Array, groups: Groups, eps: float) -> _Statistics:
    """The same for forms and devices, where nobody may look whether the type holds a sum: of scaled data.

    The sum of sizes bounds all elements, and so tells which power of two keeps their squares within the type
    and those of a mean's roundings above its smallest numbers.
    """
    kind, most = x.dtype.type, np.finfo(x.dtype).maxexp
    part = x * kind(2**-24)  # so many elements have a sum; of subnormal numbers it is not the mean
    size = np.abs(part).sum(groups.axes, keepdims=True)
    mean = part.sum(groups.axes, keepdims=True) / groups.count * kind(2**24)
    grown = np.where(size < kind(2.0 ** (-most * 9 // 32)), kind(2.0 ** (most * 7 // 16)), kind(0.25))
    scale = np.where(size > kind(2.0 ** (most * 19 // 64)), kind(2.0 ** (-most * 9 // 16)), grown)
    np.multiply(x, scale, out=y)
    y -= mean * scale
    rest = y.sum(groups.axes, keepdims=True) / groups.count
    squares = np.square(y).sum(groups.axes, keepdims=True) / groups.count
    variance = np.maximum(squares - rest * rest, 0)
    root = np.sqrt(variance + eps * scale * scale)
    deviation = np.minimum(root / scale, np.finfo(x.dtype).max)  # beyond which roundings may take it
    return mean, variance / scale / scale, rest, deviation, 1 / root


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
    blocks = groups.blocks(data)

    def run(part: int, slot: int) -> None:
        x, y, m, r, b = (groups.of(blocks[part], array) for array in (data, output, mean, inverse, beta))
        with np.errstate(all="ignore"):
            _subtract(x, m, y)
            y *= r * 4
            _scale(y, None if gamma is None else groups.of(blocks[part], gamma))
            y += b

    op_ctx.parallel(run, len(blocks), op_ctx.num_threads)


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
            _subtract(x, m, h)
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
            _scale(dx, gain)
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
        _scale(dx, gain)


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


def _scale(array: Array, gain: Array | None) -> None:
    """Multiply with gamma, last: its product with a large `1 / deviation` may be beyond the type's range."""
    if gain is not None:
        array *= gain


class Way(NamedTuple):
    """Functions that compute the same as those of this module; see there.

    Attributes:
        standardize: Writes the output and statistics of the data.
        sums_of_gradients: Writes the gradient of the data, and returns those of gain and offset.
    """

    standardize: Callable[..., None]
    sums_of_gradients: Callable[..., Array]


BY_BLOCKS: Final = Way(standardize, sums_of_gradients)

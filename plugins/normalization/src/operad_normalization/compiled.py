"""Loops over groups that numba compiles: a group is read from memory once, and once more from a cache.

Arrays are contiguous, of shape (N, G, K): group `g` has the elements `[:, g, :]`. Gains and offsets are for
each group, or for each of the K.

Sums are in double precision, of differences from a number near the mean: `sum(d)` and `sum(d^2)` with
`d = x - s` give mean and variance in one pass. For `s` the first element will do. It is one of n elements, so
`(s - mean)^2` is at most n times the variance, and the difference `sum(d^2) / n - (sum(d) / n)^2` loses
log10(n) of 16 digits, whatever the mean. The gradients have the rounded mean for `s`. Squares of single
precision do not overflow.

What is written is computed in the data's type, from the mean in two parts: the first is the mean rounded to
that type, the second what rounding left. Sums are vectorized, which changes their order, but not from run to
run; other loops keep theirs, or the two parts would be added first. No threads of numba's are used:
`segments.py` divides the groups among those of the engine.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from operad_sdk import loop

_sums = partial(loop, may_reorder=True)


@_sums
def _moments(x: Any, g: int) -> tuple[float, float]:
    """Mean and variance of a group."""
    shift = np.float64(x[0, g, 0])
    total, squares = 0.0, 0.0
    for n in range(x.shape[0]):
        for k in range(x.shape[2]):
            d = x[n, g, k] - shift
            total += d
            squares += d * d
    count = x.shape[0] * x.shape[2]
    rest = total / count
    variance = squares / count - rest * rest
    return shift + rest, 0.0 if variance < 0 else variance


@_sums
def _products(grad: Any, x: Any, g: int, shift: float) -> tuple[float, float, float]:
    """`sum(grad)`, `sum(grad d)` and `mean(d)` with `d = x - shift`."""
    total, product, rest = 0.0, 0.0, 0.0
    for n in range(x.shape[0]):
        for k in range(x.shape[2]):
            d = x[n, g, k] - shift
            total += grad[n, g, k]
            product += grad[n, g, k] * d
            rest += d  # mutant: equivalent, because it makes up for roundings
    return total, product, rest / (x.shape[0] * x.shape[2])


@_sums
def _weighted_products(grad: Any, gamma: Any, x: Any, g: int, shift: float) -> tuple[float, float, float]:
    """The same of `grad * gamma`."""
    total, product, rest = 0.0, 0.0, 0.0
    for n in range(x.shape[0]):
        for k in range(x.shape[2]):
            d = x[n, g, k] - shift
            weighted = np.float64(grad[n, g, k] * gamma[k])
            total += weighted
            product += weighted * d
            rest += d  # mutant: equivalent, because it makes up for roundings
    return total, product, rest / (x.shape[0] * x.shape[2])


@loop
def _write_parts(mean: float, parts: Any) -> None:
    """Write a number in two parts of the type of `parts`."""
    parts[0] = mean
    parts[1] = mean - parts[0]


@loop
def standardize_by_group(
    x: Any, gamma: Any, beta: Any, eps: float, y: Any, mean: Any, variance: Any, first: int, last: int
) -> None:
    """Groups `first` to `last`, with a gain for each group."""
    parts = np.empty(3, x.dtype)
    for g in range(first, last):
        m, v = _moments(x, g)
        mean[g], variance[g] = m, v
        _write_parts(m, parts)
        parts[2] = 1 / np.sqrt(v + eps)
        high, low, r, scale, offset = parts[0], parts[1], parts[2], gamma[g], beta[g]
        for n in range(x.shape[0]):
            for k in range(x.shape[2]):
                y[n, g, k] = ((x[n, g, k] - high) - low) * r * scale + offset


@loop
def standardize_by_element(
    x: Any, gamma: Any, beta: Any, eps: float, y: Any, mean: Any, variance: Any, first: int, last: int
) -> None:
    """Groups `first` to `last`, with a gain for each of their elements."""
    parts = np.empty(3, x.dtype)
    for g in range(first, last):
        m, v = _moments(x, g)
        mean[g], variance[g] = m, v
        _write_parts(m, parts)
        parts[2] = 1 / np.sqrt(v + eps)
        high, low, r = parts[0], parts[1], parts[2]
        for n in range(x.shape[0]):
            for k in range(x.shape[2]):
                y[n, g, k] = ((x[n, g, k] - high) - low) * r * gamma[k] + beta[k]


@loop
def apply_by_group(
    x: Any, gamma: Any, beta: Any, mean: Any, inverse: Any, y: Any, first: int, last: int
) -> None:
    """Groups `first` to `last`, whose mean and inverse deviation are given."""
    for g in range(first, last):
        m, r, scale, offset = mean[g], inverse[g], gamma[g], beta[g]
        for n in range(x.shape[0]):
            for k in range(x.shape[2]):
                y[n, g, k] = (x[n, g, k] - m) * r * scale + offset


@loop
def gradients_by_group(
    grad: Any,
    x: Any,
    gamma: Any,
    mean: Any,
    inverse: Any,
    is_given: bool,
    dx: Any,
    sums: Any,
    first: int,
    last: int,
) -> None:
    """Write dx unless it is empty, and the gradients of gain and offset of each group into `sums`, (2, G)."""
    parts = np.empty(4, x.dtype)
    count = x.shape[0] * x.shape[2]
    for g in range(first, last):
        m, r = np.float64(mean[g]), np.float64(inverse[g])
        total, product, rest = _products(grad, x, g, m)
        if is_given:
            rest = 0.0
        product -= rest * total
        sums[0, g], sums[1, g] = product * r, total
        if dx.size:
            _write_parts(m + rest, parts)
            parts[2] = 0.0 if is_given else total / count
            parts[3] = 0.0 if is_given else product * r * r / count
            high, low, offset, slope = parts[0], parts[1], parts[2], parts[3]
            inv, scale = inverse[g], gamma[g]
            for n in range(x.shape[0]):
                for k in range(x.shape[2]):
                    d = (x[n, g, k] - high) - low
                    dx[n, g, k] = (grad[n, g, k] - offset - d * slope) * inv * scale


@loop
def gradients_by_element(
    grad: Any, x: Any, gamma: Any, mean: Any, inverse: Any, dx: Any, sums: Any, first: int, last: int
) -> None:
    """Write dx unless it is empty, and these groups' gradients of gain and offset into `sums`, (2, K)."""
    parts = np.empty(4, x.dtype)
    count = x.shape[0] * x.shape[2]
    for g in range(first, last):
        m, r = np.float64(mean[g]), np.float64(inverse[g])
        total, product, rest = _weighted_products(grad, gamma, x, g, m)
        product -= rest * total
        _write_parts(m + rest, parts)
        parts[2], parts[3] = total / count, product * r * r / count
        high, low, offset, slope, inv = parts[0], parts[1], parts[2], parts[3], inverse[g]
        for n in range(x.shape[0]):
            for k in range(x.shape[2]):
                d = (x[n, g, k] - high) - low
                sums[0, k] += grad[n, g, k] * (d * inv)
                sums[1, k] += grad[n, g, k]
            if dx.size:
                for k in range(x.shape[2]):
                    d = (x[n, g, k] - high) - low
                    dx[n, g, k] = (grad[n, g, k] * gamma[k] - offset - d * slope) * inv

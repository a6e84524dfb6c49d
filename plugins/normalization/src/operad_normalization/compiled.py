"""Loops over groups that numba compiles: a group is read from memory once, and then from a cache.

Arrays are contiguous, of shape (N, G, K): group `g` has the elements `[:, g, :]`. Gains and offsets are for
each group, or for each of the K. All arithmetic is in double precision, so sums lose no digits, and squares
of single precision do not overflow. Sums are vectorized, which changes their order, but not from run to run.
No threads of numba's are used: `segments.py` divides the groups among those of the engine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_sum_options: dict[str, Any] = {"fastmath": {"reassoc", "nsz", "contract"}}
_options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "cache": True}


@njit(**_options, **_sum_options)  # type: ignore[untyped-decorator]
def _sum(x: Any, g: int) -> float:
    total = 0.0
    for n in range(x.shape[0]):
        for k in range(x.shape[2]):
            total += x[n, g, k]
    return total


@njit(**_options, **_sum_options)  # type: ignore[untyped-decorator]
def _sum_of_squares(x: Any, g: int, mean: float) -> float:
    total = 0.0
    for n in range(x.shape[0]):
        for k in range(x.shape[2]):
            d = x[n, g, k] - mean
            total += d * d
    return total


@njit(**_options, **_sum_options)  # type: ignore[untyped-decorator]
def _sums_with(grad: Any, x: Any, g: int, mean: float) -> tuple[float, float]:
    """`sum(grad)` and `sum(grad (x - mean))`."""
    total, product = 0.0, 0.0
    for n in range(x.shape[0]):
        for k in range(x.shape[2]):
            total += grad[n, g, k]
            product += grad[n, g, k] * (x[n, g, k] - mean)
    return total, product


@njit(**_options, **_sum_options)  # type: ignore[untyped-decorator]
def _weighted_sums_with(grad: Any, gamma: Any, x: Any, g: int, mean: float) -> tuple[float, float]:
    """The same of `grad * gamma`."""
    total, product = 0.0, 0.0
    for n in range(x.shape[0]):
        for k in range(x.shape[2]):
            weighted = grad[n, g, k] * np.float64(gamma[k])
            total += weighted
            product += weighted * (x[n, g, k] - mean)
    return total, product


@njit(**_options)  # type: ignore[untyped-decorator]
def standardize_by_group(
    x: Any, gamma: Any, beta: Any, eps: float, y: Any, mean: Any, variance: Any, first: int, last: int
) -> None:
    """Groups `first` to `last`, with a gain for each group."""
    count = x.shape[0] * x.shape[2]
    for g in range(first, last):
        m = _sum(x, g) / count
        v = _sum_of_squares(x, g, m) / count
        mean[g], variance[g] = m, v
        r, scale, offset = 1 / np.sqrt(v + eps), np.float64(gamma[g]), np.float64(beta[g])
        for n in range(x.shape[0]):
            for k in range(x.shape[2]):
                y[n, g, k] = (x[n, g, k] - m) * r * scale + offset


@njit(**_options)  # type: ignore[untyped-decorator]
def standardize_by_element(
    x: Any, gamma: Any, beta: Any, eps: float, y: Any, mean: Any, variance: Any, first: int, last: int
) -> None:
    """Groups `first` to `last`, with a gain for each of their elements."""
    count = x.shape[0] * x.shape[2]
    for g in range(first, last):
        m = _sum(x, g) / count
        v = _sum_of_squares(x, g, m) / count
        mean[g], variance[g] = m, v
        r = 1 / np.sqrt(v + eps)
        for n in range(x.shape[0]):
            for k in range(x.shape[2]):
                y[n, g, k] = (x[n, g, k] - m) * r * np.float64(gamma[k]) + np.float64(beta[k])


@njit(**_options)  # type: ignore[untyped-decorator]
def apply_by_group(
    x: Any, gamma: Any, beta: Any, mean: Any, inverse: Any, y: Any, first: int, last: int
) -> None:
    """Groups `first` to `last`, whose mean and inverse deviation are given."""
    for g in range(first, last):
        m, r = np.float64(mean[g]), np.float64(inverse[g])
        scale, offset = np.float64(gamma[g]), np.float64(beta[g])
        for n in range(x.shape[0]):
            for k in range(x.shape[2]):
                y[n, g, k] = (x[n, g, k] - m) * r * scale + offset


@njit(**_options)  # type: ignore[untyped-decorator]
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
    count = x.shape[0] * x.shape[2]
    for g in range(first, last):
        m = np.float64(mean[g]) if is_given else _sum(x, g) / count
        r, scale = np.float64(inverse[g]), np.float64(gamma[g])
        total, product = _sums_with(grad, x, g, m)
        sums[0, g], sums[1, g] = product * r, total
        if dx.size:
            offset = 0.0 if is_given else total / count
            slope = 0.0 if is_given else product * r * r / count
            for n in range(x.shape[0]):
                for k in range(x.shape[2]):
                    dx[n, g, k] = (grad[n, g, k] - offset - (x[n, g, k] - m) * slope) * r * scale


@njit(**_options)  # type: ignore[untyped-decorator]
def gradients_by_element(
    grad: Any, x: Any, gamma: Any, inverse: Any, dx: Any, sums: Any, first: int, last: int
) -> None:
    """Write dx unless it is empty, and these groups' gradients of gain and offset into `sums`, (2, K)."""
    count = x.shape[0] * x.shape[2]
    sums[...] = 0
    for g in range(first, last):
        m, r = _sum(x, g) / count, np.float64(inverse[g])
        total, product = _weighted_sums_with(grad, gamma, x, g, m)
        offset, slope = total / count, product * r * r / count
        for n in range(x.shape[0]):
            for k in range(x.shape[2]):
                d = x[n, g, k] - m
                sums[0, k] += grad[n, g, k] * (d * r)
                sums[1, k] += grad[n, g, k]
            if dx.size:
                for k in range(x.shape[2]):
                    weighted = grad[n, g, k] * np.float64(gamma[k])
                    dx[n, g, k] = (weighted - offset - (x[n, g, k] - m) * slope) * r

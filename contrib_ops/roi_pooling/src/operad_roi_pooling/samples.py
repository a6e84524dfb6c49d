"""Samples between pixels, along one axis at a time.

A sample's weight on a pixel is that of its row times that of its column, and whether it is inside the data
is a matter of both axes too. So rows are sampled first and columns of the result after, and no list of all
samples is made. Values are gathered rather than multiplied by a matrix of weights, in which an infinite
pixel would spoil all bins; gradients are finite, and are spread by that matrix.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from operad_sdk import Array


class Samples(NamedTuple):
    """Samples of all bins along one axis of the data.

    Attributes:
        support: The pixels that any sample uses.
        low: The pixel at or before each sample, counted from the start of `support`; (bins, samples).
        high: The pixel after it, likewise; the same one at the edge.
        fraction: The distance from `low`, at most 1.
        is_inside: Whether a sample is within one pixel of the data; else it is 0.
    """

    support: slice
    low: Array
    high: Array
    fraction: Array
    is_inside: Array

    def bin(self, number: int) -> Samples:
        """The samples of one bin."""
        return Samples(self.support, *(values[number : number + 1] for values in self[1:]))


def samples(start: Any, extent: Any, bins: int, ratio: int, size: int) -> Samples:
    """The samples of a region.

    Args:
        start: Where the region starts, and, `extent`, how long it is; scalars of NumPy, whose type counts.
        ratio: Samples of a bin; not positive: one per pixel, rounded up.
        size: Length of the data, at least 1.
    """
    dtype = extent.dtype
    length = extent / dtype.type(bins)
    count = ratio if ratio > 0 else max(0, int(np.ceil(length)))
    within = (np.arange(count, dtype=dtype) + dtype.type(0.5)) * length / dtype.type(max(count, 1))
    at = start + np.arange(bins, dtype=dtype)[:, None] * length + within
    is_inside = (at >= -1) & (at <= size)
    at = np.clip(at, 0, size - 1)
    low = at.astype(np.intp)
    high = np.minimum(low + 1, size - 1)
    support = slice(int(low.min()), int(high.max()) + 1) if low.size else slice(0, 0)
    return Samples(support, low - support.start, high - support.start, at - low, is_inside)


def sampled(xp: Any, pixels: Array, rows: Samples, columns: Samples) -> Array:
    """The mean of the samples in each bin: (channels, bins of rows, bins of columns) of (channels, H, W)."""
    used = pixels[:, rows.support, columns.support]
    return _along(xp, _along(xp, used.swapaxes(1, 2), rows).swapaxes(1, 2), columns)


def _along(xp: Any, values: Array, along: Samples) -> Array:
    """The mean of samples of the last axis."""
    low, high, fraction, is_inside = (xp.asarray(part) for part in along[1:])
    found = values[..., low] * (1 - fraction) + values[..., high] * fraction
    found[..., ~is_inside] = 0
    return found.sum(axis=-1) / values.dtype.type(max(1, low.shape[1]))


def spread(xp: Any, grad: Array, rows: Samples, columns: Samples, pixels_grad: Array) -> None:
    """Add the adjoint of `sampled`."""
    of_rows, of_columns = (xp.asarray(_weights(along), grad.dtype) for along in (rows, columns))
    pixels_grad[:, rows.support, columns.support] += of_rows.T @ (grad @ of_columns)


def _weights(along: Samples) -> Array:
    """The weight of each pixel of the support, a column, in the mean of each bin, a row."""
    bins, count = along.low.shape
    weights = np.zeros((bins, along.support.stop - along.support.start), along.fraction.dtype)
    number = np.arange(bins)[:, None]
    share = along.is_inside / along.fraction.dtype.type(max(1, count))
    np.add.at(weights, (number, along.low), share * (1 - along.fraction))
    np.add.at(weights, (number, along.high), share * along.fraction)
    return weights

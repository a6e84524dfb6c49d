"""Folding windows: their sums or maxima, and the adjoints.

Windows are boxes, so sums and maxima are taken along one axis after the other, the last axis last
because that leaves it the least work and the earlier passes contiguous rows. The adjoint of a
maximum goes by whole windows instead: which of several equal elements is the first in reading order
cannot be told from one axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from operad_pooling.windows import Axis, lengths, spans, taps
from operad_sdk import Array

Axes = Sequence[Axis]


def fold_sum(xp: Any, data: Array, axes: Axes, out: Array) -> None:
    """Write the sum of each window; 0 where one is outside the data."""
    _fold(xp, xp.add, xp.sum, 0, data, axes, out)


def fold_max(xp: Any, data: Array, axes: Axes, out: Array) -> None:
    """Write the largest element of each window; the lowest finite number where one is outside the data."""
    _fold(xp, xp.maximum, xp.max, -np.inf, data, axes, out)
    for axis in axes:
        for window, span in enumerate(spans(axis)):
            if span.start == span.stop:
                out[axis.at(slice(window, window + 1))] = np.finfo(out.dtype).min


def _fold(xp: Any, combine: Any, reduce: Any, start: float, data: Array, axes: Axes, out: Array) -> None:
    if all(axis.count == 1 for axis in axes):
        region = data[_region(data, axes)]
        if all(region.shape[axis.axis] for axis in axes):
            reduce(region, axis=tuple(axis.axis for axis in axes), keepdims=True, out=out)
        else:
            out[...] = start
        return
    for axis in axes:
        shape = (*data.shape[: axis.axis], axis.count, *data.shape[axis.axis + 1 :])
        target = out if axis is axes[-1] else xp.empty(shape, out.dtype)
        fold_axis = _fold_spans if axis.has_few_windows else _fold_taps
        fold_axis(combine, reduce, start, data, axis, target)
        data = target


def _fold_spans(combine: Any, reduce: Any, start: float, data: Array, axis: Axis, out: Array) -> None:
    for window, span in enumerate(spans(axis)):
        part = out[axis.at(slice(window, window + 1))]
        if span.start == span.stop:
            part[...] = start
        else:
            reduce(data[axis.at(span)], axis=axis.axis, keepdims=True, out=part)


def _fold_taps(combine: Any, reduce: Any, start: float, data: Array, axis: Axis, out: Array) -> None:
    """Taps inside the data for every output come first: the first two of them need no filling."""
    everywhere = slice(0, axis.count)
    rest = sorted(taps(axis), key=lambda tap: tap.outputs != everywhere)
    whole = [data[axis.at(tap.elements)] for tap in rest[:2] if tap.outputs == everywhere]
    if len(whole) == 2:
        combine(*whole, out=out)
    else:
        out[...] = whole[0] if whole else start
    for tap in rest[len(whole) :]:
        part = out[axis.at(tap.outputs)]
        combine(part, data[axis.at(tap.elements)], out=part)


def spread(xp: Any, values: Array, axes: Axes, out: Array) -> None:
    """Write the adjoint of `fold_sum`: each element is the sum over the windows it is in."""
    for axis in reversed(axes):
        shape = (*values.shape[: axis.axis], axis.size, *values.shape[axis.axis + 1 :])
        target = out if axis is axes[0] else xp.empty(shape, out.dtype)
        if not axis.tiles:
            target[...] = 0
        for outputs, elements in _pairs(axis):
            part = target[axis.at(elements)]
            if axis.overlaps:
                part += values[axis.at(outputs)]
            else:
                part[...] = values[axis.at(outputs)]
        values = target


def _pairs(axis: Axis) -> Sequence[tuple[slice, slice]]:
    if axis.has_few_windows:
        return [(slice(window, window + 1), span) for window, span in enumerate(spans(axis))]
    return taps(axis)


def spread_to_first(xp: Any, values: Array, data: Array, largest: Array, axes: Axes, out: Array) -> None:
    """Write the adjoint of `fold_max`: each window's value goes to its first largest element.

    A window that holds a NaN has none.

    Args:
        values: One a window.
        largest: What `fold_max` wrote.
    """
    if not all(axis.tiles for axis in axes):
        out[...] = 0
    if all(axis.count == 1 for axis in axes):
        _spread_to_one(xp, values, data, largest, axes, out)
        return
    overlaps = any(axis.overlaps for axis in axes)
    is_open = xp.ones(largest.shape, bool)
    for position in product(*map(taps, axes)):
        outputs = _index(data, axes, [tap.outputs for tap in position])
        elements = _index(data, axes, [tap.elements for tap in position])
        open_part = is_open[outputs]
        is_first = xp.equal(data[elements], largest[outputs])
        is_first &= open_part
        part = out[elements]
        if overlaps:
            part += values[outputs] * is_first
        else:
            # A product with a mask is six times as fast as a masked copy.
            xp.multiply(values[outputs], is_first, out=part)
        open_part ^= is_first


def _spread_to_one(xp: Any, values: Array, data: Array, largest: Array, axes: Axes, out: Array) -> None:
    """The case of one window: where its first largest element is."""
    region = _region(data, axes)
    last = tuple(range(data.ndim - len(axes), data.ndim))
    order = [axis.axis for axis in axes]
    is_largest = xp.moveaxis(data[region] == largest, order, last)
    if not is_largest.size:
        return
    lead = is_largest.shape[: -len(axes)]
    flat = is_largest.reshape(*lead, prod(is_largest.shape[-len(axes) :]))
    place = flat.argmax(-1)
    first = xp.arange(flat.shape[-1]) == place[..., None]
    first &= flat
    target = xp.moveaxis(out[region], order, last)
    xp.multiply(xp.moveaxis(values, order, last), first.reshape(is_largest.shape), out=target)


def divisor(xp: Any, axes: Axes, counts_pad: bool, ndim: int, dtype: Any) -> Any:
    """Number of positions of each window that count: a number, or an array that broadcasts to the output."""
    by_axis = [lengths(axis, counts_pad) for axis in axes]
    if all(len(set(along)) <= 1 for along in by_axis):
        return dtype.type(prod(along[0] for along in by_axis if along))
    total = xp.ones((1,) * ndim, dtype)
    for axis, along in zip(axes, by_axis, strict=True):
        total = total * xp.asarray(along, dtype).reshape((-1,) + (1,) * (ndim - axis.axis - 1))
    return total


def _region(data: Array, axes: Axes) -> tuple[slice, ...]:
    """The elements in the only window."""
    return _index(data, axes, [spans(axis)[0] for axis in axes])


def _index(data: Array, axes: Axes, parts: Sequence[slice]) -> tuple[slice, ...]:
    index = [slice(None)] * data.ndim
    for axis, part in zip(axes, parts, strict=True):
        index[axis.axis] = part
    return tuple(index)

"""Combining and spreading over windows, one axis after another.

A maximum or sum over a box is taken along each axis in turn, which takes the sum of the kernel's
sizes instead of their product in passes, and every pass is a ufunc on strided views. Padding is never
stored: a tap simply leaves out the windows that have it outside the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad_pooling.window import Window, along
from operad_sdk import Array


def combine(ufunc: np.ufunc, initial: float, data: Array, windows: Sequence[Window], out: Array) -> None:
    """Write the `ufunc` of each window's elements into `out`.

    Args:
        ufunc: `np.maximum` or `np.add`.
        initial: What an empty window gives.
        data: (N, C, ...), one spatial axis a window.
        out: (N, C, ...), overwritten.
    """
    for axis, window in reversed(list(enumerate(windows, start=2))):
        target = out if axis == 2 else None
        data = _combined(ufunc, initial, data, axis, window, target)


def spread(grad: Array, windows: Sequence[Window], out: Array) -> None:
    """Write the adjoint of the sum: every element of `out` is the sum over the windows it is in."""
    for axis, window in enumerate(windows, start=2):
        shape = (*grad.shape[:axis], window.size, *grad.shape[axis + 1 :])
        target = out if axis == out.ndim - 1 else np.empty_like(out, shape=shape)
        if not window.is_tiled:
            target[...] = 0
        for tap in window.taps():
            part = target[along(axis, tap.places)]
            if window.is_tiled:
                part[...] = grad
            else:
                part += grad[along(axis, tap.outputs)]
        grad = target


def spread_to_maximum(grad: Array, data: Array, value: Array, windows: Sequence[Window], out: Array) -> None:
    """Write the adjoint of the maximum: the first largest element of each window gets its gradient.

    First is meant in the order of the axes. The maxima along the last axes are found again; where
    they first equal the window's maximum along an axis, the gradient goes.

    Args:
        grad: Gradient of the maxima.
        data: What they were taken of.
        value: The maxima.
    """
    stages = [data]
    for axis, window in reversed(list(enumerate(windows[1:], start=3))):
        stages.append(_combined(np.maximum, -np.inf, stages[-1], axis, window, None))
    for axis, window in enumerate(windows, start=2):
        stage = stages.pop()
        target = out if axis == out.ndim - 1 else np.empty_like(stage)
        _spread_along(axis, window, grad, stage, value, target)
        grad, value = target, stage


def _combined(
    ufunc: np.ufunc, initial: float, data: Array, axis: int, window: Window, out: Array | None
) -> Array:
    if out is None:
        shape = (*data.shape[:axis], window.out, *data.shape[axis + 1 :])
        out = np.empty_like(data, shape=shape)
    if window.is_whole:
        ufunc.reduce(data, axis=axis, keepdims=True, out=out, initial=initial)
        return out
    taps = list(window.taps())
    # The tap that every window has inside starts the result, so that nothing need be cleared.
    start = next((tap for tap in taps if tap.covers_all), None)
    if start is None:
        out[...] = initial
    else:
        taps.remove(start)
        out[...] = data[along(axis, start.places)]
    for tap in taps:
        part = out[along(axis, tap.outputs)]
        ufunc(part, data[along(axis, tap.places)], out=part)
    return out


def _spread_along(axis: int, window: Window, grad: Array, data: Array, value: Array, out: Array) -> None:
    """One axis of `spread_to_maximum`; `grad` and `value` have an element for each window."""
    rest: Any = grad.copy()
    if not window.is_tiled:
        out[...] = 0
    for tap in window.taps():
        left = rest[along(axis, tap.outputs)]
        is_largest = data[along(axis, tap.places)] == value[along(axis, tap.outputs)]
        part = out[along(axis, tap.places)]
        if window.is_tiled:
            np.multiply(left, is_largest, out=part)
            left -= part
        else:
            share = left * is_largest
            part += share
            left -= share

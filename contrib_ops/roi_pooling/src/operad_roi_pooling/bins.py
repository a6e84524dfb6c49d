"""The bins of a region, and their maxima.

A bin is a rectangle, so the maxima of each row's part are found first, and then the maxima of these along
the columns. Of equal elements the first row's counts, and in it the first one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_sdk import Array


def bins(low: Array, high: Array, count: int, size: int) -> Array:
    """Starts and stops of each region's bins along one axis of `size` pixels; (R, count, 2).

    Args:
        low: First pixels of the regions, and, `high`, the last ones, before they are rounded.
    """
    first, last = (np.trunc(end + np.copysign(end.dtype.type(0.5), end)) for end in (low, high))
    length = np.maximum(last - first + 1, 1)[:, None] / low.dtype.type(count)
    number = np.arange(count, dtype=low.dtype)
    ends = np.stack([np.floor(length * number), np.ceil(length * (number + 1))], axis=-1)
    return np.clip(ends + first[:, None, None], 0, size).astype(np.intp)


def pool(xp: Any, image: Array, rows: Array, columns: Array, output: Array, maxidx: Array) -> None:
    """Pool one region of (channels, H, W); bins without an element are left as they are."""
    width = image.shape[2]
    first, last = int(rows[0, 0]), int(rows[-1, 1])
    for j, (start, stop) in enumerate(columns.tolist()):
        if start == stop:
            continue
        part = image[:, first:last, start:stop]
        positions = part.argmax(axis=2)
        largest = xp.take_along_axis(part, positions[..., None], axis=2)[..., 0]
        for i, (top, bottom) in enumerate(rows.tolist()):
            if top == bottom:
                continue
            in_bin = slice(top - first, bottom - first)
            row = largest[:, in_bin].argmax(axis=1)[:, None]
            output[:, i, j] = xp.take_along_axis(largest[:, in_bin], row, axis=1)[:, 0]
            column = xp.take_along_axis(positions[:, in_bin], row, axis=1)[:, 0]
            maxidx[:, i, j] = (top + row[:, 0]) * width + start + column

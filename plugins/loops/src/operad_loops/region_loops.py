"""Loops over regions that numba compiles on their first use; imported only where that is installed."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_sdk import loop


@loop
def pool(data: Any, images: Any, rows: Any, columns: Any, output: Any, maxidx: Any) -> None:
    """The first largest element of each bin, of which NaN is the largest.

    Args:
        images: The number of each region's image, negative for those in none.
        rows: Where each region's bins start and stop; (R, h, 2). And `columns`: (R, w, 2).
        output: Zeros; `maxidx` is -1 everywhere. Bins with an element are written.
    """
    width = data.shape[3]
    for n, c, i, j in np.ndindex(output.shape):
        if images[n] < 0:
            continue
        plane = data[images[n], c]
        position = -1
        largest = plane.dtype.type(0)
        for row in range(rows[n, i, 0], rows[n, i, 1]):
            for column in range(columns[n, j, 0], columns[n, j, 1]):
                value = plane[row, column]
                if position < 0 or value > largest or (np.isnan(value) and not np.isnan(largest)):
                    largest, position = value, row * width + column
        output[n, c, i, j] = largest
        maxidx[n, c, i, j] = position


@loop
def unpool(output_grad: Any, rois: Any, maxidx: Any, data_grad: Any) -> None:
    """Add each bin's gradient to its largest element, in order.

    Args:
        rois: (R, 5), whose first column counts for regions with an element alone.
    """
    images, _, _, width = data_grad.shape
    for n, c, i, j in np.ndindex(maxidx.shape):
        position, image = maxidx[n, c, i, j], int(rois[n, 0])
        # Regions may have been overwritten since the maxima were found, and a loop checks no bounds.
        if position >= 0 and 0 <= image < images:
            data_grad[image, c, position // width, position % width] += output_grad[n, c, i, j]


@loop
def sample(pixels: Any, rows: Any, columns: Any, share: Any, output: Any) -> None:
    """The sum of the samples of each bin, times `share`: rows first, then columns.

    Args:
        pixels: (channels, H, W).
        rows: low, high, fraction and is_inside, as `ROIAlign.sample_by` gives them. And `columns`.
    """
    low_row, high_row, below, has_row = rows
    low_column, high_column, beyond, has_column = columns
    one = pixels.dtype.type(1)  # an integer would make double precision of single
    line = np.empty(pixels.shape[2], pixels.dtype)
    for c in range(len(pixels)):
        for i in range(len(low_row)):
            line[:] = 0
            for u in range(low_row.shape[1]):
                if has_row[i, u]:
                    low, high, y = pixels[c, low_row[i, u]], pixels[c, high_row[i, u]], below[i, u]
                    for column in range(len(line)):
                        line[column] += low[column] * (one - y) + high[column] * y
            for j in range(len(low_column)):
                total = one - one
                for v in range(low_column.shape[1]):
                    if has_column[j, v]:
                        x = beyond[j, v]
                        total += line[low_column[j, v]] * (one - x) + line[high_column[j, v]] * x
                output[c, i, j] = total * share

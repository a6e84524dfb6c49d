"""Definitions of the operators, one sample after the other, for the contract checks to compare."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from operad_sdk import Array, Shape


def value(plane: Array, y: float, x: float) -> float:
    """A plane at a point: all pixels, weighted by tents; 0 beyond it."""
    height, width = plane.shape
    tents = (np.maximum(0, 1 - abs(at - np.arange(n))) for at, n in ((y, height), (x, width)))
    return float(np.einsum("hw,h,w->", plane, *tents))


def modulated_deformable_convolution(
    data: Array,
    offset: Array,
    mask: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    kernel: Shape,
    stride: Shape,
    dilate: Shape,
    pad: Shape,
    num_filter: int,
    num_group: int,
    num_deformable_group: int,
    at: Callable[[Array, float, float], float] = value,
) -> Array:
    """One element of the output after the other, whose samples `at` gives."""
    output = np.zeros((len(data), num_filter, *offset.shape[2:]))
    channels = data.shape[1]
    for n, f, i, j in np.ndindex(output.shape):
        total = 0.0 if bias is None else bias[f]
        first = f // (num_filter // num_group) * (channels // num_group)
        for c, u, v in np.ndindex(weight.shape[1:]):
            channel = first + c
            group = channel // (channels // num_deformable_group)
            tap = (group * kernel[0] + u) * kernel[1] + v
            dy, dx = offset[n, 2 * tap : 2 * tap + 2, i, j]
            y = i * stride[0] - pad[0] + u * dilate[0] + dy
            x = j * stride[1] - pad[1] + v * dilate[1] + dx
            total += weight[f, c, u, v] * (mask[n, tap, i, j] * at(data[n, channel], y, x))
        output[n, f, i, j] = total
    return output


@wraps(modulated_deformable_convolution, assigned=())
def deformable_convolution(data: Array, offset: Array, *weights: Array, **given: Any) -> Array:
    """The same without a mask, and with other edges."""
    mask = np.ones((len(offset), offset.shape[1] // 2, *offset.shape[2:]))
    return modulated_deformable_convolution(data, offset, mask, *weights, **given, at=_to_the_edge)


def _to_the_edge(plane: Array, y: float, x: float) -> float:
    """A plane at a point; behind its last pixel that one, and before the first 0."""
    height, width = plane.shape
    if not (0 <= y < height and 0 <= x < width):
        return 0.0
    return value(plane, min(y, height - 1), min(x, width - 1))


def deformable_psroi_pooling(
    data: Array,
    rois: Array,
    trans: Array | None = None,
    *,
    spatial_scale: float,
    output_dim: int,
    group_size: int,
    pooled_size: int,
    part_size: int,
    sample_per_part: int,
    trans_std: float,
) -> Array:
    """One sample after the other."""
    parts = part_size or pooled_size
    height, width = data.shape[2:]
    output = np.zeros((len(rois), output_dim, pooled_size, pooled_size))
    for n, (image, *corners) in enumerate(rois):
        left, top, right, bottom = (np.trunc(c + np.copysign(0.5, c)) for c in corners)
        y0, x0 = top * spatial_scale - 0.5, left * spatial_scale - 0.5
        rows = max((bottom + 1) * spatial_scale - 0.5 - y0, 0.1)
        columns = max((right + 1) * spatial_scale - 0.5 - x0, 0.1)
        for c, i, j in np.ndindex(output.shape[1:]) if -1 < image < len(data) else ():
            dy = dx = 0.0
            if trans is not None:
                kind = c // (output_dim // (trans.shape[1] // 2))
                part = i * parts // pooled_size, j * parts // pooled_size
                dx, dy = trans[(n, slice(2 * kind, 2 * kind + 2), *part)] * trans_std
            group = i * group_size // pooled_size, j * group_size // pooled_size
            channel = (c * group_size + group[0]) * group_size + group[1]
            found = []
            for u, v in np.ndindex(sample_per_part, sample_per_part):
                y = y0 + dy * rows + (i + u / sample_per_part) * rows / pooled_size
                x = x0 + dx * columns + (j + v / sample_per_part) * columns / pooled_size
                if -0.5 <= y <= height - 0.5 and -0.5 <= x <= width - 0.5:
                    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
                    found.append(value(data[int(image), channel], y, x))
            output[n, c, i, j] = sum(found) / len(found) if found else 0
    return output

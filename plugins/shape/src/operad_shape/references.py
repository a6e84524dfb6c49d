"""References for the contract checks, parts by index lists and blocks by windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from operad_sdk import Array, Contract, Shape

Indices = Sequence[int | None]


def part(data: Array, begin: Indices, end: Indices, step: Indices) -> Array:
    """The elements at the indices that a slice stands for, axis after axis."""
    for axis, bounds in enumerate(zip(begin, end, step or [None] * len(begin), strict=True)):
        data = data.take(range(*slice(*bounds).indices(data.shape[axis])), axis)
    return data


def contract_of_part(reference: Callable[..., Array]) -> Contract:
    """The contract of an operator on a part."""
    params: dict[str, Sequence[Any]] = {
        "begin": [(None,), (0,), (-2,), (1, None)],
        "end": [(None,), (2,), (None, 2)],
        "step": [(), (-1,), (2, -1), (1,)],
    }
    return Contract(params=params, reference=reference)


def with_part(lhs: Array, rhs: Array, begin: Indices, end: Indices, step: Indices) -> Array:
    """A copy whose elements at the part's positions are those of `rhs`."""
    positions = part(np.arange(lhs.size).reshape(lhs.shape), begin, end, step)
    out = lhs.flatten()
    out[positions.ravel()] = np.ravel(rhs)
    return out.reshape(lhs.shape)


def with_number(data: Array, begin: Indices, end: Indices, step: Indices, scalar: float) -> Array:
    """A copy with one number at the part's positions."""
    return with_part(data, np.full(part(data, begin, end, step).shape, scalar), begin, end, step)


def leading_part(data: Array, shape_like: Array, axes: Shape) -> Array:
    """The first elements along some axes, or along all, of which both arrays have as many."""
    for axis in axes or range(max(data.ndim, shape_like.ndim)):
        data = data.take(range(shape_like.shape[axis]), axis)
    return data


def blocks_as_columns(images: Array, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape) -> Array:
    """Windows over the padded images, of which dilation leaves some elements out."""
    axes, each = len(kernel), [slice(None)] * 2
    steps = [slice(None, None, step) for step in stride or (1,) * axes]
    gaps = [slice(None, None, gap) for gap in dilate or (1,) * axes]
    extent = [gap * (size - 1) + 1 for size, gap in zip(kernel, dilate or (1,) * axes, strict=True)]
    padded = np.pad(images, [(0, 0), (0, 0), *((p, p) for p in pad or (0,) * axes)])
    windows: Any = np.lib.stride_tricks.sliding_window_view(padded, extent, (2, 3, 4)[:axes])
    windows = windows[(*each, *steps, *gaps)]
    counts, ahead = windows.shape[2 : 2 + axes], range(2 + axes, 2 + 2 * axes)
    columns = windows.transpose(0, 1, *ahead, *range(2, 2 + axes))
    return columns.reshape(len(images), images.shape[1] * prod(kernel), prod(counts))


def sum_of_blocks(
    data: Array, output_size: Shape, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape
) -> Array:
    """Each element added at the number of its pixel, which is 0 in the padding."""
    numbers = np.arange(1, prod(output_size) + 1).reshape(1, 1, *output_size)
    positions = blocks_as_columns(numbers, kernel, stride, dilate, pad).ravel()
    rows = data.reshape(-1, positions.size) if data.size else np.zeros((0, positions.size))
    sums = [np.bincount(positions, row, prod(output_size) + 1)[1:] for row in rows]
    return np.array(sums).reshape(len(data), data.shape[1] // prod(kernel), *output_size)


def pixels_from_channels(data: Array, block_size: int) -> Array:
    """Every pixel of a block in turn, from its own channels."""
    n, c, h, w = data.shape
    out = np.zeros((n, c // block_size**2, h * block_size, w * block_size))
    for position, channels in enumerate(np.split(data, block_size**2, 1)):
        row, column = divmod(position, block_size)
        out[:, :, row::block_size, column::block_size] = channels
    return out


def channels_from_pixels(data: Array, block_size: int) -> Array:
    """The pixels at each position of a block, one position after another."""
    positions = np.ndindex(block_size, block_size)
    return np.concatenate([data[:, :, i::block_size, j::block_size] for i, j in positions], 1)


def partly_like(
    lhs: Array, rhs: Array, lhs_begin: int | None, lhs_end: int | None, rhs_begin: int | None,
    rhs_end: int | None,
) -> Array:  # fmt: skip
    """The data in a shape of three parts."""
    before, after = lhs.shape[: lhs_begin or 0], () if lhs_end is None else lhs.shape[lhs_end:]
    return lhs.reshape((*before, *rhs.shape[rhs_begin:rhs_end], *after))


def without_axes(data: Array, axis: Shape | None) -> Array:
    """The only index of each axis of length 1."""
    axes = range(data.ndim) if axis is None else {one % data.ndim for one in axis}
    for one in sorted(axes, reverse=True):
        data = data.take(0, one) if data.shape[one] == 1 else data
    return np.atleast_1d(data)

"""Common parts of kernels of correlations: images' copies, offsets in them, and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from operad_convolution.direct.correlation import Correlation
from operad_sdk.vector import LANES, Kernel, TableLayout, data_address

SLACK: Final = 64
"""Elements behind the copied images that vectors may reach."""


def copied_elements(correlation: Correlation, lanes: int) -> int:
    """Elements of an image's copy.

    They are an odd number of vectors, so that several images do not share few lines of a cache.
    """
    return (-(-correlation.channels * correlation.channel_elements // lanes) | 1) * lanes


def image_words(correlation: Correlation, size: int, is_copied: bool = True) -> Sequence[int]:
    """The table's words about images and their copies, but for the address.

    Args:
        is_copied: Whether images are to be copied; else a kernel before it did so.
    """
    rows, columns = correlation.size
    copied = min(rows, correlation.reach[0] - correlation.before[0])
    return [
        correlation.channels * rows * columns * size,
        correlation.channels * is_copied,
        rows * columns * size,
        copied,
        columns * size,
        correlation.channel_elements * size,
        correlation.row_columns * size,
        correlation.before[0] * correlation.row_columns * size,
        copied_elements(correlation, LANES[size]) * size * is_copied,
        *(word for part in correlation.parts() for word in part),
    ]


def tap_offsets(correlation: Correlation, size: int) -> NDArray[np.int64]:
    """Bytes from the beginning of a copied channel to what each tap reads first."""
    return np.array([correlation.tap_offset(tap) * size for tap in correlation.taps], np.int64)


def position_offsets(correlation: Correlation, size: int) -> NDArray[np.int64]:
    """The same for each channel of a group and tap, from the beginning of a copied group."""
    channels = np.arange(correlation.channels // correlation.groups) * correlation.channel_elements * size
    return (channels[:, None] + tap_offsets(correlation, size)).reshape(-1)


# Units of the kernels of correlations are images; how many there are is said by each call.


def forward_layout(
    kernel: Kernel,
    correlation: Correlation,
    size: int,
    has_bias: bool,
    words: Sequence[int],
    scratch_place: int | None,
    is_copied: bool,
) -> TableLayout:
    """Table of a correlation's kernel, for the arrays (images, weights, bias if there is one, output).

    Args:
        words: The last words.
        scratch_place: Bytes from the beginning of scratch memory to where each image's output goes; None: the
            output is an array.
        is_copied: Whether the kernel copies images; else one before it did so.
    """
    image = image_words(correlation, size, is_copied)
    channel = correlation.out[0] * correlation.out[1] * size
    weight = 1 + len(image)
    positions = [0, weight, *([weight + 1] if has_bias else [])]
    if scratch_place is None:
        positions.append(weight + 2)
        out = 0, 0, correlation.filters * channel
    else:  # each image goes to where the one before it was
        out = scratch_place, 1, 0
    table = (0, *image, 0, 0, *out, channel, correlation.groups, *words)
    return TableLayout(kernel, 0, table, tuple(positions))


def weight_layout(kernel: Kernel, image: Sequence[int], words: Sequence[int]) -> TableLayout:
    """The same of a gradient's by the weights, for the arrays (images, output's gradient, sums)."""
    gradient = 1 + len(image)
    return TableLayout(kernel, 0, (0, *image, 0, 0, *words), (0, gradient, gradient + 1))


def sums_layout(kernel: Kernel, units: NDArray[np.int64], words: Sequence[int]) -> TableLayout:
    """The same of a kernel that adds up sums, for the arrays (sums, gradient)."""
    return TableLayout(kernel, len(units), (0, 0, data_address(units), *words), (0, 1))

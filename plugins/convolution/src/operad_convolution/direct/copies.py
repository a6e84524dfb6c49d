"""Common parts of kernels of correlations: images' copies, offsets in them, and tables."""

from __future__ import annotations

from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from operad_convolution.direct.correlation import Correlation
from operad_convolution.direct.tables import Image
from operad_sdk.vector import LANES, Kernel, TableLayout

SLACK: Final = 64
"""Elements behind the copied images that vectors may reach."""


def copied_elements(correlation: Correlation, lanes: int) -> int:
    """Elements of an image's copy.

    They are an odd number of vectors, so that several images do not share few lines of a cache.
    """
    return (-(-correlation.channels * correlation.channel_elements // lanes) | 1) * lanes


def tap_offsets(correlation: Correlation, size: int) -> NDArray[np.int64]:
    """Bytes from the beginning of a copied channel to what each tap reads first."""
    return np.array([correlation.tap_offset(tap) * size for tap in correlation.taps], np.int64)


def position_offsets(correlation: Correlation, size: int) -> NDArray[np.int64]:
    """The same for each channel of a group and tap, from the beginning of a copied group."""
    channels = np.arange(correlation.channels // correlation.groups) * correlation.channel_elements * size
    return (channels[:, None] + tap_offsets(correlation, size)).reshape(-1)


def image_layout(
    kernel: Kernel, correlation: Correlation, size: int, table: Any, arrays: list[str], is_copied: bool = True
) -> TableLayout:
    """Table of images and of a record behind them, for the images and the arrays that fields are named for.

    Args:
        is_copied: Whether images are to be copied; else a kernel before it did so.
    """
    rows, columns = correlation.size
    image = Image(
        data=0, stride=correlation.channels * rows * columns * size,
        channels=correlation.channels * is_copied, channel=rows * columns * size,
        rows=min(rows, correlation.reach[0] - correlation.before[0]), row=columns * size,
        copied_channel=correlation.channel_elements * size, copied_row=correlation.row_columns * size,
        first_row=correlation.before[0] * correlation.row_columns * size,
        zeros=copied_elements(correlation, LANES[size]) * size * is_copied,
    )  # fmt: skip
    words = [*image, *chain(*correlation.parts())]
    positions = (len(words) + table._fields.index(name) for name in arrays)
    return TableLayout(kernel, 0, (*words, *table), (Image._fields.index("data"), *positions))

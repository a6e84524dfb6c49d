"""Common parts of kernels of correlations: images' copies, offsets in them, and tables."""

from __future__ import annotations

from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from operad_convolution.direct.correlation import Correlation
from operad_convolution.direct.packing import Order
from operad_convolution.direct.tables import ForwardTable, Image
from operad_sdk.vector import LANES, BoundKernel, Kernel, TableLayout, words_address

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


# Units of the kernels of correlations are images; how many there are is said by each call.


class ForwardProgram:
    """A correlation, for images of one size and any number of them; its constructor says with which tiles.

    Attributes:
        scratch_elements: Scratch memory of each call.
        order: Order of the weights that tiles read.
    """

    def __init__(
        self,
        kernel: Kernel,
        correlation: Correlation,
        size: int,
        has_bias: bool,
        filters: int,
        tiles: NDArray[np.int64],
        order: Order,
    ) -> None:
        """Make the table of a kernel; `filters` as it counts them, and the words of all `tiles`."""
        self._kernel, self._correlation, self._size, self._has_bias = kernel, correlation, size, has_bias
        self._filters, self._tiles, self.order = filters, tiles, order
        self._taps = tap_offsets(correlation, size)
        self.scratch_elements: Final = copied_elements(correlation, LANES[size]) + SLACK
        self._layout = self.layout()

    def layout(self, scratch_place: int | None = None, is_copied: bool = True) -> TableLayout:
        """Table for the arrays (images, packed weights, bias if there is one, output).

        Args:
            scratch_place: Bytes from the beginning of scratch memory to where each image's output goes; the
                table is then without the output.
            is_copied: Whether the kernel copies images; else a kernel that copies alike did so before.
        """
        correlation, is_array = self._correlation, scratch_place is None
        channel = correlation.out[0] * correlation.out[1] * self._size
        table = ForwardTable(
            weight=0, bias=0, out=scratch_place or 0, is_in_scratch=int(not is_array),
            # In scratch memory the output of an image replaces that of the one before.
            out_image=correlation.filters * channel * is_array, out_channel=channel,
            groups=correlation.groups, filters=self._filters,
            channels=correlation.channels // correlation.groups, tiles=len(self._tiles),
            tap_offsets=words_address(self._taps), tile_offsets=words_address(self._tiles),
        )  # fmt: skip
        arrays = ["weight", *["bias"] * self._has_bias, *["out"] * is_array]
        return image_layout(self._kernel, correlation, self._size, table, arrays, is_copied)

    def bind(
        self, images: NDArray[Any], weight: NDArray[Any], bias: NDArray[Any] | None, out: NDArray[Any]
    ) -> BoundKernel:
        """The kernel, whose units are images.

        Args:
            images: (N, C, H, W), without gaps.
            weight: As `order` says.
            out: (N, filters, H', W'), without gaps.
        """
        return BoundKernel(self._layout, [images, weight, *([] if bias is None else [bias]), out])


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

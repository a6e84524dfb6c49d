"""Correlations with few pixels and many filters: tables, packed weights and calls."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from operad_convolution.direct.across_text import AcrossText, AcrossTile
from operad_convolution.direct.across_weight_text import AcrossWeightText
from operad_convolution.direct.copies import (
    SLACK,
    copied_elements,
    image_layout,
    position_offsets,
)
from operad_convolution.direct.correlation import Correlation
from operad_convolution.direct.packing import Block, Order
from operad_convolution.direct.program import ForwardProgram
from operad_convolution.direct.sums_text import AcrossSumsText
from operad_convolution.direct.tables import AcrossSumsTable, AcrossSumsUnit, AcrossWeightTable, TileOutput
from operad_convolution.direct.tiles import Seen, across_forward_tile, across_tile, offsets, products_seen
from operad_sdk.vector import LANES, BoundKernel, Kernel, TableLayout, words_address


@lru_cache(maxsize=1024)
def _forward_kernel(
    kind: str, tile: AcrossTile, taps: int, parts: int, has_bias: bool, is_copied: bool, seen: Seen | None
) -> Kernel:
    text = AcrossText(kind, tile, taps, parts, has_bias, is_copied, seen).text
    return Kernel(text, "correlation, filters in vectors")


@lru_cache(maxsize=1024)
def _weight_kernel(kind: str, tile: AcrossTile, rest: int, parts: int, seen: Seen | None) -> Kernel:
    return Kernel(
        AcrossWeightText(kind, tile, rest, parts, seen).text,
        "correlation's weight gradient, filters in vectors",
    )


@lru_cache(maxsize=64)
def _sums_kernel(kind: str, parts: int) -> Kernel:
    return Kernel(AcrossSumsText(kind, parts).text, "sums of weight gradients, filters in vectors")


@final
class AcrossForward(ForwardProgram):
    """A correlation with filters in vectors."""

    def __init__(self, correlation: Correlation, dtype: np.dtype[Any], has_bias: bool) -> None:
        size, lanes = dtype.itemsize, LANES[dtype.itemsize]
        filters, taps = correlation.filters // correlation.groups, len(correlation.taps)
        rows, columns = correlation.out
        places = [(row, column) for row in range(rows) for column in range(columns)]
        tile, seen, _ = across_forward_tile(correlation, 1, lanes)
        apart, is_copied = correlation.stride[1], not correlation.is_inside
        kernel = _forward_kernel(dtype.name, tile, taps, apart, has_bias, is_copied, seen)
        per, count = tile.numbers, len(places)
        places += [places[-1]] * (-count % per)
        down = correlation.stride[0] * correlation.row_columns
        tiles = np.array(
            [
                [*offsets(places[i : i + per], down, 1, size), *out]
                for i in range(0, count, per)
                for out in [TileOutput(first=i * size, pixels=min(per, count - i))]
            ],
            np.int64,
        )
        channels, width = correlation.channels // correlation.groups, tile.vectors * lanes
        places_of_blocks = [
            (group, first) for group in range(correlation.groups) for first in range(0, filters, width)
        ]
        blocks = [
            Block(group, first, width, number * width * channels * taps)
            for number, (group, first) in enumerate(places_of_blocks)
        ]
        order = Order(blocks, channels, taps)
        super().__init__(kernel, correlation, size, has_bias, 1, tiles, slice(0, per), order)


@final
class AcrossWeightGradient:
    """The gradient of a correlation by its weights; as `WeightGradient`."""

    def __init__(self, correlation: Correlation, dtype: np.dtype[Any], batch: int) -> None:
        self._correlation, self._dtype = correlation, dtype
        size, lanes = dtype.itemsize, LANES[dtype.itemsize]
        self._filters = correlation.filters // correlation.groups
        self._positions = correlation.channels // correlation.groups * len(correlation.taps)
        self._tile, _ = across_tile(self._filters, self._positions, 1, lanes)
        rest, seen = self._positions % self._tile.numbers, self._positions_seen()
        kernel = _weight_kernel(dtype.name, self._tile, rest, correlation.stride[1], seen)
        per = self._tile.vectors * lanes
        self._padded = -(-self._filters // per) * per
        rows, columns = correlation.out
        places = [(row, column) for row in range(rows) for column in range(columns)]
        pixels, pixel = len(places), correlation.groups * self._padded
        copied = copied_elements(correlation, lanes)
        own = copied + pixels * pixel
        together = max(1, min(batch, -(-_PIXELS // pixels), _TOGETHER_ELEMENTS // own))
        of_image = offsets(places, correlation.stride[0] * correlation.row_columns, 1, size)
        self._pixels = (np.arange(together)[:, None] * copied * size + of_image).reshape(-1)
        self._places = position_offsets(correlation, size)
        images_end = together * copied + SLACK
        # Gradients are turned some pixels at a time, also behind the last.
        self.scratch_elements: Final = images_end + (together * pixels + lanes) * pixel
        self.sum_elements: Final = correlation.groups * self._padded * self._positions
        self._units = np.array(
            [
                AcrossSumsUnit(
                    sums=self._sum_place(group, first) * size,
                    target=(group * self._filters + first) * self._positions * size,
                    filters=min(lanes, self._filters - first),
                )
                for group in range(correlation.groups)
                for first in range(0, self._filters, lanes)
            ],
            np.int64,
        )
        self._totals: dict[int, TableLayout] = {}
        table = AcrossWeightTable(
            gradient=0, sums=0, gradient_image=correlation.filters * pixels * size,
            gradient_channel=pixels * size, groups=correlation.groups, filters=self._filters,
            padded=self._padded, turned=images_end * size, turned_pixel=pixel * size,
            turned_group=self._padded * size,
            group=correlation.channels // correlation.groups * correlation.channel_elements * size,
            position_blocks=self._positions // self._tile.numbers, positions=words_address(self._places),
            pixel_offsets=words_address(self._pixels), pixels=pixels, together=together,
            sums_bytes=self.sum_elements * size,
        )  # fmt: skip
        self._layout = image_layout(kernel, correlation, size, table, ["gradient", "sums"])

    def _positions_seen(self) -> Seen | None:
        """Positions of a block that each pixel sees, where all blocks are whole channels."""
        channels, rest = divmod(self._tile.numbers, taps := len(self._correlation.taps))
        seen = None if rest or self._positions % self._tile.numbers else products_seen(self._correlation)
        return seen and tuple(
            tuple(channel * taps + tap for channel in range(channels) for tap in inside) for inside in seen
        )

    def _sum_place(self, group: int, filter_number: int) -> int:
        """Element of the sums where a filter of a group has its first position."""
        place = filter_number % (self._tile.vectors * LANES[self._dtype.itemsize])
        return (group * self._padded + filter_number - place) * self._positions + place

    def bind(self, images: NDArray[Any], output_grad: NDArray[Any], sums: NDArray[Any]) -> BoundKernel:
        """The kernel, whose units are images; it writes what those of one call give, as sums."""
        return BoundKernel(self._layout, [images, output_grad, sums])

    def total(self, sums: NDArray[Any], weight_grad: NDArray[Any]) -> BoundKernel:
        """The kernel that adds up the sums of all calls."""
        parts, size, positions = len(sums), self._dtype.itemsize, self._positions
        if parts not in self._totals:
            table = AcrossSumsTable(
                sums=0, target=0, units=words_address(self._units), part=self.sum_elements * size,
                positions=positions, position=self._tile.vectors * LANES[size] * size,
                row=positions * size,
            )  # fmt: skip
            kernel = _sums_kernel(self._dtype.name, parts)
            self._totals[parts] = TableLayout.of(kernel, len(self._units), table, ("sums", "target"))
        return BoundKernel(self._totals[parts], [sums, weight_grad])


_PIXELS: Final = 256
"""Pixels of which sums should be added up while they are in registers."""
_TOGETHER_ELEMENTS: Final = 1 << 16
"""Elements of images and gradients that are copied together: half of a second cache, with the sums beside."""

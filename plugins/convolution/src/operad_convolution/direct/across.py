"""Correlations with few pixels and many filters: tables, packed weights and calls."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from operad_convolution.direct.across_text import AcrossText, AcrossTile, AcrossWeightText
from operad_convolution.direct.copies import (
    SLACK,
    Run,
    copied_elements,
    image_words,
    output_words,
    position_offsets,
    tap_offsets,
)
from operad_convolution.direct.correlation import Correlation
from operad_convolution.direct.packing import Block, Order
from operad_convolution.direct.sums_text import AcrossSumsText
from operad_convolution.direct.tiles import across_tile, offsets
from operad_sdk.vector import LANES, data_address, loaded


@lru_cache(maxsize=1024)
def _forward_kernel(
    kind: str, tile: AcrossTile, taps: int, parts: int, has_bias: bool
) -> Callable[..., None]:
    return loaded(AcrossText(kind, tile, taps, parts, has_bias).text)


@lru_cache(maxsize=1024)
def _weight_kernel(kind: str, tile: AcrossTile, rest: int, parts: int) -> Callable[..., None]:
    return loaded(AcrossWeightText(kind, tile, rest, parts).text)


@lru_cache(maxsize=64)
def _sums_kernel(kind: str, parts: int) -> Callable[..., None]:
    return loaded(AcrossSumsText(kind, parts).text)


@final
class AcrossForward:
    """A correlation; as `Forward`."""

    def __init__(self, correlation: Correlation, dtype: np.dtype[Any], has_bias: bool) -> None:
        self._correlation, self._dtype = correlation, dtype
        size, lanes = dtype.itemsize, LANES[dtype.itemsize]
        self._filters = correlation.filters // correlation.groups
        rows, columns = correlation.out
        places = [(row, column) for row in range(rows) for column in range(columns)]
        self._tile, _ = across_tile(self._filters, len(places), 1, lanes)
        self._call = _forward_kernel(
            dtype.name, self._tile, len(correlation.taps), correlation.stride[1], has_bias
        )
        self._image = image_words(correlation, size)
        per = self._tile.numbers
        places += [places[-1]] * (-len(places) % per)
        down, right = correlation.stride[0] * correlation.row_columns, 1
        self._tiles = np.array(
            [
                [offsets(places[i : i + per], *steps, size) for steps in ((down, right), (columns, 1))]
                for i in range(0, len(places), per)
            ]
        )
        self._taps = tap_offsets(correlation, size)
        self.scratch_elements: Final = copied_elements(correlation, lanes) + SLACK
        channels, taps, width = (
            correlation.channels // correlation.groups,
            len(correlation.taps),
            self._tile.vectors * lanes,
        )
        places_of_blocks = [
            (group, first) for group in range(correlation.groups) for first in range(0, self._filters, width)
        ]
        blocks = [
            Block(group, first, width, number * width * channels * taps)
            for number, (group, first) in enumerate(places_of_blocks)
        ]
        self.order: Final = Order(blocks, channels, taps)

    def bind(
        self, images: NDArray[Any], weight: NDArray[Any], bias: NDArray[Any] | None, out: NDArray[Any] | int
    ) -> Run:
        """A call `run(first, last, scratch)` that computes some of the images."""
        correlation, size = self._correlation, self._dtype.itemsize
        pixels = correlation.out[0] * correlation.out[1]
        table = [
            data_address(images),
            *self._image,
            data_address(weight),
            0 if bias is None else data_address(bias),
            *output_words(out, correlation.filters * pixels * size),
            pixels * size,
            correlation.groups,
            self._filters,
            correlation.channels // correlation.groups,
            len(self._tiles),
            data_address(self._taps),
            data_address(self._tiles),
        ]
        return Run(self._call, table, (images, weight, bias, out, self))


@final
class AcrossWeightGradient:
    """The gradient of a correlation by its weights; as `WeightGradient`."""

    def __init__(self, correlation: Correlation, dtype: np.dtype[Any]) -> None:
        self._correlation, self._dtype = correlation, dtype
        size, lanes = dtype.itemsize, LANES[dtype.itemsize]
        self._filters = correlation.filters // correlation.groups
        self._positions = correlation.channels // correlation.groups * len(correlation.taps)
        self._tile, _ = across_tile(self._filters, self._positions, 1, lanes)
        self._call = _weight_kernel(
            dtype.name, self._tile, self._positions % self._tile.numbers, correlation.stride[1]
        )
        self._image = image_words(correlation, size)
        self._blocks = -(-self._filters // (self._tile.vectors * lanes))
        self._padded = self._blocks * self._tile.vectors * lanes
        rows, columns = correlation.out
        places = [(row, column) for row in range(rows) for column in range(columns)]
        self._pixels = offsets(places, correlation.stride[0] * correlation.row_columns, 1, size)
        self._places = position_offsets(correlation, size)
        self._images_end = copied_elements(correlation, lanes) + SLACK // lanes * lanes
        turned = -(-len(places) // lanes) * lanes * correlation.groups * self._padded
        self.scratch_elements: Final = self._images_end + turned
        self.sum_elements: Final = correlation.groups * self._padded * self._positions
        self._units = np.array(
            [
                (
                    self._sum_place(group, first) * size,
                    (group * self._filters + first) * self._positions * size,
                    min(lanes, self._filters - first),
                )
                for group in range(correlation.groups)
                for first in range(0, self._filters, lanes)
            ],
            np.int64,
        )

    def _sum_place(self, group: int, filter_number: int) -> int:
        """Element of the sums where a filter of a group has its first position."""
        place = filter_number % (self._tile.vectors * LANES[self._dtype.itemsize])
        return (group * self._padded + filter_number - place) * self._positions + place

    def bind(self, images: NDArray[Any], output_grad: NDArray[Any], sums: NDArray[Any]) -> Run:
        """A call `run(first, last, scratch)` that writes what some of the images give, as sums."""
        correlation, size, pixels = self._correlation, self._dtype.itemsize, len(self._pixels)
        channels = correlation.channels // correlation.groups
        table = [
            data_address(images),
            *self._image,
            data_address(output_grad),
            data_address(sums),
            correlation.filters * pixels * size,
            pixels * size,
            correlation.groups,
            self._filters,
            self._padded,
            self._images_end * size,
            correlation.groups * self._padded * size,
            self._padded * size,
            channels * correlation.channel_elements * size,
            self._positions // self._tile.numbers,
            data_address(self._places),
            data_address(self._pixels),
            pixels,
            self.sum_elements * size,
        ]
        return Run(self._call, table, (images, output_grad, sums, self))

    @property
    def units(self) -> int:
        """Pieces in which `total` may be computed."""
        return len(self._units)

    def total(self, sums: NDArray[Any], weight_grad: NDArray[Any]) -> Run:
        """A call `run(first, last, scratch)` that adds up some units of all parts' sums."""
        size, parts = self._dtype.itemsize, len(sums)
        table = [
            data_address(sums),
            data_address(weight_grad),
            data_address(self._units),
            self.sum_elements * size,
            self._positions,
            self._tile.vectors * LANES[size] * size,
            self._positions * size,
        ]
        return Run(_sums_kernel(self._dtype.name, parts), table, (sums, weight_grad, self))

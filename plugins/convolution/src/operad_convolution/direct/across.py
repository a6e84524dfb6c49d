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
    position_offsets,
    tap_offsets,
)
from operad_convolution.direct.correlation import Correlation
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
        vectors = -(-self._filters // self._per) * correlation.channels * len(correlation.taps)
        self.packed_elements: Final = vectors * self._per

    def packed(self, weight: NDArray[Any]) -> NDArray[Any]:
        """Weights (filters, channels of a group, taps) in the order in which tiles read them."""
        groups, filters, per = self._correlation.groups, self._filters, self._per
        _, channels, taps = weight.shape
        blocks = -(-filters // per)
        found = np.zeros((groups, blocks, channels, taps, per), self._dtype)
        grouped = weight.reshape(groups, filters, channels, taps)
        for block in range(blocks):
            own = grouped[:, block * per : (block + 1) * per]
            found[:, block, ..., : own.shape[1]] = own.transpose(0, 2, 3, 1)
        return found

    @property
    def _per(self) -> int:
        return self._tile.vectors * LANES[self._dtype.itemsize]

    def bind(
        self, images: NDArray[Any], weight: NDArray[Any], bias: NDArray[Any] | None, out: NDArray[Any]
    ) -> Run:
        """A call `run(first, last, scratch)` that computes some of the images."""
        correlation, size = self._correlation, self._dtype.itemsize
        pixels = correlation.out[0] * correlation.out[1]
        table = [
            data_address(images),
            *self._image,
            data_address(weight),
            0 if bias is None else data_address(bias),
            data_address(out),
            correlation.filters * pixels * size,
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
        self.scratch_elements: Final = copied_elements(correlation, lanes) + SLACK
        self.sum_elements: Final = correlation.groups * self._padded * self._positions

    def turned(self, output_grad: NDArray[Any]) -> NDArray[Any]:
        """The output's gradient with the filters of a pixel side by side, zeros behind the last."""
        groups, pixels = self._correlation.groups, len(self._pixels)
        found = np.zeros((len(output_grad), pixels, groups, self._padded), self._dtype)
        grouped = output_grad.reshape(-1, groups, self._filters, pixels)
        found[..., : self._filters] = grouped.transpose(0, 3, 1, 2)
        return found

    def bind(self, images: NDArray[Any], output_grad: NDArray[Any], sums: NDArray[Any]) -> Run:
        """A call `run(first, last, scratch)` that adds what some of the images give to the sums."""
        correlation, size = self._correlation, self._dtype.itemsize
        pixel = correlation.groups * self._padded * size
        channels = correlation.channels // correlation.groups
        table = [
            data_address(images),
            *self._image,
            data_address(output_grad),
            data_address(sums),
            len(self._pixels) * pixel,
            pixel,
            correlation.groups,
            self._padded,
            self._padded * size,
            channels * correlation.channel_elements * size,
            self._positions // self._tile.numbers,
            data_address(self._places),
            data_address(self._pixels),
            len(self._pixels),
        ]
        return Run(self._call, table, (images, output_grad, sums, self))

    def unpack(self, sums: NDArray[Any], weight_grad: NDArray[Any]) -> None:
        """Sums as the gradient (filters, channels of a group, taps)."""
        groups = self._correlation.groups
        found = sums.reshape(groups, self._blocks, self._positions, -1).swapaxes(2, 3)
        found = found.reshape(groups, self._padded, self._positions)[:, : self._filters]
        weight_grad.reshape(groups, self._filters, self._positions)[...] = found

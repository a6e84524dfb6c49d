"""Correlations of images by kernels in vector code: tables, packed weights and calls."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

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
from operad_convolution.direct.forward_text import ForwardText
from operad_convolution.direct.images import Tile
from operad_convolution.direct.packing import Block, Order
from operad_convolution.direct.sums_text import SumsText
from operad_convolution.direct.tiles import forward_tile, heads_of, offsets, rows_seen, weight_tile
from operad_convolution.direct.weight_text import WeightText
from operad_sdk.vector import LANES, data_address, loaded


@lru_cache(maxsize=1024)
def _forward_kernel(
    kind: str, tile: Tile, rest: int, taps: int, tap_rows: int, parts: int, has_bias: bool
) -> Callable[..., None]:
    return loaded(ForwardText(kind, tile, rest, taps, tap_rows, parts, has_bias).text)


@lru_cache(maxsize=1024)
def _weight_kernel(
    kind: str, tile: Tile, rest: tuple[int, int], parts: int, tail: int, copies_gradient: bool
) -> Callable[..., None]:
    return loaded(WeightText(kind, tile, rest, parts, tail, copies_gradient).text)


@lru_cache(maxsize=256)
def _sums_kernel(kind: str, parts: int, positions: int, rest: int) -> Callable[..., None]:
    return loaded(SumsText(kind, parts, positions, rest).text)


@final
class Forward:
    """A correlation, for images of one size and any number of them.

    Attributes:
        scratch_elements: Scratch memory of each call.
        order: Order of the weights that tiles read.
    """

    def __init__(self, correlation: Correlation, dtype: np.dtype[Any], has_bias: bool) -> None:
        self._correlation, self._dtype = correlation, dtype
        size, lanes = dtype.itemsize, LANES[dtype.itemsize]
        self._tile, tiles, _ = forward_tile(correlation, lanes)
        self._filters = correlation.filters // correlation.groups
        self._rest = self._filters % self._tile.filters
        taps, seen = correlation.taps, [rows_seen(correlation, each) for each in tiles]
        rows = len({tap.row for tap in taps})
        share = sum(end - first for first, end in seen) / (rows * len(tiles))
        self._tap_rows = rows if share < _ROWS_PAY else 0
        self._call = _forward_kernel(
            dtype.name, self._tile, self._rest, len(taps), self._tap_rows, correlation.stride[1], has_bias
        )
        self._image = image_words(correlation, size)
        stride = correlation.stride[0] * correlation.row_columns
        self._tiles = np.array([
            [
                *(ends if self._tap_rows else ()),
                *offsets(each, stride, 1, size),
                *offsets(each, correlation.out[1], 1, size),
            ]
            for ends, each in zip(seen, tiles, strict=True)
        ])  # fmt: skip
        self._taps = tap_offsets(correlation, size)
        self.scratch_elements: Final = copied_elements(correlation, lanes) + SLACK
        channels, per = correlation.channels // correlation.groups, self._tile.filters
        blocks = [
            Block(
                group,
                first,
                min(per, self._filters - first),
                (group * self._filters + first) * channels * len(taps),
            )
            for group in range(correlation.groups)
            for first in range(0, self._filters, per)
        ]
        self.order: Final = Order(blocks, channels, len(taps), self._tap_rows or 1)

    def bind(
        self, images: NDArray[Any], weight: NDArray[Any], bias: NDArray[Any] | None, out: NDArray[Any] | int
    ) -> Run:
        """A call `run(first, last, scratch)` that computes some of the images.

        Args:
            images: (N, C, H, W), without gaps.
            weight: As `order` says.
            out: (N, filters, H', W'), without gaps; or where one image's goes, in bytes from the beginning of
                scratch memory.
        """
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
            self._filters // self._tile.filters,
            correlation.channels // correlation.groups,
            len(self._tiles),
            data_address(self._taps),
            data_address(self._tiles),
        ]
        return Run(self._call, table, (images, weight, bias, out, self))


@final
class WeightGradient:
    """The gradient of a correlation by its weights.

    Attributes:
        scratch_elements: Scratch memory of each call.
        sum_elements: Elements of the sums of each call.
    """

    def __init__(self, correlation: Correlation, dtype: np.dtype[Any], batch: int) -> None:
        self._correlation, self._dtype = correlation, dtype
        size, lanes = dtype.itemsize, LANES[dtype.itemsize]
        heads = heads_of(correlation.out, lanes)
        self._filters = correlation.filters // correlation.groups
        self._positions = correlation.channels // correlation.groups * len(correlation.taps)
        self._tile, _ = weight_tile(self._filters, self._positions, heads, lanes)
        self._rest = self._filters % self._tile.filters, self._positions % self._tile.vectors
        self._image = image_words(correlation, size)
        stride = correlation.stride[0] * correlation.row_columns
        self._whole = self._vectors(heads.whole, heads.runs, stride, size)
        self._fewer = self._vectors(heads.fewer, 1, stride, size)
        copied = copied_elements(correlation, lanes)
        vectors = max(1, len(self._whole) + len(self._fewer))
        self._together = max(1, min(batch, _VECTORS // vectors, _TOGETHER_ELEMENTS // copied))
        self._images_end = self._together * copied + SLACK
        copies = self._together > 1
        gradient = correlation.filters * correlation.out[0] * correlation.out[1]
        self.scratch_elements: Final = self._images_end + copies * (self._together * gradient + SLACK)
        self._call = _weight_kernel(
            dtype.name, self._tile, self._rest, correlation.stride[1], heads.tail, copies
        )
        self._places = position_offsets(correlation, size)
        channels = correlation.channels // correlation.groups
        self._group_bytes = channels * correlation.channel_elements * size
        units, begin, row = [], 0, 0
        for filters in [
            filters
            for _ in range(correlation.groups)
            for filters, count in _pieces(self._filters, self._tile.filters)
            for _ in range(count)
        ]:
            whole, rest = (self._block(filters, each) for each in (self._tile.vectors, self._rest[1]))
            units.append((begin * size, row * self._positions * size, filters, whole * size))
            begin += self._positions // self._tile.vectors * whole + rest
            row += filters
        self.sum_elements: Final = begin
        self._units = np.array(units, np.int64)

    def _vectors(self, places: list[tuple[int, int]], runs: int, stride: int, size: int) -> NDArray[np.int64]:
        """For each vector where its runs begin in a copied image, and the first in the gradient."""
        copied = offsets(places, stride, 1, size).reshape(-1, runs)
        given = offsets(places, self._correlation.out[1], 1, size).reshape(-1, runs)
        return np.ascontiguousarray(np.hstack([copied, given[:, :1]]))

    def bind(self, images: NDArray[Any], output_grad: NDArray[Any], sums: NDArray[Any]) -> Run:
        """A call `run(first, last, scratch)` that writes what some of the images give, as sums."""
        correlation, size = self._correlation, self._dtype.itemsize
        pixels = correlation.out[0] * correlation.out[1]
        table = [
            data_address(images),
            *self._image,
            data_address(output_grad),
            data_address(sums),
            correlation.filters * pixels * size,
            pixels * size,
            self._images_end * size,
            correlation.filters,
            pixels,
            self._together,
            correlation.groups,
            self._filters // self._tile.filters,
            self._positions // self._tile.vectors,
            self._group_bytes,
            data_address(self._places),
            len(self._whole),
            data_address(self._whole),
            len(self._fewer),
            data_address(self._fewer),
            self.sum_elements * size,
        ]
        return Run(self._call, table, (images, output_grad, sums, self))

    @property
    def units(self) -> int:
        """Pieces in which `total` may be computed."""
        return len(self._units)

    def total(self, sums: NDArray[Any], weight_grad: NDArray[Any]) -> Run:
        """A call `run(first, last, scratch)` that adds up some units of all parts' sums.

        Args:
            sums: (parts, `sum_elements`).
            weight_grad: (filters, channels of a group, taps), without gaps.
        """
        size = self._dtype.itemsize
        table = [
            data_address(sums),
            data_address(weight_grad),
            data_address(self._units),
            self.sum_elements * size,
            self._positions * size,
            self._positions // self._tile.vectors,
        ]
        kernel = _sums_kernel(self._dtype.name, len(sums), self._tile.vectors, self._rest[1])
        return Run(kernel, table, (sums, weight_grad, self))

    def _block(self, filters: int, positions: int) -> int:
        """Elements of the sums of a block."""
        lanes = LANES[self._dtype.itemsize]
        return -(-filters * positions // lanes) * lanes


def _pieces(length: int, per: int) -> list[tuple[int, int]]:
    """Lengths of pieces, and their numbers: whole ones, and one that is left over."""
    found = [(per, length // per), (length % per, 1)]
    return [(size, count) for size, count in found if size and count]


_ROWS_PAY: Final = 0.9
"""Share of the rows of taps, over all tiles, up to which passing over the others pays."""
_VECTORS: Final = 64
"""Vectors that a block of sums should go through, so that adding up their lanes is a small part."""
_TOGETHER_ELEMENTS: Final = 1 << 18

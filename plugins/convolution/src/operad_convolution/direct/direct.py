"""Correlations of images by kernels in vector code: tables, packed weights and calls."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from operad_convolution.direct.copies import (
    SLACK,
    copied_elements,
    image_layout,
    position_offsets,
)
from operad_convolution.direct.correlation import Correlation
from operad_convolution.direct.forward_text import ForwardText
from operad_convolution.direct.images import Tile
from operad_convolution.direct.packing import Block, Order
from operad_convolution.direct.program import ForwardProgram
from operad_convolution.direct.sums_text import SumsText
from operad_convolution.direct.tables import SumsTable, SumsUnit, TapRows, WeightTable
from operad_convolution.direct.tiles import (
    forward_tile,
    heads_of,
    is_by_rows,
    offsets,
    rows_seen,
    weight_tile,
)
from operad_convolution.direct.weight_text import WeightText
from operad_sdk.vector import LANES, BoundKernel, Kernel, TableLayout, words_address


@lru_cache(maxsize=1024)
def _forward_kernel(
    kind: str, tile: Tile, rest: int, taps: int, tap_rows: int, parts: int, has_bias: bool, is_copied: bool
) -> Kernel:
    text = ForwardText(kind, tile, rest, taps, tap_rows, parts, has_bias, is_copied).text
    return Kernel(text, "correlation, pixels in vectors")


@lru_cache(maxsize=1024)
def _weight_kernel(
    kind: str, tile: Tile, rest: tuple[int, int], parts: int, tail: int, copies_gradient: bool
) -> Kernel:
    return Kernel(
        WeightText(kind, tile, rest, parts, tail, copies_gradient).text,
        "correlation's weight gradient, pixels in vectors",
    )


@lru_cache(maxsize=256)
def _sums_kernel(kind: str, parts: int, positions: int, rest: int) -> Kernel:
    return Kernel(SumsText(kind, parts, positions, rest).text, "sums of weight gradients")


@final
class Forward(ForwardProgram):
    """A correlation with pixels in vectors."""

    def __init__(self, correlation: Correlation, dtype: np.dtype[Any], has_bias: bool) -> None:
        size, filters = dtype.itemsize, correlation.filters // correlation.groups
        tile, tiles, _ = forward_tile(correlation, LANES[size])
        taps, seen = correlation.taps, [rows_seen(correlation, each) for each in tiles]
        rows = len({tap.row for tap in taps})
        share = sum(ends.end - ends.first for ends in seen) / (rows * len(tiles))
        self._tap_rows = rows if share < _ROWS_PAY or is_by_rows(tile, len(taps)) else 0
        rest, apart, is_copied = filters % tile.filters, correlation.stride[1], not correlation.is_inside
        kernel = _forward_kernel(
            dtype.name, tile, rest, len(taps), self._tap_rows, apart, has_bias, is_copied
        )
        stride = correlation.stride[0] * correlation.row_columns
        words = np.array([
            [
                *(ends if self._tap_rows else ()),
                *offsets(each, stride, 1, size),
                *offsets(each, correlation.out[1], 1, size),
            ]
            for ends, each in zip(seen, tiles, strict=True)
        ])  # fmt: skip
        channels, per = correlation.channels // correlation.groups, tile.filters
        blocks = [
            Block(group, first, min(per, filters - first), (group * filters + first) * channels * len(taps))
            for group in range(correlation.groups)
            for first in range(0, filters, per)
        ]
        order = Order(blocks, channels, len(taps), self._tap_rows or 1)
        before = len(TapRows._fields) if self._tap_rows else 0
        reads = slice(before, before + tile.vectors * tile.runs)
        super().__init__(kernel, correlation, size, has_bias, per, words, reads, order)


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
        kernel = _weight_kernel(dtype.name, self._tile, self._rest, correlation.stride[1], heads.tail, copies)
        self._places = position_offsets(correlation, size)
        channels = correlation.channels // correlation.groups
        units, begin, row = [], 0, 0
        for filters in [
            filters
            for _ in range(correlation.groups)
            for filters, count in _pieces(self._filters, self._tile.filters)
            for _ in range(count)
        ]:
            whole, rest = (self._block(filters, each) for each in (self._tile.vectors, self._rest[1]))
            target = row * self._positions * size
            units.append(SumsUnit(sums=begin * size, target=target, filters=filters, block=whole * size))
            begin += self._positions // self._tile.vectors * whole + rest
            row += filters
        self.sum_elements: Final = begin
        self._units = np.array(units, np.int64)
        self._totals: dict[int, TableLayout] = {}
        pixels = correlation.out[0] * correlation.out[1]
        table = WeightTable(
            gradient=0, sums=0, gradient_image=correlation.filters * pixels * size,
            gradient_channel=pixels * size, copied_gradient=self._images_end * size,
            filters=correlation.filters, pixels=pixels, together=self._together,
            groups=correlation.groups, filter_blocks=self._filters // self._tile.filters,
            position_blocks=self._positions // self._tile.vectors,
            group=channels * correlation.channel_elements * size, positions=words_address(self._places),
            vectors=len(self._whole), vector_offsets=words_address(self._whole), fewer=len(self._fewer),
            fewer_offsets=words_address(self._fewer), sums_bytes=self.sum_elements * size,
        )  # fmt: skip
        self._layout = image_layout(kernel, correlation, size, table, ["gradient", "sums"])

    def _vectors(self, places: list[tuple[int, int]], runs: int, stride: int, size: int) -> NDArray[np.int64]:
        """For each vector where its runs begin in a copied image, and the first in the gradient."""
        copied = offsets(places, stride, 1, size).reshape(-1, runs)
        given = offsets(places, self._correlation.out[1], 1, size).reshape(-1, runs)
        return np.ascontiguousarray(np.hstack([copied, given[:, :1]]))

    def bind(self, images: NDArray[Any], output_grad: NDArray[Any], sums: NDArray[Any]) -> BoundKernel:
        """The kernel, whose units are images; it writes what those of one call give, as sums.

        Args:
            images: (N, C, H, W), without gaps.
            output_grad: (N, filters, H', W'), without gaps.
            sums: `sum_elements` numbers.
        """
        return BoundKernel(self._layout, [images, output_grad, sums])

    def total(self, sums: NDArray[Any], weight_grad: NDArray[Any]) -> BoundKernel:
        """The kernel that adds up the sums of all calls.

        Args:
            sums: (calls, `sum_elements`).
            weight_grad: (filters, channels of a group, taps), without gaps.
        """
        parts, size = len(sums), self._dtype.itemsize
        if parts not in self._totals:
            table = SumsTable(
                sums=0, target=0, units=words_address(self._units), part=self.sum_elements * size,
                row=self._positions * size, blocks=self._positions // self._tile.vectors,
            )  # fmt: skip
            kernel = _sums_kernel(self._dtype.name, parts, self._tile.vectors, self._rest[1])
            self._totals[parts] = TableLayout.of(kernel, len(self._units), table, ("sums", "target"))
        return BoundKernel(self._totals[parts], [sums, weight_grad])

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
"""Elements of images that are copied together: 1 MiB in single precision."""

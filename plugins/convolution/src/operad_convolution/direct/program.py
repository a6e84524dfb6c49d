"""Correlations of images of one size: the table of a kernel, whole or for a piece of an image.

Where a batch has fewer images than there are threads, each image is divided. A piece has some of the tiles or
some of the filters: it is the same kernel with another table, so a number of the output is summed by the same
tile, in the same order, whatever the pieces are. That is why their number may follow that of the threads.
Refused: a kernel of its own for each piece, whose tiles and packed weights would be others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from operad_convolution.direct.copies import SLACK, copied_elements, image_layout, tap_offsets
from operad_convolution.direct.correlation import Correlation
from operad_convolution.direct.packing import Order
from operad_convolution.direct.tables import ForwardTable, Image
from operad_sdk.vector import LANES, BoundKernel, Kernel, TableLayout, data_address, words_address

_PIECE_PRODUCTS: Final = 1 << 21
"""Products that a piece should have: some 20 microseconds, as long as a thread takes to wake."""
_READ: Final = 32
"""Cost, in products, of bringing an element of an image or of the weights to a core."""


class Piece(NamedTuple):
    """A part of the work for one image.

    Attributes:
        layout: Table for the arrays of the whole, in which images are not apart.
        offsets: Bytes from where each of them begins to what the table calls its beginning.
        tiles: The memory that the table points to.
    """

    layout: TableLayout
    offsets: list[int]
    tiles: NDArray[np.int64]


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
        together: int,
        tiles: NDArray[np.int64],
        reads: slice,
        order: Order,
    ) -> None:
        """Make the table of a kernel.

        Args:
            together: Filters that the kernel counts as one.
            tiles: The words of all tiles, a row for each; `reads` are the offsets in the copied image.
        """
        self._kernel, self._correlation, self._size, self._has_bias = kernel, correlation, size, has_bias
        self._together, self._tiles, self._reads, self.order = together, tiles, reads, order
        self._taps = tap_offsets(correlation, size)
        copied = 0 if correlation.is_inside else copied_elements(correlation, LANES[size])
        self.scratch_elements: Final = copied + SLACK
        self._layout = self.layout()
        self._pieces: dict[int, list[Piece]] = {}

    def layout(self, scratch_place: int | None = None, is_copied: bool = True) -> TableLayout:
        """Table for the arrays (images, packed weights, bias if there is one, output).

        Args:
            scratch_place: Bytes from the beginning of scratch memory to where each image's output goes; the
                table is then without the output.
            is_copied: Whether the kernel copies images; else a kernel that copies alike did so before.
        """
        correlation, is_array = self._correlation, scratch_place is None
        channel, filters = self._channel_bytes, correlation.filters // correlation.groups
        table = ForwardTable(
            weight=0, bias=0, out=scratch_place or 0, is_in_scratch=int(not is_array),
            # In scratch memory the output of an image replaces that of the one before.
            out_image=correlation.filters * channel * is_array, out_channel=channel,
            groups=correlation.groups, filters=filters // self._together,
            rests=int(filters % self._together > 0), channels=correlation.channels // correlation.groups,
            tiles=len(self._tiles), tap_offsets=words_address(self._taps),
            tile_offsets=words_address(self._tiles),
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

    def bind_pieces(
        self,
        count: int,
        images: NDArray[Any],
        weight: NDArray[Any],
        bias: NDArray[Any] | None,
        out: NDArray[Any],
    ) -> list[BoundKernel]:
        """Kernels of up to `count` pieces of each image; each has one unit, whatever its number."""
        biases, found = [] if bias is None else [bias], list[BoundKernel]()
        for image, target in zip(images, out, strict=True):
            arrays = [image, weight, *biases, target]
            begins = [data_address(array) for array in arrays]
            for piece in self._cut(count):
                addresses = [begin + offset for begin, offset in zip(begins, piece.offsets, strict=True)]
                found.append(BoundKernel(piece.layout, arrays, addresses))
        return found

    @property
    def _channel_bytes(self) -> int:
        """Bytes of a channel of the output."""
        return self._correlation.out[0] * self._correlation.out[1] * self._size

    def _cut(self, count: int) -> list[Piece]:
        """Pieces that are worth a thread each: of tiles, or of filters where these read less twice."""
        if count not in self._pieces:
            correlation, tiles = self._correlation, range(len(self._tiles))
            blocks, groups = range(len(self.order.blocks)), correlation.groups
            reads = len(correlation.taps) * correlation.channels // groups
            products = correlation.out[0] * correlation.out[1] * correlation.filters * reads
            most = min(count, max(1, products // _PIECE_PRODUCTS))
            lines = _parts(blocks, most, len(blocks) // groups if groups > 1 else 1)
            strips = _parts(tiles, most, 1)
            image = correlation.channels * correlation.channel_elements // (1 if groups == 1 else len(lines))

            def cost(parts: Sequence[range], whole: range, read: int) -> float:
                return max(map(len, parts)) / len(whole) * products + _READ * read

            if cost(strips, tiles, self.order.elements) <= cost(lines, blocks, image):
                cuts = [(part, blocks) for part in strips]
            else:
                cuts = [(tiles, part) for part in lines]
            self._pieces[count] = [self._piece(*cut) for cut in cuts]
        return self._pieces[count]

    def _piece(self, tiles: range, blocks: range) -> Piece:
        """The piece of such tiles and blocks of filters; with several groups, of whole groups."""
        correlation, size, words = self._correlation, self._size, self._tiles[tiles.start : tiles.stop]
        first, last = self.order.blocks[blocks[0]], self.order.blocks[blocks[-1]]
        groups = last.group - first.group + 1
        filters, channels = (n // correlation.groups for n in (correlation.filters, correlation.channels))
        own = filters if groups > 1 else min(filters, last.first + last.width) - first.first
        number, fields = first.group * filters + first.first, len(Image._fields)
        image, end = Image(*self._layout.table[:fields]), -len(ForwardTable._fields)
        data = first.group * channels * image.channel
        if correlation.is_inside:
            image = image._replace(stride=0)
        else:
            # Rows are copied that the tiles see; they begin where the copy of the first one's windows does.
            down, before = correlation.stride[0], correlation.before[0]
            row = down * correlation.row_columns * size
            low, high = (int(found) // row for found in _ends(words[:, self._reads]))
            words = words.copy()
            words[:, self._reads] -= low * row
            reach = correlation.reach[0] - (correlation.out[0] - 1 - high + low) * down
            begin = max(0, low * down - before)
            copied = reach * correlation.row_columns
            data += begin * image.row
            image = image._replace(
                stride=0, channels=groups * channels, copied_channel=copied * size,
                rows=max(0, min(correlation.size[0], low * down + reach - before) - begin),
                first_row=(begin + before - low * down) * correlation.row_columns * size,
                zeros=-(-groups * channels * copied // LANES[size]) * LANES[size] * size,
            )  # fmt: skip
        table = ForwardTable(*self._layout.table[end:])._replace(
            out_image=0, groups=groups, filters=own // self._together, rests=int(own % self._together > 0),
            tiles=len(words), tile_offsets=words_address(words),
        )  # fmt: skip
        layout = replace(self._layout, table=(*image, *self._layout.table[fields:end], *table))
        biases = [number * size] * self._has_bias
        return Piece(layout, [data, first.begin * size, *biases, number * self._channel_bytes], words)


def _parts(whole: range, count: int, per: int) -> list[range]:
    """Up to so many parts of about the same length, in multiples of `per`."""
    pieces = len(whole) // per
    count = min(count, pieces)
    return [range(pieces * i // count * per, pieces * (i + 1) // count * per) for i in range(count)]


def _ends(words: NDArray[np.int64]) -> tuple[int, int]:
    return words.min(), words.max()

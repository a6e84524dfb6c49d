"""Weights brought to where tiles read them: the order of packed weights, and the table of the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from operad_convolution.direct.packing_text import PackingText
from operad_convolution.direct.tables import Cell, Chunk, PackingTable
from operad_sdk.vector import LANES, BoundKernel, Kernel, TableLayout, words_address


class Block(NamedTuple):
    """Filters of a group whose weights lie side by side.

    Attributes:
        width: Numbers that lie side by side; those behind the filters are zeros.
        begin: Where the block begins, in elements.
    """

    group: int
    first: int
    width: int
    begin: int


class Order(NamedTuple):
    """Order of packed weights: by blocks, in each by rows of taps, then channels, then taps of the row.

    Attributes:
        channels: Of a group.
        taps: Elements of a filter in one channel; `tap_rows` are their rows, as far as these lie apart.
    """

    blocks: list[Block]
    channels: int
    taps: int
    tap_rows: int = 1

    @property
    def elements(self) -> int:
        """Elements of all blocks."""
        return sum(block.width for block in self.blocks) * self.channels * self.taps

    def place(self, block: Block, tap: int) -> int:
        """Element where the first filter of a block has a tap in the first channel."""
        row, column = divmod(tap, self.taps // self.tap_rows)
        return block.begin + (row * self.channels * self.taps // self.tap_rows + column) * block.width

    def step(self, block: Block) -> int:
        """Elements from a channel to the next."""
        return self.taps // self.tap_rows * block.width


class Weights(NamedTuple):
    """Weights as their kernel reads them: for each channel a matrix, with a row for each filter.

    Attributes:
        rows: Filters of a group.
        columns: Elements of a filter in one channel.
        matrices: Channels of a group.
        group: Elements from a group to the next; `row` and `matrix` likewise.
    """

    groups: int
    rows: int
    columns: int
    matrices: int
    group: int
    row: int
    matrix: int


@lru_cache(maxsize=256)
def _kernel(kind: str, rows: int, columns: int) -> Kernel:
    return Kernel(PackingText(kind, rows, columns).text, "packing of weights")


@final
class Packing:
    """Copies of weights in one order or more, one behind the other.

    Attributes:
        elements: Elements of all copies.
    """

    def __init__(
        self, weights: Weights, dtype: np.dtype[Any], copies: Sequence[tuple[Order, Sequence[int]]]
    ) -> None:
        """Work out where everything goes; a copy is its order, and the column of each of its taps."""
        self._dtype, self._weights = dtype, weights
        self.elements: Final = sum(order.elements for order, _ in copies)
        begins = np.cumsum([0, *(order.elements for order, _ in copies)]).tolist()
        placed = [(begin, *copy) for begin, copy in zip(begins, copies, strict=False)]
        chunks = [chunk for group in range(weights.groups) for chunk in self._chunks(group, placed)]
        self._chunk_words = np.array([[*chunk, *chain(*cells)] for chunk, cells in chunks], np.int64)
        kernel = _kernel(dtype.name, max((chunk.rows for chunk, _ in chunks), default=0), weights.columns)
        table = PackingTable(
            weight=0, row=weights.row * dtype.itemsize, matrix=weights.matrix * dtype.itemsize, target=0,
            chunks=words_address(self._chunk_words), count=len(chunks),
        )  # fmt: skip
        self._layout = TableLayout.of(kernel, weights.matrices, table, ("weight", "target"))

    def _chunks(
        self, group: int, copies: Sequence[tuple[int, Order, Sequence[int]]]
    ) -> list[tuple[Chunk, list[Cell]]]:
        """The rows of a group that lie side by side in all copies, and their columns."""
        size, weights, lanes = self._dtype.itemsize, self._weights, LANES[self._dtype.itemsize]
        own = [
            (begin, order, columns, [block for block in order.blocks if block.group == group])
            for begin, order, columns in copies
        ]
        blocks = [block for *_, found in own for block in found]
        ends = {end for first, width in ((b.first, b.width) for b in blocks)
                for end in (*range(first, first + width, lanes), first + width)}  # fmt: skip
        chunks = []
        for first, end in pairwise(sorted(ends)):
            begin = group * weights.group + min(first, weights.rows - 1) * weights.row
            cells = [Cell(0, 0, 0)] * weights.columns
            for before, order, columns, found in own:
                for block in found:
                    if block.first <= first < block.first + block.width:
                        at, matrix = before + first - block.first, order.step(block) * size
                        for tap, column in enumerate(columns):
                            place = (at + order.place(block, tap)) * size
                            cells[column] = Cell(target=place, matrix=matrix, written=end - first)
            rows = max(0, min(end, weights.rows) - first)
            chunks.append((Chunk(weight=begin * size, rows=rows), cells))
        return chunks

    def bind(self, weight: NDArray[Any], out: NDArray[Any]) -> BoundKernel:
        """The kernel that fills `out` with the copies of weights; both are without gaps."""
        return BoundKernel(self._layout, [weight, out])

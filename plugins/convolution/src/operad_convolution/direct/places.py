"""The gradient by images whose windows are several elements apart: a correlation for each place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from operad_convolution.direct.copies import SLACK
from operad_convolution.direct.correlation import Correlation, Pair
from operad_convolution.direct.places_text import PlacesPattern, PlacesText
from operad_convolution.direct.program import ForwardProgram
from operad_convolution.direct.tables import Place, PlacesCall, PlacesRow, PlacesTable
from operad_sdk.vector import LANES, BoundKernel, Kernel, TableLayout, data_address


@lru_cache(maxsize=256)
def _kernel(pattern: PlacesPattern) -> Kernel:
    return Kernel(PlacesText(pattern).text, "gradients of places")


@final
class Places:
    """The gradient of all places, whose correlations are computed image by image.

    Attributes:
        scratch_elements: Scratch memory of each call.
    """

    def __init__(
        self,
        given: Correlation,
        programs: Mapping[Pair, tuple[Correlation, ForwardProgram] | None],
        dtype: np.dtype[Any],
        has_bias: bool,
    ) -> None:
        """Work out where everything goes; `programs` computes the part of each place, None: it is zero."""
        found = {place: each for place, each in programs.items() if each is not None}
        lanes, size = LANES[dtype.itemsize], dtype.itemsize
        (rows, columns), (high, wide) = given.size, given.stride
        at = _rounded(max((program.scratch_elements for _, program in found.values()), default=0), lanes)
        fills = len(found) < len(programs)
        fill = at * size, _rounded(-(-columns // wide), lanes) * size
        if fills:
            at += given.channels * fill[1] // size
        filled, layouts = Place(begin=fill[0], channel=fill[1], row=0), list[TableLayout]()
        sources = dict.fromkeys(programs, filled)
        for place, (correlation, program) in found.items():
            row = correlation.out[1] * size
            sources[place] = Place(begin=at * size, channel=correlation.out[0] * row, row=row)
            layouts.append(program.layout(at * size, not layouts))  # the first one's copy serves all
            at += _rounded(given.channels * correlation.out[0] * correlation.out[1] + SLACK, lanes)
        self.scratch_elements: Final = at
        counts = [-(-(rows - first) // high) for first in range(min(high, rows))]
        records = [
            word
            for first, count in enumerate(counts)
            for record in (
                PlacesRow(out=first * columns * size, rows=count),
                *(sources.get((first, column), Place(0, 0, 0)) for column in range(wide)),
            )
            for word in record
        ]
        pattern = PlacesPattern(
            dtype.name, wide, 0 if fills else _runs(columns, wide, counts, lanes), fills, has_bias
        )
        self._programs = [program for _, program in found.values()]  # the table has addresses of theirs
        self._layout = _layout(given, size, pattern, layouts, records, len(counts), fill)

    def bind(
        self, output_grad: NDArray[Any], turned: NDArray[Any], bias: NDArray[Any] | None, out: NDArray[Any]
    ) -> BoundKernel:
        """The kernel, whose units are images.

        Args:
            output_grad: (N, filters, H', W'), without gaps.
            turned: The weights of the places' correlations, one behind the other.
            out: (N, channels, H, W), without gaps.
        """
        arrays = [output_grad, turned, out, *([] if bias is None else [bias])]
        given, packed, written, *biases = map(data_address, arrays)
        addresses = [*biases, written]
        for program in self._programs:
            addresses += [given, packed, *biases]
            packed += program.order.elements * turned.itemsize
        return BoundKernel(self._layout, arrays, addresses)


def _layout(
    given: Correlation,
    size: int,
    pattern: PlacesPattern,
    layouts: Sequence[TableLayout],
    records: Sequence[int],
    count: int,
    fill: tuple[int, int],
) -> TableLayout:
    """Table for the arrays (bias if there is one, output, those of the layouts, one after another)."""
    row = given.size[1] * size
    calls_at = len(PlacesTable._fields)
    records_at = calls_at + len(PlacesCall._fields) * len(layouts)
    end, calls, tables, positions = records_at + len(records), list[PlacesCall](), list[int](), list[int]()
    for layout in layouts:
        begin = end + len(tables)
        calls.append(PlacesCall(kernel=layout.kernel.address, table=8 * begin))
        tables += layout.table
        positions += [begin + position for position in layout.positions]
    table = PlacesTable(
        calls=8 * calls_at, call_count=len(layouts), rows=8 * records_at, row_count=count,
        channels=given.channels, out=0, out_image=given.channels * given.size[0] * row,
        out_channel=given.size[0] * row, out_row=given.stride[0] * row, columns=given.size[1], bias=0,
        fill=fill[0], fill_channel=fill[1],
    )  # fmt: skip
    own = map(table._fields.index, ["bias", "out"] if pattern.has_bias else ["out"])
    return TableLayout(_kernel(pattern), 0, (*table, *chain(*calls), *records, *tables), (*own, *positions))


def _rounded(elements: int, lanes: int) -> int:
    return -(-elements // lanes) * lanes


def _runs(columns: int, apart: int, rows: Sequence[int], lanes: int) -> int:
    """Number of rows of a place that make a whole vector; 0 where they do not."""
    own = columns // apart
    if apart > 2 or columns % apart or not own or columns > lanes or lanes % own:
        return 0
    runs = lanes // own
    return 0 if any(each % runs for each in rows) else runs

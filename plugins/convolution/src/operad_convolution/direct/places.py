"""The gradient by images whose windows are several elements apart: a correlation for each place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from operad_convolution.direct.across import AcrossForward
from operad_convolution.direct.copies import SLACK
from operad_convolution.direct.correlation import Correlation, Pair
from operad_convolution.direct.direct import Forward
from operad_convolution.direct.places_text import PLACES_WORDS, PlacesPattern, PlacesText
from operad_sdk.vector import LANES, BoundKernel, Kernel, TableLayout, data_address


@lru_cache(maxsize=256)
def _kernel(pattern: PlacesPattern) -> Kernel:
    return Kernel(PlacesText(pattern).text)


@final
class Places:
    """The gradient of all places, whose correlations are computed image by image.

    Attributes:
        scratch_elements: Scratch memory of each call.
    """

    def __init__(
        self,
        given: Correlation,
        programs: Mapping[Pair, tuple[Correlation, Forward | AcrossForward] | None],
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
        sources, layouts = dict.fromkeys(programs, (*fill, 0)), list[TableLayout]()
        for place, (correlation, program) in found.items():
            row = correlation.out[1] * size
            sources[place] = at * size, correlation.out[0] * row, row
            layouts.append(program.layout(at * size, not layouts))  # the first one's copy serves all
            at += _rounded(given.channels * correlation.out[0] * correlation.out[1] + SLACK, lanes)
        self.scratch_elements: Final = at
        counts = [-(-(rows - first) // high) for first in range(min(high, rows))]
        records = [
            word
            for first, count in enumerate(counts)
            for word in (
                first * columns * size,
                count,
                *(word for column in range(wide) for word in sources.get((first, column), (0, 0, 0))),
            )
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
    calls_at = PLACES_WORDS
    records_at = calls_at + 2 * len(layouts)
    end, calls, tables, positions = records_at + len(records), list[int](), list[int](), list[int]()
    for layout in layouts:
        begin = end + len(tables)
        calls += [layout.kernel.address, 8 * begin]
        tables += layout.table
        positions += [begin + position for position in layout.positions]
    words = [8 * calls_at, len(layouts), 8 * records_at, count, given.channels]
    words += [0, given.channels * given.size[0] * row, given.size[0] * row, given.stride[0] * row]
    words += [given.size[1], 0, *fill]
    own = [10, 5] if pattern.has_bias else [5]
    return TableLayout(_kernel(pattern), 0, (*words, *calls, *records, *tables), (*own, *positions))


def _rounded(elements: int, lanes: int) -> int:
    return -(-elements // lanes) * lanes


def _runs(columns: int, apart: int, rows: Sequence[int], lanes: int) -> int:
    """Number of rows of a place that make a whole vector; 0 where they do not."""
    own = columns // apart
    if apart > 2 or columns % apart or not own or columns > lanes or lanes % own:
        return 0
    runs = lanes // own
    return 0 if any(each % runs for each in rows) else runs

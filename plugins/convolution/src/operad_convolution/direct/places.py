"""The gradient by images whose windows are several elements apart: one correlation for each place of a stride."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from operad_convolution.direct.across import AcrossForward
from operad_convolution.direct.copies import SLACK, Run
from operad_convolution.direct.correlation import Correlation, Pair
from operad_convolution.direct.direct import Forward
from operad_convolution.direct.places_text import PlacesPattern, PlacesText
from operad_sdk.vector import LANES, data_address, loaded


@lru_cache(maxsize=256)
def _kernel(pattern: PlacesPattern) -> Callable[..., None]:
    return loaded(PlacesText(pattern).text)


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
        """Work out where everything goes; `programs` says how each place's part is computed, None: it is zero."""
        self._given, self._dtype = given, dtype
        found = {place: each for place, each in programs.items() if each is not None}
        lanes, size = LANES[dtype.itemsize], dtype.itemsize
        (high, wide), columns = given.stride, given.size[1]
        at = _rounded(max((program.scratch_elements for _, program in found.values()), default=0), lanes)
        fills = len(found) < len(programs)
        self._fill = at * size, _rounded(-(-columns // wide), lanes) * size
        if fills:
            at += given.channels * self._fill[1] // size
        words = {place: (self._fill[0], self._fill[1], 0) for place in programs}
        self._places = []
        for place, (correlation, program) in found.items():
            rows, across = correlation.out
            words[place] = (at * size, rows * across * size, across * size)
            self._places.append((program, at * size))
            at += _rounded(given.channels * rows * across + SLACK, lanes)
        self.scratch_elements: Final = at
        records = [
            [row * columns * size, -(-(given.size[0] - row) // high)]
            + [word for column in range(wide) for word in words.get((row, column), (0, 0, 0))]
            for row in range(min(high, given.size[0]))
        ]
        self._records = np.array(records, np.int64)
        runs = 0 if fills else _runs(columns, wide, [rows for _, rows, *_ in records], lanes)
        self._call = _kernel(PlacesPattern(dtype.name, wide, runs, fills, has_bias))

    def bind(
        self, output_grad: NDArray[Any], turned: NDArray[Any], bias: NDArray[Any] | None, out: NDArray[Any]
    ) -> Run:
        """A call `run(first, last, scratch)` that computes some of the images.

        Args:
            output_grad: (N, filters, H', W'), without gaps.
            turned: The weights of the places' correlations, one behind the other.
            out: (N, channels, H, W), without gaps.
        """
        given, size, first, runs = self._given, self._dtype.itemsize, 0, []
        for program, at in self._places:
            end = first + program.order.elements
            runs.append(program.bind(output_grad, turned[first:end], bias, at))
            first = end
        calls = np.array([(run.address, run.table) for run in runs], np.int64)
        row = given.size[1] * size
        table = [
            data_address(calls),
            len(calls),
            data_address(self._records),
            len(self._records),
            given.channels,
            data_address(out),
            given.channels * given.size[0] * row,
            given.size[0] * row,
            given.stride[0] * row,
            given.size[1],
            0 if bias is None else data_address(bias),
            *self._fill,
        ]
        return Run(self._call, table, (calls, runs, bias, out, self))


def _rounded(elements: int, lanes: int) -> int:
    return -(-elements // lanes) * lanes


def _runs(columns: int, apart: int, rows: Sequence[int], lanes: int) -> int:
    """How many rows of a place make a whole vector; 0 where they do not."""
    own = columns // apart
    if apart > 2 or columns % apart or not own or columns > lanes or lanes % own:
        return 0
    runs = lanes // own
    return 0 if any(each % runs for each in rows) else runs

"""Tiles that a correlation is computed in, and the positions of their pixels."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, prod
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from operad_convolution.direct.across_text import AcrossTile
from operad_convolution.direct.correlation import Correlation
from operad_convolution.direct.images import Tile
from operad_convolution.direct.tables import TapRows
from operad_sdk.vector import host

_SUMS: Final = {32: (8, 20), 8: (4, 6)}
"""By how many vectors registers hold: sums that keep the units for products busy, and the most of a tile.

With more, LLVM keeps some in memory: on AVX2 tiles of 16 sums take more than twice the time of those of 6.
"""
_WORTH: Final = {1: 1.0, 2: 0.99, 4: 0.8}
"""Share of the speed that is left where a vector is loaded in so many pieces, if nothing hides that."""
_LOADS: Final = {1: 1.0, 2: 1.6, 4: 2.4}
"""Cost of a vector that is loaded in so many pieces, in products of vectors."""
_HIDDEN: Final = {1: 0.125, 2: 0.25, 4: 2.4}
"""The same where 32 registers hold a tile, and products hide its loads; four pieces need shuffles."""
_NUMBER: Final = 0.05
"""Cost of a number that several vectors share there."""
_BASES: Final = 6
"""Addresses of pixels that stay in registers."""
_ADDRESS: Final = 0.3
"""Cost of loading the address of a number that one vector is multiplied by, in products of vectors."""
_WRITTEN_OUT: Final = 11
"""Taps in the body of a loop up to which LLVM keeps tiles of several vectors in 32 registers."""
PIXELS_ALONE: Final = 16
"""Pixels of an output up to which a kernel has each pixel's products written out."""
SEEN_PAYS: Final = 0.9
"""Share of products inside the image up to which leaving out the others pays."""
Seen = tuple[tuple[int, ...], ...]
_MOVING: Final = 20
"""Cost, in products, of bringing a number to where the filters of a pixel lie side by side, or back."""


class Pixels(NamedTuple):
    """Way in which the pixels of an output are put into vectors.

    Attributes:
        runs: Pieces of a vector; `used` pixels of each count.
        places: Row and column where each piece begins.
    """

    runs: int
    used: int
    places: list[tuple[int, int]]


def pixels_of(out: tuple[int, int], lanes: int) -> tuple[Pixels, float]:
    """Pieces that cover an output with few pixels twice, or beside it; and what is left of the speed."""
    rows, columns = out
    best: tuple[float, Pixels] | None = None
    for runs, worth in _WORTH.items():
        width = lanes // runs
        if width < 1:
            continue
        # The last piece of a row covers some pixels of the one before it once more.
        begins = [*range(0, columns - width + 1, width)]
        if columns % width:
            begins.append(max(0, columns - width))
        score = worth * columns / (len(begins) * width)
        if best is None or score > best[0]:
            places = [(row, begin) for row in range(rows) for begin in begins]
            best = score, Pixels(runs, min(width, columns), places)
    assert best is not None
    return best[1], best[0]


def forward_tile(correlation: Correlation, lanes: int) -> tuple[Tile, list[list[tuple[int, int]]], float]:
    """The tile, the pieces of each, and the share of the processor's speed that this should reach."""
    pixels, share = pixels_of(correlation.out, lanes)
    filters = correlation.filters // correlation.groups
    vectors = -(-len(pixels.places) // pixels.runs)
    columns_of_taps = len({tap.column for tap in correlation.taps})
    most = 20, 1 if _is_wide() and columns_of_taps > _WRITTEN_OUT else 6
    (rows, columns), worth = _best(filters, vectors, most, lambda i, j: _by_numbers(j, i, pixels.runs))
    tile = Tile(rows, columns, pixels.runs, pixels.used)
    per = tile.vectors * tile.runs
    places = pixels.places + [pixels.places[-1]] * (-len(pixels.places) % per)
    return tile, [places[i : i + per] for i in range(0, len(places), per)], share * worth


def is_by_rows(tile: Tile, taps: int) -> bool:
    """Return whether so many taps are too many for the body of one loop, and are written out row by row."""
    return _is_wide() and tile.vectors > 1 and taps > _WRITTEN_OUT


def _is_wide() -> bool:
    return host().vectors_held == max(_SUMS)


def rows_seen(correlation: Correlation, places: list[tuple[int, int]]) -> TapRows:
    """First row of taps that falls inside the image for some of these pixels, and the one behind the last."""
    rows = list(dict.fromkeys(tap.row for tap in correlation.taps))
    begins = {row * correlation.stride[0] for row, _ in places}
    inside = [
        number
        for number, tap_row in enumerate(rows)
        if any(0 <= begin + tap_row < correlation.size[0] for begin in begins)
    ]
    return TapRows(first=inside[0], end=inside[-1] + 1) if inside else TapRows(first=0, end=0)


def taps_seen(correlation: Correlation, places: list[tuple[int, int]]) -> Seen:
    """For each pixel the numbers of the taps that fall inside the image; the others multiply with zeros."""
    (high, wide), (rows, columns) = correlation.stride, correlation.size
    return tuple(
        tuple(
            number
            for number, tap in enumerate(correlation.taps)
            if 0 <= row * high + tap.row < rows and 0 <= column * wide + tap.column < columns
        )
        for row, column in places
    )


def products_seen(correlation: Correlation) -> Seen | None:
    """The same for all pixels, where they are so few, and see so much less, that a kernel of its own pays."""
    rows, columns = correlation.out
    if rows * columns > PIXELS_ALONE:
        return None
    seen = taps_seen(correlation, [(row, column) for row in range(rows) for column in range(columns)])
    return seen if share_seen(seen, correlation) < SEEN_PAYS else None


def share_seen(seen: Seen | None, correlation: Correlation) -> float:
    """Products that are left of all, where those that are not seen are left out."""
    return 1.0 if seen is None else sum(map(len, seen)) / (len(seen) * len(correlation.taps))


def _by_numbers(vectors: int, numbers: int, runs: int) -> float:
    """Cost of the loads of a tile of vectors that are multiplied by numbers, which all lanes share.

    One vector leaves a number to the product's own instruction, so each product loads one. Several load it
    once; where registers are few, LLVM loads it long before.
    """
    if vectors > 1 and _is_wide():
        return _HIDDEN[runs] * vectors + _NUMBER * numbers
    return _LOADS[runs] * vectors + 0.1 * numbers + 0.08 * (vectors - 1) * vectors * numbers


def _by_vectors(rows: int, columns: int) -> float:
    """The same where both factors are vectors."""
    return 0.7 * (rows + columns)


def _best(
    rows: int, columns: int, most: tuple[int, int], load_cost: Callable[[int, int], float], least: int = 1
) -> tuple[tuple[int, int], float]:
    """Rows and columns of sums that a tile should have, and the share of the speed that it should reach.

    Args:
        rows: Of all sums; `columns` likewise. What does not fill a tile is computed in vain, or by a
            smaller one.
        most: Rows and columns of a tile.
        load_cost: Cost of loading the factors of so many rows and columns, in products of vectors.
        least: Columns of a tile, at least.
    """
    enough, limit = _SUMS[host().vectors_held]

    def worth(tile: tuple[int, int]) -> float:
        sums = tile[0] * tile[1]
        useful = rows * columns / (-(-rows // tile[0]) * -(-columns // tile[1]) * sums)
        return useful * min(1.0, sums / enough) * sums / (sums + load_cost(*tile))

    heights, widths = range(1, min(rows, most[0]) + 1), range(least, min(columns, most[1]) + 1)
    choices = [(i, j) for i in heights for j in widths if i * j <= limit]
    best = max(choices, key=worth)
    return best, worth(best)


class Heads(NamedTuple):
    """Ways in which pixels of an output are put into vectors, each once.

    Attributes:
        runs: Pieces of a whole vector.
        whole: Where the pieces of whole vectors begin, all of an image.
        tail: Pixels of the vectors that hold fewer; `fewer` is where these begin.
    """

    runs: int
    whole: list[tuple[int, int]]
    tail: int
    fewer: list[tuple[int, int]]


def heads_of(out: tuple[int, int], lanes: int) -> Heads:
    """Pieces that cover each pixel of an output once."""
    rows, columns = out
    for runs in _WORTH:
        width = lanes // runs
        if width >= 1 and columns % width == 0 and rows * (columns // width) % runs == 0:
            return Heads(runs, [(r, c) for r in range(rows) for c in range(0, columns, width)], 0, [])
    tail = columns % lanes
    last = columns - tail
    whole = [(r, c) for r in range(rows) for c in range(0, last, lanes)]
    return Heads(1, whole, tail, [(r, last) for r in range(rows)])


def weight_tile(filters: int, positions: int, heads: Heads, lanes: int) -> tuple[Tile, float]:
    """Filters and positions of weights that are summed at once, and the share of the speed."""
    (rows, columns), worth = _best(filters, positions, (8, 9), _by_vectors)
    pixels = len(heads.whole) * lanes // heads.runs + len(heads.fewer) * heads.tail
    vectors = len(heads.whole) // heads.runs + len(heads.fewer)
    share = (0.5 if heads.runs == 4 else _WORTH[heads.runs]) * pixels / (vectors * lanes)
    return Tile(rows, columns, heads.runs, lanes // heads.runs), share * worth


def across_tile(
    filters: int, numbers: int, products: float, lanes: int, taps: int = 1, least: int = 1
) -> tuple[AcrossTile, float]:
    """Vectors of filters and pixels, or positions, that are summed at once, and the share of the speed.

    Args:
        products: How many products are added up while a number of the output's, or of its gradient, is moved.
        taps: In the body of the loop.
        least: Numbers of a tile.
    """
    vectors = -(-filters // lanes)

    def load_cost(rows: int, columns: int) -> float:
        return _by_numbers(rows, columns, 1) + _ADDRESS * columns * (rows == 1 and columns > _BASES)

    most = 1 if _is_wide() and taps > _WRITTEN_OUT else 3, 16
    tile, worth = _best(vectors, numbers, most, load_cost, least)
    return AcrossTile(*tile), worth * filters / (vectors * lanes) * products / (products + _MOVING)


def across_forward_tile(
    correlation: Correlation, products: float, lanes: int
) -> tuple[AcrossTile, Seen | None, float]:
    """The tile, what each pixel sees where the rest is left out, and the share of the speed."""
    filters, taps = correlation.filters // correlation.groups, len(correlation.taps)
    pixels, seen = prod(correlation.out), products_seen(correlation)
    tile, worth = across_tile(filters, pixels, products, lanes, taps)
    if seen is None or pixels > _SUMS[host().vectors_held][1]:
        return tile, None, worth
    # One tile has all pixels.
    alone, own = across_tile(filters, pixels, products, lanes, taps, pixels)
    share = share_seen(seen, correlation)
    own = own / share if share else inf  # no pixel sees anything: there is only the bias to write
    return (alone, seen, own) if own >= worth else (tile, None, worth)


def offsets(places: list[tuple[int, int]], row: int, column: int, size: int) -> NDArray[np.int64]:
    """Bytes from the beginning of an image to each place; rows and columns are so many elements apart."""
    return np.array([(r * row + c * column) * size for r, c in places], np.int64)

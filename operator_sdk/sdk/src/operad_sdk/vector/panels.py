"""Panels: rows whose elements lie far apart, of which a block of columns is reduced at a time.

Along a leading axis neighbouring rows lie in one line of memory, and columns in one page each. A kernel that
computes some rows to their end reads little of each page, and the next rows read all pages again: of
(4096, 1024) that takes twice as long. So the rows of a panel are reduced together: each block of columns
for all of them, before the next block. Meanwhile their wide totals are in scratch memory.

The order of additions is that of rows which are computed one by one, so bits do not depend on panels, nor on
how rows are divided among threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, final

from operad_sdk.vector.columns import Body, ColumnWalk
from operad_sdk.vector.writer import BITS, Values

_SIZE_BYTES: Final = 1 << 14
"""Totals of a panel: they stay in the nearest cache, and a call may have them on its stack."""


@final
class Panel:
    """A panel of groups of rows, which one walk reduces.

    Args:
        reduced: Positions of the reductions.
        walk: Loops over some columns of a group.
        body: Of these loops.
    """

    def __init__(self, reduced: Sequence[int], walk: ColumnWalk, body: Body) -> None:
        self._reduced, self._walk, self._body = reduced, walk, body
        self._every = list(reduced) * walk.sides
        self._kinds = [walk.reductions.wide_kind(i) for i in self._every]
        sizes = [walk.code.lanes * BITS[kind] // 8 for kind in self._kinds]
        self._offsets = [sum(sizes[:i]) for i in range(len(sizes))]
        self._group_bytes = sum(sizes)
        self._groups = max(1, _SIZE_BYTES // self._group_bytes)

    def scratch_bytes(self, columns: int) -> int:
        """Scratch memory that a call needs, for rows of so many columns."""
        return self._groups * self._group_bytes if columns > self._walk.block else 0

    def compute(self, columns: str, enter: Callable[[str], None], finish: Callable[[Values], None]) -> None:
        """Write the loops over panels, blocks of columns, and groups of rows.

        Args:
            enter: Writes the beginning of a group of rows.
            finish: Writes what follows from its totals, one for each reduction of each vector of rows.
        """
        code, block = self._walk.code, self._walk.block

        def panel(first: str, _: Values) -> Values:
            last = code.smallest(code.add(first, self._groups), "%last")

            def some(begin: str, _: Values) -> Values:
                end = code.smallest(code.add(begin, block), columns)
                follows = code.value(f"icmp sgt i64 {begin}, 0")
                goes_on = code.value(f"icmp slt i64 {end}, {columns}")

                def group(number: str, _: Values) -> Values:
                    enter(number)
                    before = code.multiply(code.value(f"sub i64 {number}, {first}"), self._group_bytes)
                    totals = self._totals(code.address("%scratch", before), follows, goes_on, begin, end)
                    is_done = code.value(f"xor i1 {goes_on}, true")
                    code.when(is_done, [], lambda: self._finish(finish, totals))
                    return []

                return code.loop(first, last, 1, [], group)

            return code.loop("0", columns, block, [], some)

        code.loop("%first", "%last", self._groups, [], panel)

    def _totals(self, place: str, follows: str, goes_on: str, begin: str, end: str) -> Values:
        """Wide totals of the columns up to `end`, of which those before `begin` are in memory."""
        code, reductions = self._walk.code, self._walk.reductions
        places = [code.address(place, str(offset)) for offset in self._offsets]
        pairs = list(zip(self._kinds, places, strict=True))
        neutral = [one for _, one in reductions.neutral(self._every)]
        found = self._walk(begin, end, self._reduced, self._body, neutral)

        def load() -> Values:
            return [code.load_vector(kind, at) for kind, at in pairs]

        def store() -> Values:
            for (kind, at), total in zip(pairs, totals, strict=True):
                code.store_vector(kind, total, at)
            return []

        totals = code.when(follows, reductions.wide_neutral(self._every), load)
        totals = reductions.added(self._every, totals, found)
        code.when(goes_on, [], store)
        return totals

    def _finish(self, finish: Callable[[Values], None], totals: Values) -> Values:
        finish([self._walk.reductions.finished(*one) for one in zip(self._every, totals, strict=True)])
        return []

"""Walks over the columns of a row: groups of vectors, then single ones, and blocks of columns for totals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, final

from operad_sdk.sums import ADDED_IN_A_ROW
from operad_sdk.vector.accesses import Chunk
from operad_sdk.vector.reductions import Reductions
from operad_sdk.vector.writer import Values, Writer

ADDED_TO_A_LANE: Final = ADDED_IN_A_ROW // 4
"""Numbers that a lane adds one after another, for each of four vectors at most. Their sums are added in
double precision, so the error of a sum does not grow with its length."""

_UNROLLED: Final = ((6, 8), (400, 4))
"""Vectors that are computed side by side, by how many instructions there are: they hide each other's
latency."""
_SUMMED: Final = 4
"""The same where there are totals, at most: more of them cost short rows what they give long ones."""
_REGISTERS: Final = 32
"""Vectors that registers hold: of forms with more live values each vector is computed alone, as several would
have to be stored and loaded more often."""

Body = Callable[[Chunk, Values], Values]


def vectors_of_group(instructions: int, *, has_totals: bool, live: int, rows: int) -> int:
    """Vectors that are computed side by side.

    Args:
        instructions: Of the walk.
        has_totals: Whether it reduces something.
        live: Values that are live at one time.
        rows: Vectors of rows; 0: lanes are columns.
    """
    found = next((vectors for limit, vectors in _UNROLLED if instructions < limit), 1)
    if has_totals:
        found = min(found, _SUMMED)
    elif live > _REGISTERS:
        found = 1
    return max(1, min(found, 4) // rows) if rows else found


@final
@dataclass(frozen=True)
class ColumnWalk:
    """Loops of one walk.

    Attributes:
        code: Where they are written.
        reductions: Those of the form.
        lanes: Columns of a vector; 1 where lanes are rows.
        sides: Vectors of rows that are walked over together.
        unrolled: Vectors of a group.
        runs: How many runs of columns a row has, or "".
    """

    code: Writer
    reductions: Reductions
    lanes: int
    sides: int
    unrolled: int
    runs: str

    @property
    def block(self) -> int:
        """Columns of a block, in which a lane adds as many numbers as it may."""
        return ADDED_TO_A_LANE * self.unrolled * self.lanes

    def blocks(self, columns: str) -> tuple[str, str]:
        """Condition that a row has several blocks, and how many runs one has after its first.

        Runs of a block are a power of two.
        """
        code, step = self.code, self.unrolled * self.lanes
        if not self.runs:
            return code.value(f"icmp sgt i64 {columns}, {self.block}"), ""
        # Additions to a lane in one run: groups, single vectors, and the totals of a group's other vectors.
        groups = code.value(f"udiv i64 {columns}, {step}")
        single = code.value(f"urem i64 {code.add(columns, self.lanes - 1)}, {step}")
        single = code.value(f"udiv i64 {single}, {self.lanes}")
        additions = code.add(code.value(f"add i64 {groups}, {single}"), self.unrolled)
        count = code.value(f"udiv i64 {ADDED_TO_A_LANE}, {additions}")
        zeros = code.call("i64", "llvm.ctlz.i64", ("i64", code.value(f"or i64 {count}, 1")), ("i1", "false"))
        last = code.add(code.value(f"lshr i64 {-(1 << 63)}, {zeros}"), -1)
        return code.value(f"icmp sgt i64 {self.runs}, {last}"), last

    def __call__(
        self, begin: str, end: str, reduced: Sequence[int], body: Body, totals: Sequence[str] = ()
    ) -> Values:
        """Write the walk; lanes behind the end of a row are masked.

        Args:
            totals: A vector for each reduction, and each vector of rows, that elements are added to.
        """
        code, sides, side_by_side, lanes = self.code, self.sides, self.unrolled, self.lanes
        every = list(reduced) * sides
        length = code.value(f"sub i64 {end}, {begin}")
        rest = code.value(f"srem i64 {length}, {lanes * side_by_side}")
        whole = code.value(f"sub i64 {end}, {rest}")
        neutral = self.reductions.neutral(every)
        before = [(kind, one) for (kind, _), one in zip(neutral, totals, strict=True)]

        def groups() -> Values:
            found = code.loop(
                begin,
                whole,
                lanes * side_by_side,
                [*before, *neutral * (side_by_side - 1)],
                lambda column, totals: body(Chunk(column, side_by_side * sides, None), totals),
            )
            parts = [found[i : i + len(every)] for i in range(0, len(found), len(every) or 1)]
            while len(parts) > 1:
                half = len(parts) // 2
                parts = [self.reductions.combined(every, parts[i], parts[i + half]) for i in range(half)]
            return parts[0] if parts else []

        if lanes == 1 and side_by_side == 1:
            return groups()
        # To put totals together takes longer than a short row, which has no groups.
        found = code.when(code.value(f"icmp slt i64 {begin}, {whole}"), before, groups)

        def single(column: str, totals: Values, mask: str | None = None) -> Values:
            return body(Chunk(column, sides, mask), totals)

        def masked(column: str, totals: Values) -> Values:
            return single(column, totals, code.mask(column, end, "int32"))

        def of_kinds(totals: Values) -> list[tuple[str, str]]:
            return [(kind, one) for (kind, _), one in zip(neutral, totals, strict=True)]

        if lanes == 1:
            return code.loop(whole, end, lanes, of_kinds(found), single)
        if not self.runs:
            return code.loop(whole, end, lanes, of_kinds(found), masked)
        # Runs are short, and each of them has the same few vectors: only the last one needs a mask.
        last = code.value(f"sub i64 {end}, {code.value(f'and i64 {rest}, {lanes - 1}')}")
        found = code.loop(whole, last, lanes, of_kinds(found), single)
        has_part = code.value(f"icmp slt i64 {last}, {end}")
        return code.when(has_part, of_kinds(found), lambda: masked(last, found))

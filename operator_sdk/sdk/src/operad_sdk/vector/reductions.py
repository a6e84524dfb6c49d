"""Totals of rows: a lane adds up every so-many-th element of a row, or all elements of one of some rows.

A sum of float32 is *wide*, in double precision, beyond so many additions, and is rounded once. Where lanes
are columns, the halves of a vector are added before, so that its wide total is one register.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import final

import numpy as np

from operad.operator import Instruction
from operad_sdk.vector.primitives import NoVectorCodeError, apply, cast
from operad_sdk.vector.writer import FLOATS, Values, Writer


@final
class Reductions:
    """The reductions of a form; methods take their positions among the instructions.

    Args:
        over_lanes: Whether the lanes of a vector are one total in the end.
    """

    def __init__(self, code: Writer, steps: Sequence[Instruction], *, over_lanes: bool) -> None:
        self.code, self._steps, self._over_lanes = code, steps, over_lanes

    def neutral(self, reduced: Sequence[int]) -> list[tuple[str, str]]:
        """Types of the reductions' vectors, and the vectors that change no total."""
        return [self._neutral(i, self._steps[i].kind) for i in reduced]

    def wide_neutral(self, reduced: Sequence[int]) -> list[tuple[str, str]]:
        """The same for wide totals."""
        found = []
        for position in reduced:
            with self._wide_lanes(position):
                found.append(self._neutral(position, self.wide_kind(position)))
        return found

    def _neutral(self, position: int, kind: str) -> tuple[str, str]:
        return self.code.vector(kind), self.code.constant(kind, self._neutral_number(position, kind))

    def _neutral_number(self, position: int, kind: str) -> float:
        """Number that changes no total: -0.0 where a sum is of one term, with -0.0 in the place of others."""
        step, steps = self._steps[position], self._steps
        term = steps[step.args[0]]
        other = steps[term.args[2]] if step.op == "sum" and term.op == "select" else term
        is_pick = other.op == "constant" and kind in FLOATS and str(other.value) == "-0.0"
        return -0.0 if is_pick else _neutral(step.op, kind)

    def wide_kind(self, position: int) -> str:
        """Kind of a wide total."""
        step = self._steps[position]
        return "float64" if step.op == "sum" and step.kind == "float32" else step.kind

    def _wide_lanes(self, position: int) -> AbstractContextManager[None]:
        """Lanes of a wide total."""
        is_halved = self._over_lanes and self.wide_kind(position) != self._steps[position].kind
        return self.code.of_lanes(self.code.lanes // 2 if is_halved else self.code.lanes)

    def combined(self, reduced: Sequence[int], some: Values, others: Values) -> Values:
        """Totals of pairs of totals, one per reduction."""
        triples = zip(reduced, some, others, strict=True)
        return [self._combine(i, self._steps[i].kind, one, other) for i, one, other in triples]

    def widened(self, reduced: Sequence[int], found: Values) -> Values:
        """Totals as wide ones."""
        return [self._widened(i, one) for i, one in zip(reduced, found, strict=True)]

    def _widened(self, position: int, total: str) -> str:
        kind, lanes = self._steps[position].kind, self.code.lanes
        with self._wide_lanes(position):
            if self.code.lanes < lanes:
                total = self._halved(position, kind, total, lanes)
            return cast(self.code, total, kind, self.wide_kind(position))

    def added(self, reduced: Sequence[int], totals: Values, found: Values) -> Values:
        """Wide totals with totals."""
        sums = []
        for position, total, one in zip(reduced, totals, self.widened(reduced, found), strict=True):
            with self._wide_lanes(position):
                sums.append(self._combine(position, self.wide_kind(position), total, one))
        return sums

    def _halved(self, position: int, kind: str, total: str, lanes: int) -> str:
        """The halves of a vector of so many lanes, combined."""
        halves = [range(lanes // 2), range(lanes // 2, lanes)]
        low, high = (self.code.shuffled(kind, total, "poison", half, lanes) for half in halves)
        return self._combine(position, kind, low, high)

    def finished(self, position: int, total: str) -> str:
        """A wide total, or that of all its lanes in each, as the reduction gives it.

        Halves are combined, which are as narrow as they can be.
        """
        code, wide, kind = self.code, self.wide_kind(position), self._steps[position].kind
        if not self._over_lanes:
            return cast(code, total, wide, kind)
        with self._wide_lanes(position):
            lanes = code.lanes
        while lanes > 1:
            with code.of_lanes(lanes // 2):
                total = self._halved(position, wide, total, lanes)
            lanes //= 2
        with code.of_lanes(1):
            total = cast(code, total, wide, kind)
        return code.in_all_lanes(kind, total)

    def _combine(self, position: int, kind: str, one: str, other: str) -> str:
        code, op = self.code, self._steps[position].op
        if op == "sum":
            return apply(code, "add", kind, [one, other])
        is_better = apply(code, "greater" if op == "max" else "less", kind, [one, other])
        if kind in FLOATS:  # NaN stays
            is_better = apply(
                code, "logical_or", "bool", [is_better, apply(code, "not_equal", kind, [one, one])]
            )
        return apply(code, "select", kind, [is_better, one, other])

    def only(self, mask: str, position: int, term: str) -> str:
        """A term, in the lanes that count."""
        kind = self._steps[position].kind
        neutral = self.code.constant(kind, self._neutral_number(position, kind))
        return apply(self.code, "select", kind, [mask, term, neutral])


@final
class WideTotals:
    """Wide totals of the blocks of a row, in memory; those of a row of one block are not written.

    A walk over a block fills the registers, so what is carried from block to block is spilled around it, and
    takes rows of one block as long as others.

    Args:
        reduced: Positions of the reductions.
        is_long: Whether a row has several blocks.
    """

    def __init__(self, reductions: Reductions, reduced: Sequence[int], is_long: str) -> None:
        self._reductions, self._reduced, self._is_long = reductions, reduced, is_long
        self._code = reductions.code
        self._neutral = reductions.wide_neutral(reduced)
        self._places = [self._code.on_stack(kind) for kind, _ in self._neutral]
        self._code.when(is_long, [], lambda: self._write([value for _, value in self._neutral]))

    def take(self, found: Values) -> Values:
        """Add the totals of a block, and give those of none."""
        self._write(self._reductions.added(self._reduced, self._read(), found))
        return [value for _, value in self._reductions.neutral(self._reduced)]

    def finished(self, found: Values) -> Values:
        """The totals of the row, to which these belong too."""
        wide = self._reductions.widened(self._reduced, found)
        otherwise = [(kind, one) for (kind, _), one in zip(self._neutral, wide, strict=True)]
        added = self._reductions.added
        totals = self._code.when(self._is_long, otherwise, lambda: added(self._reduced, self._read(), found))
        pairs = zip(self._reduced, totals, strict=True)
        return [self._reductions.finished(position, total) for position, total in pairs]

    def _read(self) -> Values:
        return [
            self._code.value(f"load {kind}, ptr {place}")
            for (kind, _), place in zip(self._neutral, self._places, strict=True)
        ]

    def _write(self, totals: Values) -> Values:
        for (kind, _), total, place in zip(self._neutral, totals, self._places, strict=True):
            self._code.line(f"store {kind} {total}, ptr {place}")
        return []


def _neutral(op: str, kind: str) -> float:
    if kind == "float16":
        raise NoVectorCodeError("it reduces float16 beside numbers of other floating types")
    if op == "sum":
        return 0.0  # of zeros below zero the sum is 0.0, as NumPy's
    if kind in FLOATS:
        return -np.inf if op == "max" else np.inf
    if kind == "bool":
        return op == "min"
    limits = np.iinfo(kind)
    return limits.min if op == "max" else limits.max

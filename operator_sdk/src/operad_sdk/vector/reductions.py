"""Totals of rows: a lane adds up every so-many-th element of a row, or all elements of one of some rows.

A sum of float32 is *wide*, in double precision, beyond so many additions, and is rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from operad.operator import Instruction
from operad_sdk.vector.primitives import apply, cast
from operad_sdk.vector.writer import FLOATS, Values, Writer


@final
class Reductions:
    """The reductions of a form; methods take their positions among the instructions."""

    def __init__(self, code: Writer, steps: Sequence[Instruction]) -> None:
        self._code, self._steps = code, steps

    def neutral(self, reduced: Sequence[int]) -> list[tuple[str, str]]:
        """Types of the reductions' vectors, and the vectors that change no total."""
        return [self._neutral(i, self._steps[i].kind) for i in reduced]

    def wide_neutral(self, reduced: Sequence[int]) -> list[tuple[str, str]]:
        """The same for wide totals."""
        return [self._neutral(i, self._wide(i)) for i in reduced]

    def _neutral(self, position: int, kind: str) -> tuple[str, str]:
        number = _neutral(self._steps[position].op, kind)
        return self._code.vector(kind), self._code.constant(kind, number)

    def _wide(self, position: int) -> str:
        """Kind of a wide total."""
        step = self._steps[position]
        return "float64" if step.op == "sum" and step.kind == "float32" else step.kind

    def combined(self, reduced: Sequence[int], some: Values, others: Values) -> Values:
        """Totals of pairs of totals, one per reduction."""
        triples = zip(reduced, some, others, strict=True)
        return [self._combine(i, self._steps[i].kind, one, other) for i, one, other in triples]

    def added(self, reduced: Sequence[int], totals: Values, found: Values) -> Values:
        """Wide totals with totals."""
        code, made = self._code, []
        for i, total, one in zip(reduced, totals, found, strict=True):
            wide = self._wide(i)
            made.append(self._combine(i, wide, total, cast(code, one, self._steps[i].kind, wide)))
        return made

    def finished(self, position: int, total: str, *, over_lanes: bool) -> str:
        """A wide total, or that of all its lanes in each, as the reduction gives it.

        Halves are combined, which are as narrow as they can be.
        """
        code, wide, kind = self._code, self._wide(position), self._steps[position].kind
        if not over_lanes:
            return cast(code, total, wide, kind)
        lanes = code.lanes
        while lanes > 1:
            halves = [range(lanes // 2), range(lanes // 2, lanes)]
            low, high = (code.shuffled(wide, total, "poison", half, lanes) for half in halves)
            lanes //= 2
            with code.of_lanes(lanes):
                total = self._combine(position, wide, low, high)
        with code.of_lanes(1):
            total = cast(code, total, wide, kind)
        return code.in_all_lanes(kind, total)

    def _combine(self, position: int, kind: str, one: str, other: str) -> str:
        code, op = self._code, self._steps[position].op
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
        neutral = self._code.constant(kind, _neutral(self._steps[position].op, kind))
        return apply(self._code, "select", kind, [mask, term, neutral])


def _neutral(op: str, kind: str) -> float:
    if op == "sum":
        return 0.0  # of zeros below zero the sum is 0.0, as NumPy's
    if kind in FLOATS:
        return -np.inf if op == "max" else np.inf
    if kind == "bool":
        return op == "min"
    limits = np.iinfo(kind)
    return limits.min if op == "max" else limits.max

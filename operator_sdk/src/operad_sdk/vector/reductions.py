"""Totals of rows: a lane adds up every so-many-th element of a row, or all elements of one of some rows.

A sum of float32 is *wide*, in double precision, beyond so many additions, and is rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from operad.operator import Instruction
from operad_sdk.vector.primitives import apply, cast
from operad_sdk.vector.writer import ELEMENTS, FLOATS, Values, Writer


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
        """A wide total, or that of all its lanes in each, as the reduction gives it."""
        wide, kind = self._wide(position), self._steps[position].kind
        if over_lanes and wide != kind:
            return self._sum_of_lanes(wide, kind, total)
        if over_lanes:
            total = self._over_lanes(position, total)
        return cast(self._code, total, wide, kind)

    def _sum_of_lanes(self, wide: str, kind: str, total: str) -> str:
        """The sum of a wide total's lanes, in each: halves are added, which are as narrow as they can be."""
        code, lanes = self._code, self._code.lanes
        while lanes > 1:
            halves = [range(lanes // 2), range(lanes // 2, lanes)]
            low, high = (code.shuffled(wide, total, "poison", half, lanes) for half in halves)
            lanes //= 2
            total = code.value(f"fadd <{lanes} x {ELEMENTS[wide]}> {low}, {high}")
        number = code.value(f"extractelement <1 x {ELEMENTS[wide]}> {total}, i32 0")
        return code.splat(kind, code.value(f"fptrunc {ELEMENTS[wide]} {number} to {ELEMENTS[kind]}"))

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

    def _over_lanes(self, position: int, total: str) -> str:
        """The total of all lanes, in each lane: halves are combined until they have one lane."""
        code, kind, lanes = self._code, self._steps[position].kind, self._code.lanes
        distance = lanes // 2
        while distance:
            other = code.shuffled(kind, total, "poison", [i ^ distance for i in range(lanes)])
            total, distance = self._combine(position, kind, total, other), distance // 2
        return total


def _neutral(op: str, kind: str) -> float:
    if op == "sum":
        return 0.0  # of zeros below zero the sum is 0.0, as NumPy's
    if kind in FLOATS:
        return -np.inf if op == "max" else np.inf
    if kind == "bool":
        return op == "min"
    limits = np.iinfo(kind)
    return limits.min if op == "max" else limits.max

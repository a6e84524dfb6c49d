"""Totals of rows, one vector per row: a lane adds up every so-many-th element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from operad.operator import Instruction
from operad_sdk.vector.primitives import apply
from operad_sdk.vector.writer import FLOATS, Values, Writer


@final
class Reductions:
    """The reductions of a form; methods take their positions among the instructions."""

    def __init__(self, code: Writer, steps: Sequence[Instruction]) -> None:
        self._code, self._steps = code, steps

    def neutral(self, reduced: Sequence[int]) -> list[tuple[str, str]]:
        """Types of the reductions' vectors, and the vectors that change no total."""
        code, found = self._code, []
        for position in reduced:
            op, kind = self._steps[position].op, self._steps[position].kind
            found.append((code.vector(kind), code.constant(kind, _neutral(op, kind))))
        return found

    def combined(self, reduced: Sequence[int], some: Values, others: Values) -> Values:
        """Totals of pairs of totals, one per reduction."""
        return [self._combine(i, *pair) for i, *pair in zip(reduced, some, others, strict=True)]

    def _combine(self, position: int, one: str, other: str) -> str:
        code, (op, kind) = self._code, (self._steps[position].op, self._steps[position].kind)
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

    def over_lanes(self, position: int, total: str) -> str:
        """The total of all lanes, in each lane: halves are combined until they have one lane."""
        code, vector = self._code, self._code.vector(self._steps[position].kind)
        distance = code.lanes // 2
        while distance:
            order = ", ".join(f"i32 {i ^ distance}" for i in range(code.lanes))
            other = code.value(
                f"shufflevector {vector} {total}, {vector} poison, <{code.lanes} x i32> <{order}>"
            )
            total, distance = self._combine(position, total, other), distance // 2
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

"""One entry of a case plan: what a case is to show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

from operad_sdk.check.cases.kinds import CaseKind
from operad_sdk.check.cases.values import Values


@final
@dataclass(frozen=True, slots=True)
class GivenSize:
    """A size that is not drawn.

    Attributes:
        place: Which of the sizes that are chosen for a case, counted from 0.
        length: What it is.
        others: What the other sizes are; None: drawn.
    """

    place: int
    length: int
    others: int | None = None

    def is_reached(self, size: int) -> bool:
        """Whether an axis will do: windows and strides may make a long one longer."""
        return size == self.length or size >= self.length > 1


@final
@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Goal:
    """What one case, or several alike, are to show; what is left open here is drawn.

    Attributes:
        name: For reports: `axis of 300`, `alpha=0.0, axis=-1`, `float16 near its maximum`.
        reason: Why such a case is wanted, as a clause.
        kind: Sizes and numbers of axes.
        examples: How many cases; more than one only where nothing else is fixed.
        params: Values that these parameters have, and the others their defaults; None: drawn.
        size: A size that is given.
        dtypes: Element types, the preferred first; none: those of the kind.
        values: What the elements are like.
        wanted: Called with a property, shapes and types of the arguments: whether they will do.
        tries: Attempts at a designed case, whose parameters and sizes the operator may refuse.
    """

    name: str
    reason: str
    kind: CaseKind
    examples: int = 1
    params: Mapping[str, Any] | None = None
    size: GivenSize | None = None
    dtypes: tuple[str, ...] = ()
    values: Values = Values.LATTICE
    wanted: Callable[[Any, Any, Any], bool] | None = None
    tries: int = 12

    @property
    def is_drawn(self) -> bool:
        """Whether its cases are many alike, of which a hurried check may leave some out."""
        return self.examples > 1

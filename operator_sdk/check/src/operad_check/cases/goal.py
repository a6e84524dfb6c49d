"""One entry of a case plan: the goal of a case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, final

from operad_check.cases.kinds import CaseKind
from operad_check.cases.values import Values

_SHORT: Final = (2, 1, 3)
"""Sizes of axes where longer ones make arrays too large."""


@final
@dataclass(frozen=True, slots=True)
class GivenSize:
    """A size that is not drawn.

    Attributes:
        place: Which of the sizes that are chosen for a case, counted from 0.
        length: What it is.
        others: What the other sizes are; None: drawn.
        beside: What the next size is; None: as the others.
    """

    place: int
    length: int
    others: int | None = None
    beside: int | None = None

    def is_reached(self, size: int) -> bool:
        """Return whether an axis has the given length; windows and strides may make a long axis longer."""
        return size == self.length or size >= self.length > 1


@final
@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Goal:
    """Goal of one case, or of several similar cases; a field that is left open is drawn.

    Attributes:
        name: For reports: `axis of 300`, `alpha=0.0, axis=-1`, `float16 near its maximum`.
        reason: Why such a case is wanted, as a clause.
        kind: Sizes and numbers of axes.
        examples: How many cases; more than one only where nothing else is fixed.
        params: Values that these parameters have, and the others their defaults; None: drawn.
        size: A size that is given.
        sizes: Sizes of axes; none: those of the kind.
        ranks: Numbers of axes where any will do; none: those of the kind.
        dtypes: Element types, the preferred first; none: those of the kind.
        values: Sort of the elements.
        each_at_most: Elements that each argument may have; 0: the kind's limit for all together.
        wanted: Predicate of a property and the shapes and types of the arguments; False: draw others.
        tries: Attempts at a designed case, whose parameters and sizes the operator may refuse.
    """

    name: str
    reason: str
    kind: CaseKind
    examples: int = 1
    params: Mapping[str, Any] | None = None
    size: GivenSize | None = None
    sizes: tuple[int, ...] = ()
    ranks: tuple[int, ...] = ()
    dtypes: tuple[str, ...] = ()
    values: Values = Values.LATTICE
    each_at_most: int = 0
    wanted: Callable[[Any, Any, Any], bool] | None = None
    tries: int = 12

    def with_shorter_axes(self) -> Goal:
        """The goal for arguments that are too many, or of too many axes, for the limit on all together."""
        return replace(self, sizes=_SHORT, each_at_most=self.kind.each_at_most)

    @property
    def is_drawn(self) -> bool:
        """True if the goal asks for several similar cases, of which a hurried check may leave some out."""
        return self.examples > 1

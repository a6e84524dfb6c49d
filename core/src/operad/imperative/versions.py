"""Versions of arrays, by which a gradient knows that they still hold what it counts on.

Every write that is pushed counts up the version of the array's variable, so one comparison of integers
tells. What shares a chunk shares its version: a write to another part of it counts too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from operad.errors import GradientError
from operad.imperative.array import ArrayFields


@final
class Versions:
    """The versions that some arrays had when they were last noted, which is at first when this is made."""

    __slots__ = ("_noted", "_vars")

    def __init__(self, arrays: Sequence[ArrayFields]) -> None:
        self._vars = [array._chunk.var for array in arrays]
        self.note()

    def note(self) -> None:
        """From now on, the arrays count as unchanged."""
        self._noted = [var.version for var in self._vars]

    def first_changed(self) -> int | None:
        """The index of the first array that was written since, or None."""
        found = [var.version for var in self._vars]
        if found == self._noted:
            return None
        return next(i for i, version in enumerate(found) if version != self._noted[i])


def overwritten(doing: str, what: str, when: str) -> GradientError:
    """The error of a backward that would read another value than forward did."""
    return GradientError(
        f"{doing}: {what} was overwritten after {when}, so the gradient would be wrong; "
        "copy it first, or write in place only after backward"
    )

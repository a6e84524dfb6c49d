"""One entry of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

GROUPS: Final = {
    "S": "static",
    "F": "forward",
    "B": "backward",
    "M": "memory contract",
    "R": "runtime",
    "D": "dtype and device",
    "A": "mapper",
    "X": "evidence",
}


@final
@dataclass(frozen=True, slots=True)
class Check:
    """What a person wants to know of a check.

    Attributes:
        id: Stable: a letter for the group and a number that is never used again.
        title: What holds where it passes, as a sentence without a full stop.
        why: What goes wrong where it does not hold.
        example: Code that breaks it.
        fix: One suggestion, for the ordinary case.
    """

    id: str
    title: str
    why: str
    example: str
    fix: str

    @property
    def group(self) -> str:
        """The group's name."""
        return GROUPS[self.id[0]]

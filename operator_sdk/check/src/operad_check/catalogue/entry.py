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
    "L": "library",
}


@final
@dataclass(frozen=True, slots=True)
class Check:
    """Documentation of a check: its title, reason, example and fix.

    Attributes:
        id: Stable: a letter for the group and a number that is never used again.
        title: The rule that holds where the check passes, as a sentence without a full stop.
        why: The damage where the rule is broken.
        example: Code that breaks the rule.
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

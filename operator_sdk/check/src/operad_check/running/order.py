"""Order in which the checks of one operator run: those first that are red first.

What a check finds does not depend on the order, except for one check, of the process before and after a run:
a second run no longer changes what the first has set.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

RUNS_FIRST: Final = "R507"
"""Check of the process, which runs before all others."""
FIRST: Final = (
    "F201", "F213", "B301", "B302", "B306", "B313", "F210", "D602", "D603", "F212", "F219", "F214", "F208",
    "B311", "D606", "M403", "M404", "S108", "F203", "F202", "F211", "M409", "D601",
)  # fmt: skip
"""Checks in the order in which they kill most."""

_AT_ONCE: Final = ("S101", "S103", "S104", "S105", "S110", "S113")
"""Checks of declarations alone, which take no time."""
_LAST: Final = ("S107", "S108", "S111")
"""Checks of documentation, which is written when the rest is right."""


def in_order(ids: Iterable[str], red: Collection[str] = ()) -> list[str]:
    """The checks as they run.

    Args:
        red: Those that were red the last time, which come first.
    """

    def rank(id: str) -> tuple[bool, bool, bool, bool, int]:
        place = FIRST.index(id) if id in FIRST else len(FIRST)
        return id != RUNS_FIRST, id not in red, id not in _AT_ONCE, id in _LAST, place

    return sorted(ids, key=rank)

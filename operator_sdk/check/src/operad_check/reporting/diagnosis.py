"""Causes and echoes among several red checks.

One mistake makes many checks red. An output that is not written is not deterministic either, differs
between runs and between engines. Each check is listed with those that it explains: where both are red, the
explained one is an echo, and is folded under its cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from operad_check.reporting.outcome import Outcome, Status, rank

_RUNS: Final = ("F214", "F215", "R501", "R502", "R503")
_SAME_BITS: Final = (*_RUNS, "B305", "B310", "F211", "M401", "M403", "M404", "M405", "M407", "M408", "M409")

ECHOES: Final[dict[str, tuple[str, ...]]] = {
    "S101": ("R504",),
    "S102": ("F201", "F203", "F204", "R503"),
    "F201": ("B306", "D601", "D602", "F210", "F212", "R502", "R503"),
    "F202": ("F201", "F213", "F214", "R503"),
    "F203": ("F204", "F205"),
    "F207": (*_RUNS, "M409", "R507"),
    "F208": (*_SAME_BITS, "F209", "F210", "F219"),
    "F209": _SAME_BITS,
    "F213": ("F221", "D606"),
    "B301": ("B302", "B312", "B313", "B314", "A703", "D603"),
    "B302": ("B312", "B313", "B314", "D603"),
    "B303": ("B301", "B302", "B313"),
    "B305": ("R503",),
    "B306": ("B301", "B302", "B305", "B307", "B313", "R503"),
    "B307": ("B305", "B310", "F219", "M405", "M407", "R501", "R502", "R503"),
    "B309": ("B310", "R503"),
    "B310": ("M401", "R501", "R502", "R503"),
    "B312": ("B314",),
    "M401": ("B310", "R501", "R503"),
    "M403": ("R503",),
    "M404": ("R503",),
    "M407": ("F208", "F209", "B307", *_RUNS),
    "R501": ("R502", "R503"),
    "D602": ("D603",),
    "D606": ("R503",),
}
"""Ids that are echoes where the key is red."""

_AUDITS: Final = ("X804", "X805")
"""Checks of the other checks' evidence; they presuppose that the others are green."""


def diagnosed(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Outcomes, with each echo marked by the id of the check that explains it."""
    failed = [outcome for outcome in outcomes if outcome.status is Status.WRONG]
    found = []
    for outcome in outcomes:
        may_be_echo = outcome.status.is_found and outcome.status is not Status.UNEXPECTED_PASS
        red = {other.check_id for other in failed if _may_explain(other, outcome)}
        found.append(replace(outcome, echo_of=_cause(outcome.check_id, red)) if may_be_echo else outcome)
    return found


def _may_explain(cause: Outcome, echo: Outcome) -> bool:
    """Return whether two findings are of one array, or one of them of none in particular."""
    one, other = _arrays(cause), _arrays(echo)
    return not one or not other or bool(one & other)


def _arrays(outcome: Outcome) -> set[str]:
    """Arrays that are said to be wrong: those at the beginning of a message."""
    if outcome.failure is None:
        return set()
    begin = _SUBJECTS.match(outcome.failure.message)
    return set(re.findall(r"\w+", begin[1])) - {"and"} if begin else set()


_SUBJECTS: Final = re.compile(
    r"gradients? of (?:the gradients? of )?(\w+(?:(?:\[[\d, ]*\])?(?:, | and )\w+)*)"
)


def _cause(id: str, red: Iterable[str]) -> str:
    """First red check, by rank, that explains `id`; "" if none does."""
    causes = [
        other
        for other in red
        if other != id
        and (id in ECHOES.get(other, ()) or (id in _AUDITS and other[0] not in "SX"))
        and (other not in ECHOES.get(id, ()) or rank(other) < rank(id))
    ]
    return min(causes, key=rank, default="")

"""MXNet's own faults: the table `faults.toml`, by ids of checks.

A fault excuses its checks: they are left out, for MXNet's result is wrong or means nothing. What operad
does otherwise than a sound result of MXNet belongs to `differences.toml` instead.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from tests.conformance.recorded.differences import Difference, Matcher

HERE: Final = Path(__file__).parent
FORMS: Final = ("forward", "gradient", "add", "bound")
"""The forms in which a case is computed."""


@dataclass(frozen=True)
class Fault:
    """Something MXNet computes wrongly.

    Attributes:
        reason: What, and why that is wrong.
        ids: Of the checks it concerns, `*` standing for any text; a case stands for all its forms.
    """

    reason: str
    ids: tuple[str, ...]

    @property
    def patterns(self) -> Iterator[str]:
        """Ids with their forms."""
        for one in self.ids:
            yield from (one,) if ":" in one else (f"{one}:{form}" for form in FORMS)


@cache
def load() -> tuple[Fault, ...]:
    """The table."""
    entries = tomllib.loads((HERE / "faults.toml").read_text(encoding="utf-8"))["fault"]
    return tuple(Fault(entry["reason"], tuple(entry["ids"])) for entry in entries)


def excuses(test_id: str) -> bool:
    """Return whether a fault concerns the check, so that nothing is compared."""
    return _matcher().find(test_id) is not None


@cache
def _matcher() -> Matcher:
    return Matcher(Difference("fault", fault.reason, tuple(fault.patterns)) for fault in load())

"""MXNet's own faults: the table `faults.toml`, by ids of tests."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent


@dataclass(frozen=True)
class Fault:
    """Something MXNet computes wrongly.

    Attributes:
        reason: What, and why that is wrong.
        patterns: Ids of the checks that it concerns, `*` standing for any text.
        is_undefined: Whether its results have no meaning, so that nothing is compared with them.
    """

    reason: str
    patterns: tuple[str, ...]
    is_undefined: bool


@cache
def load() -> tuple[Fault, ...]:
    """The table."""
    entries = tomllib.loads((HERE / "faults.toml").read_text(encoding="utf-8")).get("fault", [])
    return tuple(
        Fault(entry["reason"], tuple(entry["ids"]), entry.get("undefined", False)) for entry in entries
    )


def of(test_id: str) -> Fault | None:
    """The fault that concerns a check, or None."""
    return next((fault for fault in load() if any(fnmatchcase(test_id, p) for p in fault.patterns)), None)


def is_undefined(test_id: str) -> bool:
    """Whether what MXNet gives for this check has no meaning."""
    fault = of(test_id)
    return fault is not None and fault.is_undefined

"""Differences between operad and MXNet today: the table `differences.toml`, by ids of tests."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path
from typing import Any, Final

TABLE: Final = Path(__file__).with_name("differences.toml")
KINDS: Final = ("finding", "missing operator", "deliberate")


@dataclass(frozen=True)
class Difference:
    """One entry of the table.

    Attributes:
        kind: `finding` (to be fixed), `missing operator` or `deliberate`.
        reason: In plain words.
        patterns: Ids, `*` standing for any text: every one of its operators with every one of its checks.
        row: For a deliberate one, the first cell of its row in docs/differences.md.
    """

    kind: str
    reason: str
    patterns: tuple[str, ...]
    row: str = ""


def load(path: Path = TABLE) -> list[Difference]:
    """The table.

    Raises:
        ValueError: An entry has an unknown kind, no reason, or nothing that it stands for.
    """
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("difference", [])
    return [_read(entry) for entry in entries]


def _read(entry: Mapping[str, Any]) -> Difference:
    checks = entry.get("checks", ["[:/]*"])
    patterns = tuple(f"{op}{check}" for op in entry.get("operators", ()) for check in checks)
    if entry.get("kind") not in KINDS or not entry.get("reason") or not patterns:
        raise ValueError(f"differences.toml: {dict(entry)!r} needs a kind of {KINDS}, a reason, operators")
    return Difference(entry["kind"], entry["reason"], patterns, entry.get("row", ""))


class Matcher:
    """Finds the entry an id belongs to, and remembers which patterns were used.

    Args:
        differences: The table.
    """

    def __init__(self, differences: Iterable[Difference]) -> None:
        self._exact: dict[str, Difference] = {}
        self._patterns: dict[str, list[tuple[str, re.Pattern[str], Difference]]] = {}
        self.unused: set[str] = set()
        for difference in differences:
            for pattern in difference.patterns:
                self.unused.add(pattern)
                if not set(pattern) & set("*[?"):
                    self._exact[pattern] = difference
                    continue
                operator = re.split(r"[:/\[]", pattern)[0]
                key = "*" if set(operator) & set("*?") else operator
                compiled = re.compile(translate(pattern))
                self._patterns.setdefault(key, []).append((pattern, compiled, difference))

    def find(self, test_id: str) -> Difference | None:
        """The first entry that the id matches."""
        if (exact := self._exact.get(test_id)) is not None:
            self.unused.discard(test_id)
            return exact
        operator = re.split("[:/]", test_id)[0]
        found = None
        for pattern, compiled, difference in (
            *self._patterns.get(operator, ()),
            *self._patterns.get("*", ()),
        ):
            if compiled.match(test_id):
                self.unused.discard(pattern)
                found = found or difference
        return found


def misjudged(matcher: Matcher, checks: Iterable[tuple[str, Callable[[], str | None]]]) -> Iterator[str]:
    """A line for each check that differs and is not listed, that raises, or that is listed and holds.

    Args:
        matcher: Of the table.
        checks: Ids, and what returns how it differs, or None.
    """
    for test_id, run in checks:
        entry = matcher.find(test_id)
        try:
            words = run()
        except Exception as error:  # noqa: BLE001 - the other checks are still to be run
            words = f"{type(error).__name__}: {error}"
        if words and entry is None:
            yield f"{test_id}: {words}"
        elif not words and entry is not None:
            yield f"{test_id}: holds, and is listed as a {entry.kind}: {entry.reason}"

"""Entries for the table of differences, proposed from how checks fail."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence

from tests.conformance.recorded.checks import Check

Failure = tuple[Check, str]


def proposal(failures: Sequence[Failure]) -> str:
    """TOML entries that list these failures; reasons are guessed from the messages."""
    missing = {check.operator: None for check, words in failures if words.startswith("no plugin provides")}
    parts = [_entry("missing operator", "missing operator", "operators", list(missing))] if missing else []
    by_reason: dict[str, list[Check]] = defaultdict(list)
    for check, words in failures:
        if check.operator not in missing and check.aspect != "recorded":
            by_reason[f"{check.operator}: {_reason(check, words)}"].append(check)
    parts += [
        _entry("finding", reason, "ids", [check.id for check in found]) for reason, found in by_reason.items()
    ]
    return "\n".join(parts)


def _entry(kind: str, reason: str, key: str, values: Sequence[str]) -> str:
    lines = "".join(f"    {json.dumps(value)},\n" for value in values)
    return f"[[difference]]\nkind = {json.dumps(kind)}\nreason = {json.dumps(reason)}\n{key} = [\n{lines}]\n"


def _reason(check: Check, words: str) -> str:
    if "refused: " in words:
        told = re.sub(r"\d+(\.\d+)?", "N", words.partition("refused: ")[2])
        return f"operad refuses: {told}"
    if "expected a refusal" in words:
        return "operad computes what MXNet refuses"
    if " at (" in words:
        return f"another {'gradient' if 'gradient' in words else 'value'}"
    if check.aspect in ("forward", "gradient", "add", "bound"):
        return "another shape, dtype or number of results"
    return f"{check.aspect} {words}" if check.aspect not in ("dtype",) else f"another dtype: {words}"

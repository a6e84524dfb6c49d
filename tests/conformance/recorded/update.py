"""The table of differences as it must be today.

What differs still keeps its reason, what differs newly gets one guessed from its message, and what holds is
left out. Operators that fail the same checks for one reason share an entry.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from tests.conformance.recorded.causes import cause_of
from tests.conformance.recorded.checks import UNSEEN, Check
from tests.conformance.recorded.differences import KINDS, Matcher

HEADER: Final = """\
# What operad does otherwise than MXNet 1.9.1 today; see docs/conformance.md. A comment shows one message.
# An entry stands for every one of its operators with every one of its checks (every check, if it has none).
# Kinds, reasons and rows are written by hand; `--update` keeps them and writes the rest.
"""
MISSING: Final = ("missing operator", "no plugin provides it", "")
Reason = tuple[str, str, str]
"""Kind, reason and row of an entry."""


def updated(ran: Sequence[tuple[Check, str | None]], matcher: Matcher) -> str:
    """The text of the table.

    Args:
        ran: Every check there is, and how it fails.
        matcher: Of the table as it was.
    """
    missing: list[str] = []
    failing: dict[Reason, dict[str, list[Check]]] = defaultdict(lambda: defaultdict(list))
    messages: dict[str, str] = {}
    for check, words in ran:
        if not words or check.aspect == "recorded" or words == UNSEEN:
            continue  # what must be recorded again is never listed
        if check.aspect == "provided":
            missing.append(check.operator)
            continue
        messages[check.id] = f"{check.id}: {words}"
        failing[_reason(check, messages[check.id], matcher)][check.operator].append(check)
    forms = Counter(check.id.partition(":")[0] for check, _ in ran)
    parts = [HEADER]
    if missing:
        parts.append(_entry(MISSING, missing, []))
    for reason in sorted(failing, key=lambda one: (KINDS[::-1].index(one[0]), one)):
        for checks, operators in _grouped(failing[reason], forms).items():
            message = messages[failing[reason][operators[0]][0].id].splitlines()[0]
            parts.append(f"# {message[:105]}\n{_entry(reason, operators, checks)}")
    return "\n".join(parts)


def _reason(check: Check, message: str, matcher: Matcher) -> Reason:
    entry = matcher.find(check.id)
    if entry is not None and entry.kind != "missing operator":
        return entry.kind, entry.reason, entry.row
    cause = cause_of(message)
    return cause.kind, cause.reason, cause.row


def _grouped(
    failing: Mapping[str, Sequence[Check]], forms: Mapping[str, int]
) -> dict[tuple[str, ...], list[str]]:
    """Operators by the checks they fail in common."""
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for operator, found in failing.items():
        groups[tuple(_collapsed(operator, found, forms))].append(operator)
    return groups


def _collapsed(operator: str, found: Sequence[Check], forms: Mapping[str, int]) -> list[str]:
    """The ids without the operator; `case:*` where every form of a case is among them."""
    by_subject: dict[str, list[str]] = defaultdict(list)
    for check in found:
        subject, _, aspect = check.id.partition(":")
        by_subject[subject].append(aspect)
    texts = []
    for subject, aspects in by_subject.items():
        rest = subject.removeprefix(operator)
        whole = rest and len(aspects) == forms[subject] and len(aspects) > 1
        texts += [f"{rest}:*"] if whole else [f"{rest}:{aspect}" for aspect in aspects]
    return texts


def _entry(told: Reason, operators: Sequence[str], checks: Sequence[str]) -> str:
    kind, reason, row = told
    lines = ["[[difference]]", f"kind = {json.dumps(kind)}", f"reason = {json.dumps(reason)}"]
    if row:
        lines.append(f"row = {json.dumps(row)}")
    lines.append(_list("operators", operators))
    if checks:
        lines.append(_list("checks", checks))
    return "\n".join([*lines, ""])


def _list(key: str, values: Sequence[str]) -> str:
    texts = [json.dumps(value) for value in values]
    if len(", ".join(texts)) < 90:
        return f"{key} = [{', '.join(texts)}]"
    rows = [""]
    for text in texts:
        if len(rows[-1]) + len(text) > 100:
            rows.append("")
        rows[-1] += f"{text}, "
    return f"{key} = [\n" + "".join(f"    {row.rstrip()}\n" for row in rows) + "]"

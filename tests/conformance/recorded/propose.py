"""Entries for the table of differences, proposed from how checks fail."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from tests.conformance.recorded.causes import Cause, cause_of
from tests.conformance.recorded.checks import Check

Failure = tuple[Check, str]


def proposal(failures: Sequence[Failure], all_checks: Iterable[Check]) -> str:
    """TOML entries that list these failures, with reasons guessed from their messages."""
    missing: dict[str, None] = {}
    causes: dict[str, Cause] = {}
    failing: dict[str, dict[str, list[Check]]] = defaultdict(lambda: defaultdict(list))
    examples: dict[str, str] = {}
    for check, words in failures:
        if words.startswith("no plugin provides"):
            missing[check.operator] = None
        elif check.aspect != "recorded":
            examples[check.id] = f"{check.id}: {words}"
            cause = cause_of(examples[check.id])
            causes[cause.reason] = cause
            failing[cause.reason][check.operator].append(check)
    forms = Counter(check.id.partition(":")[0] for check in all_checks)
    parts = [_entry("missing operator", "no plugin provides it", "", list(missing), [])] if missing else []
    for reason, cause in sorted(causes.items(), key=lambda item: (item[1].kind, item[0])):
        for checks, operators in _grouped(failing[reason], forms).items():
            example = examples[failing[reason][operators[0]][0].id][:160]
            parts.append(f"# {example}\n{_entry(cause.kind, reason, cause.row, operators, checks)}")
    return "\n".join(parts)


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


def _entry(kind: str, reason: str, row: str, operators: Sequence[str], checks: Sequence[str]) -> str:
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

"""An outcome as text."""

from __future__ import annotations

from operad_check.register import entries
from operad_check.reporting.outcome import BROKEN, OWN_FAULT, Outcome, Status


def outcome_text(operator: str, provider: str, outcome: Outcome) -> str:
    """A red outcome for a person: id, operator, smallest case, suggestion, program; or what broke a check.

    Args:
        operator: The operator's name.
        provider: Its distribution and version.
        outcome: What was found.
    """
    failure = outcome.failure
    found = outcome.reason if failure is None else failure.message
    lines = [
        f"{outcome.check_id} {outcome.status}: {operator}: {found}",
        f"  provided by: {provider}",
        f"  wanted: {entries()[outcome.check_id].title}",
    ]
    if outcome.status is Status.BROKEN:
        lines[0] = f"{outcome.check_id} broken: {operator} is not judged by it: this is {OWN_FAULT}"
        lines += [f"  {outcome.reason}", *(f"    {line}" for line in outcome.traceback.splitlines())]
    elif failure is not None:
        lines += [
            f"  smallest case: {failure.case or 'none'}",
            f"  fix: {failure.fix}",
            *["  this program fails in the same way:"][: len(failure.script)],
            *(f"    {line}" for line in failure.script.splitlines()),
        ]
    if failure is not None and failure.declares is not None:
        lines.append(f"  declaration that `operad check --fix` writes: {failure.declares}")
    id = BROKEN if outcome.status is Status.BROKEN else outcome.red_id or outcome.check_id
    lines.append(f"  more: operad explain {id}")
    return "\n".join(lines)

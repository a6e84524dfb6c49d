"""Summary of a run of `operad check`, in a few lines that a person reads last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from operad.cli import Cell, Mark

if TYPE_CHECKING:
    from operad_check.commands.check.records import CheckedOperator, CheckOutcome

Lines = list[tuple[str, Cell]]

_AUDIT: Final = "X804"
_VALUES: Final = ("F213", "F218")
"""Checks that know a right value from a wrong one: a reference, a distribution."""
_SHOWN: Final = 3
"""Names that a line shows at most."""


def summary(operators: Sequence[CheckedOperator], unusable: int) -> Lines:
    """Pairs of a word and the text beside it.

    Args:
        operators: The reports, at least one.
        unusable: How many more operators could not be checked.
    """
    return [
        ("operators", _operators(operators, unusable)),
        ("checks", _counts(outcome.status for op in operators for outcome in op.outcomes)),
        ("examples", _examples(operators)),
        ("plan", _plan(operators)),
        *(("expected", line) for line in _expected(operators)),
        *(("self-audit", line) for line in _audit(operators)),
        *(("values", line) for line in _without_reference(operators)),
        *(("slowest", line) for line in _slowest(operators)),
    ]


def _operators(operators: Sequence[CheckedOperator], unusable: int) -> Cell:
    count = len(operators) + unusable
    red = sum(bool(op.red_ids) for op in operators)
    broken = sum(bool(op.broken_ids) and not op.red_ids for op in operators)
    counts = (
        (sum(bool(op.undeclared_ids) for op in operators), "with a declaration missing"),
        (sum(bool(op.hard_ids) for op in operators), "with figures that are not judged"),
    )
    more = [f"{some} {words}" for some, words in counts if some]
    if not red and not unusable and not broken:
        good = "it passes" if count == 1 else f"all {count} pass"
        return Mark(", ".join([good, *more]), "odd" if more else "good")
    parts = [f"{count - red - unusable - broken} of {count} pass"]
    parts += [f"{red} fail"] if red else []
    parts += [f"{broken} not judged by all checks: some are broken, operad's own fault"] if broken else []
    parts += [f"{unusable} could not be checked"] if unusable else []
    return Mark(", ".join([*parts, *more]), "bad")


def _counts(statuses: Iterable[str]) -> str:
    order = (
        "passed", "wrong", "undeclared", "hard", "no evidence", "unexpected pass", "expected failure",
        "blocked", "broken",
    )  # fmt: skip
    counted = Counter(statuses)
    parts = [f"{counted[status]:,} {status}" for status in order if counted[status]]
    if counted["does not apply"]:
        parts.append(f"{counted['does not apply']:,} do not apply")
    return ", ".join(parts)


def _examples(operators: Sequence[CheckedOperator]) -> str:
    examples = sum(outcome.examples for op in operators for outcome in op.outcomes)
    seconds = sum(op.seconds for op in operators)
    profiles = " and ".join(sorted({op.profile for op in operators}))
    return f"{examples:,} in {seconds:,.1f} s of computing, profile {profiles}"


def _plan(operators: Sequence[CheckedOperator]) -> str:
    goals = [each for op in operators for each in op.coverage]
    lacks = Counter(each.lack for each in goals if not each.cases)
    said = f"{len(goals) - lacks.total():,} of {len(goals):,} goals have cases"
    why = ", ".join(f"{count:,} {lack}" for lack, count in lacks.most_common())
    return f"{said}; of the others {why}; --explain-cases lists them" if lacks else said


def _expected(operators: Sequence[CheckedOperator]) -> Iterator[str]:
    """Lines for expected failures: one line per check and reason, with the operators that share them."""
    names: dict[tuple[str, str], list[str]] = {}
    for op, outcome in _all(operators):
        if outcome.status == "expected failure":
            names.setdefault((outcome.check_id, outcome.reason), []).append(op.operator)
    for (id, reason), which in names.items():
        yield f"{', '.join(which)}: {id} fails: {reason}"


def _audit(operators: Sequence[CheckedOperator]) -> Iterator[Cell]:
    audits = [outcome for _, outcome in _all(operators) if outcome.check_id == _AUDIT]
    noticed = [outcome for outcome in audits if outcome.status == "passed"]
    if noticed:
        faults = sum(sum(outcome.evidence.values()) for outcome in noticed)
        yield f"{faults:,} faults were put in, one at a time, and all were noticed"
    if red := sum(outcome.status in ("wrong", "no evidence") for outcome in audits):
        yield Mark(f"of {red} operator{'s' * (red > 1)} the checks say too little; see {_AUDIT}", "bad")


def _without_reference(operators: Sequence[CheckedOperator]) -> Iterator[str]:
    known = {
        op.operator
        for op, outcome in _all(operators)
        if outcome.check_id in _VALUES and outcome.status != "does not apply"
    }
    blind = [op.operator for op in operators if op.operator not in known]
    if blind:
        yield f"{_some(blind)}: no Contract(reference=...) says what is right, only your own tests do"


def _slowest(operators: Sequence[CheckedOperator]) -> Iterator[str]:
    slow = sorted(operators, key=lambda op: -op.seconds)[:_SHOWN]
    if len(operators) > 1:
        yield ", ".join(f"{op.operator} {op.seconds:.1f} s{_most_of(op)}" for op in slow)


def _most_of(op: CheckedOperator) -> str:
    """The check that took a third of the time or more."""
    outcome = max(op.outcomes, key=lambda outcome: outcome.seconds, default=None)
    if outcome is None or outcome.seconds * 3 < op.seconds:
        return ""
    return f" ({outcome.check_id} {outcome.seconds:.1f} s)"


def _some(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _all(operators: Sequence[CheckedOperator]) -> Iterator[tuple[CheckedOperator, CheckOutcome]]:
    for op in operators:
        yield from ((op, outcome) for outcome in op.outcomes)

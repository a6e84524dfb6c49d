"""Records that `operad check` prints: the harness's report, for people and as JSON.

The report comes as plain data out of another process; these records say what is in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import Final, final

from operad.cli import Mark, Page
from operad_check.commands.check.summary import summary
from operad_check.reporting.diagnosis import rank
from operad_check.reporting.outcome import Coverage, Failure, Unproved

_RED: Final = ("failed", "no evidence", "unexpected pass")
_BROKEN_CODE: Final = 3
"""Exit code where nothing is wrong but a check of operad's."""
_ALONE: Final = {
    None: "This program fails in the same way:",
    True: "This program fails in the same way:",
    False: "This program passes by itself: the check fails only after other runs in one process.",
}


@final
@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """One check of one operator.

    Attributes:
        check_id: What ran; `operad explain` says what it is for.
        status: passed, does not apply, expected failure, failed, no evidence, unexpected pass, blocked, or
            broken, which is operad's own fault.
        examples: Cases it was shown.
        evidence: Things it compared, by name.
        reason: Why a failure is expected, what it lacks, or what broke it.
        failure: What is broken, or null.
        seconds: Time it took.
        red_id: The id under which it is red, or null.
        echo_of: The id of the red check that explains this one, or empty.
        traceback: Where a check broke, or empty.
    """

    check_id: str
    status: str
    examples: int
    evidence: dict[str, int]
    reason: str
    failure: Failure | None
    seconds: float
    red_id: str | None = None
    echo_of: str = ""
    traceback: str = ""


@final
@dataclass(frozen=True, slots=True)
class CheckedOperator:
    """All checks of one operator.

    Attributes:
        operator: Its name.
        distribution: Who provides it.
        version: Of that distribution.
        profile: How much was tried: dev, ci or nightly.
        seed: Of everything random.
        outcomes: What each check found.
        red_ids: The ids under which some outcome is red.
        seconds: Time that all checks took together.
        coverage: The case plan, and how many cases serve each goal.
        unproved: What no check looked at, because the author declared so.
        printed: The end of what it printed while it was checked.
        left: How many checks did not run, because one was red and the first is enough.
        broken_ids: Ids of checks that broke, which says nothing of the operator.
    """

    operator: str
    distribution: str
    version: str
    profile: str
    seed: int
    outcomes: list[CheckOutcome]
    red_ids: list[str]
    seconds: float
    coverage: list[Coverage] = field(default_factory=list)
    unproved: list[Unproved] = field(default_factory=list)
    printed: str = ""
    left: int = 0
    broken_ids: list[str] = field(default_factory=list)

    @property
    def provider(self) -> str:
        """Distribution and version."""
        return f"{self.distribution} {self.version}".strip()

    @property
    def red(self) -> list[CheckOutcome]:
        """Red outcomes."""
        return [outcome for outcome in self.outcomes if outcome.status in _RED]

    @property
    def causes(self) -> list[CheckOutcome]:
        """Red outcomes that no other outcome explains, the nearest to a cause first."""
        found = [outcome for outcome in self.red if not outcome.echo_of]
        return sorted(found, key=lambda outcome: rank(outcome.check_id))

    @property
    def verdict(self) -> str:
        """Red ids that are causes, and the number of those that follow from them; then the broken checks."""
        ids = list(dict.fromkeys(outcome.red_id or outcome.check_id for outcome in self.causes))
        echoes = sum(bool(outcome.echo_of) for outcome in self.outcomes)
        red = " ".join(ids or self.red_ids) + (f" (+{echoes})" if echoes else "")
        broken = f"{' '.join(self.broken_ids)} broken, operad's own fault" if self.broken_ids else ""
        return ", ".join(filter(None, (red, broken))) or "passed"


@final
@dataclass(frozen=True, slots=True)
class CheckRun:
    """Result of `operad check`.

    Attributes:
        passed: Whether nothing is wrong, no check is broken and every operator could be loaded.
        operators: The operators checked.
        unusable: Operators that could not be checked: name and error.
        left: Operators that were not reached before the run was interrupted.
        written: Examples that were written into docstrings, with their positions, by operator.
        explains: Whether no check ran, and only the case plans are shown.
        strict: Whether what is not proved, and not accepted, fails the run.
        spared: Operators that --failed leaves out: they were not red when they were last checked.
    """

    passed: bool
    operators: list[CheckedOperator]
    unusable: dict[str, str]
    left: list[str] = field(default_factory=list)
    written: dict[str, str] = field(default_factory=dict)
    explains: bool = False
    strict: bool = False
    spared: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """1 if something is wrong; 3 if nothing is, and a check is broken."""
        is_wrong = self.unusable or self.left or any(op.red_ids for op in self.operators)
        is_open = self.strict and not all(one.is_accepted for op in self.operators for one in op.unproved)
        is_broken = any(op.broken_ids for op in self.operators) and not (is_wrong or is_open)
        return _BROKEN_CODE if is_broken else int(not self.passed)

    def show(self, page: Page) -> None:
        """Write one row per operator, then each failure with its program, then the summary."""
        if self.explains:
            for op in self.operators:
                _show_plan(page, op)
                _show_broken(page, op)
            _show_unusable(page, self.unusable)
            return
        for name, text in self.written.items():
            page.heading(f"{name}: an example was written")
            page.code(text)
        page.table(
            ("operator", "provided by", "result", "checks", "examples", "seconds"),
            [
                (
                    Mark(op.operator, "name"),
                    op.provider,
                    Mark(op.verdict, "bad" if op.red_ids or op.broken_ids else "good"),
                    str(sum(outcome.status == "passed" for outcome in op.outcomes)),
                    str(sum(outcome.examples for outcome in op.outcomes)),
                    f"{op.seconds:.1f}",
                )
                for op in self.operators
            ],
        )
        for op in self.operators:
            for outcome in op.causes:
                _show_failure(page, op, outcome)
            _show_broken(page, op)
            if op.red_ids and not op.red:
                _show_blocked(page, op)
            if op.printed and op.red_ids:
                page.heading(f"{op.operator} printed")
                page.code(indent(op.printed.rstrip(), "    "))
            if op.left:
                page.text(Mark(f"{op.operator}: {op.left} more checks did not run", "quiet"))
        _show_unproved(page, self.operators, strict=self.strict)
        _show_unusable(page, self.unusable)
        if self.spared:
            count = len(self.spared)
            page.text(f"left out, not red when last checked: {count} operator{'s' * (count > 1)}")
        if self.left:
            page.heading(f"interrupted: {len(self.left)} operators were not checked")
            page.text(" ".join(self.left))
        if self.operators:
            page.heading("Summary")
            page.pairs(summary(self.operators, len(self.unusable)))

    def notes(self) -> list[tuple[str, str]]:
        """The summary as plain text."""
        lines = summary(self.operators, len(self.unusable)) if self.operators else []
        return [(word, cell.text if isinstance(cell, Mark) else cell) for word, cell in lines]


def _show_unusable(page: Page, unusable: Mapping[str, str]) -> None:
    for name, error in unusable.items():
        page.heading(f"{name} could not be checked")
        page.text(error)


def _show_unproved(page: Page, operators: Sequence[CheckedOperator], *, strict: bool) -> None:
    """Write what is not proved of each operator; under --strict, what is not accepted stands out."""
    rows = [
        (
            Mark(op.operator, "name"),
            Mark(one.name, "quiet" if one.is_accepted or not strict else "bad"),
            one.what,
            one.reason or Mark("no reason is given", "quiet"),
        )
        for op in operators
        for one in sorted(op.unproved, key=lambda one: one.is_accepted)
    ]
    if rows:
        page.heading("Not proved")
        page.table(("operator", "declared", "what no check looked at", "because"), rows)


def _show_plan(page: Page, op: CheckedOperator) -> None:
    page.heading(f"cases of {op.operator}, profile {op.profile}")
    rows = [
        (
            each.kind,
            each.goal,
            str(each.cases) if each.cases else Mark(each.lack, "quiet"),
            f"{each.reason}; {each.words}" if each.words else each.reason,
        )
        for each in op.coverage
    ]
    page.table(("kind", "goal", "cases", "why"), rows)


def _show_blocked(page: Page, op: CheckedOperator) -> None:
    """Write the reasons of blocked checks, each with the ids of its checks."""
    ids: dict[str, list[str]] = {}
    for outcome in op.outcomes:
        if outcome.status == "blocked":
            ids.setdefault(outcome.reason, []).append(outcome.check_id)
    page.heading(f"X801 blocked: {op.operator} of {op.provider}")
    page.pairs([(" ".join(found), Mark(reason, "bad")) for reason, found in ids.items()])
    page.text(Mark("more: operad explain X801", "quiet"))


def _show_broken(page: Page, op: CheckedOperator) -> None:
    """Write where checks broke."""
    for outcome in op.outcomes:
        if outcome.status == "broken":
            page.heading(f"{outcome.check_id} broken, operad's own fault: it says nothing of {op.operator}")
            page.text(Mark(outcome.reason, "bad"))
            page.code(indent(outcome.traceback, "    "))
            page.text(Mark("more: operad explain X806", "quiet"))


def _show_failure(page: Page, op: CheckedOperator, outcome: CheckOutcome) -> None:
    page.heading(f"{outcome.check_id} {outcome.status}: {op.operator} of {op.provider}")
    if outcome.failure is None:
        page.text(outcome.reason)
    else:
        page.text(Mark(outcome.failure.message, "bad"))
        page.pairs([("case", outcome.failure.case or "none"), ("fix", outcome.failure.fix)])
        if outcome.failure.script:
            page.text(_ALONE[outcome.failure.alone])
            page.code(indent(outcome.failure.script.rstrip(), "    "))
    echoes = [other.check_id for other in op.outcomes if other.echo_of == outcome.check_id]
    if echoes:
        page.text(f"probably for the same reason: {' '.join(echoes)}")
    page.text(Mark(f"more: operad explain {outcome.red_id or outcome.check_id}", "quiet"))

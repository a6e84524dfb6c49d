"""One round of checks: the operators that the command line asks for, each in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal, final

import msgspec

from operad import config, registry
from operad_check.commands.check.jobs import check_one, fails_alone, plan_one, write_one
from operad_check.commands.check.last_run import LastRun
from operad_check.commands.check.library import Library
from operad_check.commands.check.records import CheckedOperator, CheckOutcome, CheckRun
from operad_check.commands.check.source import Source
from operad_check.commands.check.workers import Check, Found, checked, shown
from operad_check.plan.profile import profile_of
from operad_check.reporting.outcome import OperatorReport, ended

_PROGRAM_LIMIT_S: Final = 60.0
"""Seconds that a program of a report may take."""
_IMPORT: Final = "import"
"""Stands for the red check of an operator that could not be loaded."""


@final
@dataclass(frozen=True, slots=True)
class Round:
    """Request of the command line.

    Attributes:
        names: Of the operators.
        source: The program that registers them, or the library of a function; None: they are installed.
        profile: How much to try.
        jobs: Processes at once; None: as many as threads, for several operators.
        limit_s: Seconds that one operator may take; None: what is usual for the profile.
        is_strict: Whether what is not proved, and not accepted, fails the run.
        kind: What is done with each operator: its checks, its plan of cases, or an example for its docstring.
        until_red: Whether an operator's checks end with the first that is red.
    """

    names: list[str]
    source: Source | Library | None
    profile: str | None
    jobs: int | None
    limit_s: float | None
    is_strict: bool
    kind: Literal["check", "explain", "write"]
    until_red: bool

    def run(self, last: LastRun, is_stale: Callable[[], bool] | None = None) -> CheckRun:
        """The result; Ctrl-C keeps what is known, unless somebody watches.

        Args:
            last: Says which checks run first, and remembers which are red now.
            is_stale: Ends the round once it says yes.
        """
        jobs = self.jobs or (config.settings().num_threads if len(self.names) > 1 else 1)
        work: Check = partial(check_one, source=self.source, red=last.red(), until_red=self.until_red)
        if self.kind != "check":
            work = write_one if self.kind == "write" else partial(plan_one, source=self.source)
        found: dict[str, Found] = {}
        ends = suppress(KeyboardInterrupt) if is_stale is None else nullcontext()
        with ends:
            for result in shown("checking", self.names, self.profile, jobs, work, self.limit_s, is_stale):
                found[result.name] = result
        run = self._result(found)
        if self.kind == "check":
            last.note(
                {op.operator: [*(one.check_id for one in op.red), *op.broken_ids] for op in run.operators}
            )
            last.note({name: [_IMPORT] for name in run.unusable})
        if not self.until_red:
            with suppress(KeyboardInterrupt):  # what was found is shown, with programs that were not tried
                run = _with_tried_programs(run, jobs)
        return run

    def _result(self, found: Mapping[str, Found]) -> CheckRun:
        operators: list[CheckedOperator] = []
        unusable: dict[str, str] = {}
        written: dict[str, str] = {}
        for name in self.names:
            result = found.get(name)
            if result is None:
                continue
            if isinstance(result.report, str):
                unusable[name] = result.report
                continue
            if result.report is not None and "written" in result.report:
                written[name] = result.report["written"]
                continue
            data = result.report or _cut_short(result, self.profile)
            operators.append(msgspec.convert({**data, "printed": result.printed}, CheckedOperator))
        left = [name for name in self.names if name not in found]
        passed = not unusable and not left and not any(op.red_ids or op.broken_ids for op in operators)
        if self.is_strict:
            passed &= all(one.is_accepted for op in operators for one in op.unproved)
        return CheckRun(passed, operators, unusable, left, written, self.kind == "explain", self.is_strict)


def _cut_short(found: Found, name: str | None) -> dict[str, Any]:
    """The report on an operator whose process ended; the end is its last outcome."""
    profile = profile_of(name)
    record = registry.find(found.name)
    distribution, version = (record.distribution, record.version) if record else ("", "")
    last = ended(found.end)
    report = OperatorReport(found.name, distribution, version, profile.name, profile.seed, [last])
    data: dict[str, Any] = msgspec.to_builtins(report.to_json())
    red = {outcome["red_id"] for outcome in found.told if outcome["red_id"]}
    return {
        **data,
        "outcomes": [*found.told, *data["outcomes"]],
        "red_ids": sorted({*data["red_ids"], *red}),
        "broken_ids": sorted(one["check_id"] for one in found.told if one["status"] == "broken"),
        "seconds": sum(outcome["seconds"] for outcome in found.told),
    }


def _with_tried_programs(run: CheckRun, jobs: int) -> CheckRun:
    """The run, with the result of each program that it would print when run by itself."""
    scripts = {
        cause.failure.script
        for op in run.operators
        for cause in op.causes
        if cause.failure is not None and cause.failure.script
    }
    alone = {
        found.name: found.report
        for found in checked(sorted(scripts), None, jobs, fails_alone, _PROGRAM_LIMIT_S)
        if isinstance(found.report, bool)
    }

    def tried(outcome: CheckOutcome) -> CheckOutcome:
        failure = outcome.failure
        if failure is None or failure.script not in alone:
            return outcome
        return replace(outcome, failure=replace(failure, alone=alone[failure.script]))

    operators = [replace(op, outcomes=[tried(outcome) for outcome in op.outcomes]) for op in run.operators]
    return replace(run, operators=operators)

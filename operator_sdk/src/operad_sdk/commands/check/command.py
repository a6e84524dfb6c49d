"""The command `operad check`."""

from __future__ import annotations

import platform
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec
import numpy as np

from operad import config, registry
from operad.cli import Listing, param_option, progress
from operad.cli.ops import installed_operators
from operad.errors import OperadError, OperatorNotFoundError
from operad.files import write_atomically
from operad_sdk.commands.check.mutation import MutationRun, mutation_run
from operad_sdk.commands.check.records import CheckedOperator, CheckOutcome, CheckRun
from operad_sdk.commands.check.source import OF_PUBLISHED, Source
from operad_sdk.commands.check.workers import Found, Told, checked
from operad_sdk.commands.extras import extra

if TYPE_CHECKING:
    from operad_sdk.check.plan.profile import Profile

_PROGRAM_LIMIT_S: Final = 60.0
"""Seconds that a program of a report may take."""


@click.command(cls=Listing, result=CheckRun)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--module",
    metavar="FILE",
    help="Import this file, or module, first: the NAMEs are operators that it registers.",
)
@param_option
@click.option("--plugin", metavar="DIST", help="Check every operator of this distribution.")
@click.option("--all", "is_all", is_flag=True, help="Check every installed operator.")
@click.option(
    "--profile",
    type=click.Choice(["dev", "ci", "nightly"]),
    help="How much to try; left out: what HYPOTHESIS_PROFILE names, else dev.",
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="Write one self-contained page for a browser as well.",
)
@click.option(
    "--jobs", metavar="N", type=click.IntRange(min=1), help="Processes at once; left out: as many as cores."
)
@click.option(
    "--limit",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="The longest that one operator may take; left out: 10 minutes, or more with a larger profile.",
)
@click.option(
    "--strict",
    "is_strict",
    is_flag=True,
    help="Fail for an exemption whose reason says nothing, a parameter tried at fewer values than it takes, "
    "a reference that is the operator's own code, and a kind of cases that is refused.",
)
@click.option(
    "--explain-cases",
    "explains",
    is_flag=True,
    help="Show the plan of cases, with a reason for each, and run no check.",
)
@click.option(
    "--write-example",
    "writes",
    is_flag=True,
    help="Write an example with its result into docstrings that have none, and run no check.",
)
@click.option(
    "--mutate",
    "mutants",
    type=click.IntRange(min=1),
    is_flag=False,
    flag_value=8,
    metavar="[N]",
    help="Change the operators' own source in N places each, one at a time, and say which changes no check "
    "notices; left out: 8.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="By which --mutate draws its changes.")
def check(
    names: tuple[str, ...],
    module: str | None,
    params: dict[str, str],
    plugin: str | None,
    is_all: bool,
    profile: str | None,
    html: Path | None,
    jobs: int | None,
    limit: float | None,
    is_strict: bool,
    explains: bool,
    writes: bool,
    mutants: int | None,
    seed: int,
) -> CheckRun | MutationRun:
    """Check whether operators keep their contract.

    Each failure comes with its smallest case, a suggestion, and a program that shows it. Give the
    NAMEs of operators, --plugin or --all. Each operator is checked in a process of its own. Ctrl-C
    keeps what is known. Exit code 1: something is wrong.

    With --module a NAME may be what a CustomOpProp was registered by; --param gives what it is made with.
    """
    if bool(names) + (plugin is not None) + is_all != 1:
        raise click.UsageError("give names of operators, or --plugin DIST, or --all")
    if (module is None and params) or (module is not None and (not names or writes)):
        raise click.UsageError(
            "--module goes with names of operators and without --write-example, --param with it"
        )
    source = None if module is None else Source.of(module, params)
    if html is not None and not html.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {html.parent}", param_hint="--html")
    with extra("check"):
        from operad_sdk.check.plan.profile import profile_of  # noqa: PLC0415 - likewise
        from operad_sdk.check.running.register import all_checks  # noqa: PLC0415 - an extra

        all_checks()  # what is missing or broken shows once, here, and not for every operator
    wanted = names or _operators(plugin)
    if mutants is not None:
        if module is not None or explains or writes or html is not None:
            raise click.UsageError(
                "--mutate goes with names, --plugin or --all, --profile, --jobs, --strict and --seed"
            )
        jobs = jobs or config.settings().num_threads
        return mutation_run(list(dict.fromkeys(wanted)), mutants, seed, jobs, profile, is_strict=is_strict)
    jobs = jobs or (config.settings().num_threads if len(wanted) > 1 else 1)
    found: dict[str, Found] = {}
    work = write_one if writes else partial(plan_one if explains else check_one, source=source)
    with progress("checking", len(wanted)) as advance, suppress(KeyboardInterrupt):
        for result in checked(wanted, profile, jobs, work, limit):
            found[result.name] = result
            advance(result.name)
    run = _run(list(dict.fromkeys(wanted)), found, profile_of(profile), explains, is_strict)
    with suppress(KeyboardInterrupt):  # what was found is shown, with programs that were not tried
        run = _with_tried_programs(run, jobs)
    if html is not None:
        from operad_sdk.check.reporting.html import page  # noqa: PLC0415 - an extra

        write_atomically(
            html.absolute(),
            page(msgspec.to_builtins(run), notes=[*run.notes(), *_circumstances(run)]).encode(),
        )
    return run


def _circumstances(run: CheckRun) -> list[tuple[str, str]]:
    """Command, date, seeds and versions with which a report was made."""
    seeds = ", ".join(sorted({str(op.seed) for op in run.operators}))
    return [
        ("command", " ".join(["operad", *sys.argv[1:]])),
        ("date", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("seed", seeds),
        ("python", f"{platform.python_version()} on {platform.machine()}, NumPy {np.__version__}"),
    ]


def check_one(name: str, profile: str | None, told: Told, source: Source | None = None) -> Any:
    """The report on one operator as plain data, or the reason why it cannot be checked."""
    from operad_sdk.check.running.register import all_checks  # noqa: PLC0415 - an extra
    from operad_sdk.check.running.runner import check_operator  # noqa: PLC0415 - likewise

    def tell(outcome: Any) -> None:
        told(msgspec.to_builtins(outcome.to_json()))

    if source is None:
        return _plain(lambda: check_operator(name, profile=profile, progress=tell))
    checks = [id for id in all_checks() if id not in OF_PUBLISHED]
    return _plain(lambda: check_operator(source.subject(name), checks=checks, profile=profile, progress=tell))


def write_one(name: str, profile: str | None, told: Told) -> Any:
    """Write an example into a docstring; return where it was written, or the reason why it was not."""
    from operad_sdk.check.running.example import write_example  # noqa: PLC0415 - an extra
    from operad_sdk.check.trials.subject import subject_of  # noqa: PLC0415 - likewise

    try:
        return {"written": write_example(subject_of(name))}
    except OperadError as error:
        return str(error)


def plan_one(name: str, profile: str | None, told: Told, source: Source | None = None) -> Any:
    """The case plan of one operator as plain data, or the reason why it has none."""
    from operad_sdk.check.running.runner import case_plan  # noqa: PLC0415 - an extra

    return _plain(lambda: case_plan(source.subject(name) if source else name, profile=profile))


def fails_alone(script: str, profile: str | None, told: Told) -> Any:
    """Return whether a program of a report fails in a process that has run nothing else."""
    try:
        exec(compile(script, "<program>", "exec"), {"__name__": "__main__"})  # noqa: S102 - made by the harness
    except Exception:  # noqa: BLE001 - that is what it is for
        return True
    return False


def _with_tried_programs(run: CheckRun, jobs: int) -> CheckRun:
    """The run, with the result of each program that it would print when run by itself."""
    scripts = {
        cause.failure.script for op in run.operators for cause in op.causes if cause.failure is not None
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


def _plain(report: Callable[[], Any]) -> Any:
    try:
        return msgspec.to_builtins(report().to_json())
    except OperadError as error:
        return str(error)
    except (Exception, SystemExit):  # noqa: BLE001 - the other operators are checked all the same
        return traceback.format_exc()


def _operators(plugin: str | None) -> Sequence[str]:
    if plugin is None:
        found = registry.list_operators(aliases=False)
        if not found:
            raise OperatorNotFoundError("no operator is installed, so there is nothing to check")
        return found
    found = [op.name for op in installed_operators(plugin=plugin)]
    if not found:
        raise OperatorNotFoundError(
            f"no installed distribution {plugin!r} provides an operator; operad plugins lists them"
        )
    return found


def _run(
    names: Sequence[str], found: Mapping[str, Found], profile: Profile, explains: bool, is_strict: bool
) -> CheckRun:
    operators: list[CheckedOperator] = []
    unusable: dict[str, str] = {}
    written: dict[str, str] = {}
    for name in names:
        result = found.get(name)
        if result is None:
            continue
        if isinstance(result.report, str):
            unusable[name] = result.report
            continue
        if result.report is not None and "written" in result.report:
            written[name] = result.report["written"]
            continue
        data = result.report or _cut_short(result, profile)
        operators.append(msgspec.convert({**data, "printed": result.printed}, CheckedOperator))
    left = [name for name in names if name not in found]
    passed = not unusable and not left and not any(op.red_ids for op in operators)
    if is_strict:
        passed &= all(one.is_accepted for op in operators for one in op.unproved)
    return CheckRun(passed, operators, unusable, left, written, explains, is_strict)


def _cut_short(found: Found, profile: Profile) -> dict[str, Any]:
    """The report on an operator whose process ended; the end is its last outcome."""
    from operad_sdk.check.reporting.outcome import ENDED, OperatorReport, Outcome, Status  # noqa: PLC0415 - an extra

    record = registry.find(found.name)
    distribution, version = (record.distribution, record.version) if record else ("", "")
    last = Outcome(ENDED, Status.FAILED, reason=found.end)
    report = OperatorReport(found.name, distribution, version, profile.name, profile.seed, [last])
    data: dict[str, Any] = msgspec.to_builtins(report.to_json())
    red = {outcome["red_id"] for outcome in found.told if outcome["red_id"]}
    return {
        **data,
        "outcomes": [*found.told, *data["outcomes"]],
        "red_ids": sorted({*data["red_ids"], *red}),
        "seconds": sum(outcome["seconds"] for outcome in found.told),
    }

"""The command `operad check`."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from operad import config, registry
from operad.cli import Listing, progress
from operad.cli.ops import installed_operators
from operad.errors import OperadError, OperatorNotFoundError
from operad.files import write_atomically
from operad_sdk.commands.check.records import CheckedOperator, CheckRun
from operad_sdk.commands.check.workers import Found, Told, checked
from operad_sdk.commands.extras import extra


@click.command(cls=Listing, result=CheckRun)
@click.argument("names", metavar="[NAME]...", nargs=-1)
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
    help="With several processes: the longest that one operator may take; left out: 10 minutes, or more "
    "with a larger profile.",
)
def check(
    names: tuple[str, ...],
    plugin: str | None,
    is_all: bool,
    profile: str | None,
    html: Path | None,
    jobs: int | None,
    limit: float | None,
) -> CheckRun:
    """Check whether operators keep their contract.

    Each failure comes with its smallest case, a suggestion, and a program that shows it. Give the
    NAMEs of operators, --plugin or --all. Exit code 1: something is wrong.
    """
    if bool(names) + (plugin is not None) + is_all != 1:
        raise click.UsageError("give names of operators, or --plugin DIST, or --all")
    if html is not None and not html.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {html.parent}", param_hint="--html")
    with extra("check"):
        from operad_sdk.check.register import all_checks  # noqa: PLC0415 - an extra

        all_checks()  # what is missing or broken shows once, here, and not for every operator
    wanted = names or _operators(plugin)
    jobs = jobs or (config.settings().num_threads if len(wanted) > 1 else 1)
    found: dict[str, Found] = {}
    with progress("checking", len(wanted)) as advance:
        for name, result in checked(wanted, profile, jobs, check_one, limit):
            found[name] = result
            advance(name)
    run = _run([(name, found[name]) for name in dict.fromkeys(wanted)])
    if html is not None:
        from operad_sdk.check.html import page  # noqa: PLC0415 - an extra

        write_atomically(html.absolute(), page(msgspec.to_builtins(run), notes=run.notes()).encode())
    return run


def check_one(name: str, profile: str | None, told: Told) -> Found:
    """The report on one operator as plain data, or why it cannot be checked."""
    from operad_sdk.check.runner import check_operator  # noqa: PLC0415 - an extra

    try:
        report = check_operator(name, profile=profile, progress=lambda outcome: told(outcome.check_id))
    except OperadError as error:
        return str(error)
    except (Exception, SystemExit):  # noqa: BLE001 - the other operators are checked all the same
        return traceback.format_exc()
    plain: Found = msgspec.to_builtins(report.to_json())
    return plain


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


def _run(found: Sequence[tuple[str, Found]]) -> CheckRun:
    operators = [msgspec.convert(data, CheckedOperator) for _, data in found if not isinstance(data, str)]
    unusable = {name: error for name, error in found if isinstance(error, str)}
    passed = not unusable and not any(op.red_ids for op in operators)
    return CheckRun(passed, operators, unusable)

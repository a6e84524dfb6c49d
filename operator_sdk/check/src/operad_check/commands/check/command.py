"""The command `operad check`."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import msgspec
from numpy import __version__ as numpy_version

from operad import config, registry
from operad.cli import Listing, complete_operators, complete_plugins, param_option
from operad.cli.page import page
from operad.errors import OperatorNotFoundError
from operad.files import write_atomically
from operad_check.commands.check.baseline import with_baseline
from operad_check.commands.check.last_run import LastRun
from operad_check.commands.check.library import LIBRARIES, Library
from operad_check.commands.check.mutation import MutationRun, mutation_run
from operad_check.commands.check.records import CheckRun
from operad_check.commands.check.round import Round
from operad_check.commands.check.source import Source
from operad_check.commands.check.watch import Files, WatchedRuns, folders_of, watched
from operad_check.commands.check.wheel import checked_into, refuse_beside
from operad_check.reporting.html import page as html_page
from operad_check.running.chosen import operators_of


def _library_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for name in reversed(LIBRARIES):
        option = click.option(
            f"--{name}",
            metavar="FUNCTION",
            help=f"Check a function of {name}: module:function, or an expression of the arguments of --line.",
        )
        command = option(command)
    return command


@click.command(cls=Listing, result=CheckRun)
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=complete_operators)
@click.option(
    "--module",
    metavar="FILE",
    help="Import this file, or module, first: the NAMEs are operators that it declares or registers.",
)
@param_option
@_library_options
@click.option(
    "--line", metavar="LINE", help="Shapes of a function's arguments and results: 'x:(N, D) -> y:(N)'."
)
@click.option("--gradient", metavar="FUNCTION", help="Gradient of the function of --numpy.")
@click.option(
    "--plugin",
    "distributions",
    metavar="DIST",
    multiple=True,
    shell_complete=complete_plugins,
    help="Check every operator of this distribution; repeat it for several.",
)
@click.option("--all", "is_all", is_flag=True, help="Check every installed operator.")
@click.option(
    "--profile",
    type=click.Choice(["dev", "ci", "nightly"]),
    help="How many examples to try; default: HYPOTHESIS_PROFILE, else dev.",
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="Also write a self-contained HTML page.",
)
@click.option(
    "--jobs", metavar="N", type=click.IntRange(min=1), help="Parallel processes; default: one per core."
)
@click.option(
    "--limit",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="Time limit per operator; default: 10 minutes, more with a larger profile.",
)
@click.option(
    "--strict",
    "is_strict",
    is_flag=True,
    help="Also fail for an exemption without a real reason, a parameter tried at too few values, "
    "a reference that is the operator's own code, and a kind of cases that is refused.",
)
@click.option(
    "--baseline",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Fail only for findings that this file does not list; it is created if missing.",
)
@click.option(
    "--fix",
    "fixes",
    is_flag=True,
    help="Offer to write declarations that are missing into the source: shows a diff and asks. Without a "
    "terminal it only shows the diff.",
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
    help="Mutation test: change each operator's source in N places, one at a time, and list changes that "
    "no check notices; without N: 8.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the changes of --mutate.")
@click.option("--first", "until_red", is_flag=True, help="Stop checking an operator at its first red check.")
@click.option(
    "--failed",
    "only_red",
    is_flag=True,
    help="Check only operators that failed last time: among those named, or all.",
)
@click.option(
    "--into-wheel",
    "wheel",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Check the operators of this wheel, without installing it, and write the report into it, where "
    "operad-index finds it.",
)
@click.option(
    "--watch",
    "watches",
    is_flag=True,
    help="Check again whenever the operators' source changes, each time up to the first red check; "
    "Ctrl-C ends.",
)
def check(
    names: tuple[str, ...],
    module: str | None,
    params: dict[str, str],
    jax: str | None,
    numpy: str | None,
    torch: str | None,
    line: str | None,
    gradient: str | None,
    distributions: tuple[str, ...],
    is_all: bool,
    profile: str | None,
    html: Path | None,
    jobs: int | None,
    limit: float | None,
    is_strict: bool,
    baseline: Path | None,
    fixes: bool,
    explains: bool,
    writes: bool,
    mutants: int | None,
    seed: int,
    until_red: bool,
    only_red: bool,
    wheel: Path | None,
    watches: bool,
) -> CheckRun | MutationRun | WatchedRuns:
    """Check whether operators keep their contract.

    Each failure comes with its smallest case, a suggestion, and a program that shows it. Give the
    NAMEs of operators, --plugin or --all. Each operator is checked in a process of its own. Ctrl-C
    keeps what is known. Exit code 1: something is wrong; 3: nothing is, but a check is broken, which is
    operad's own fault; 0: nothing is wrong, though a declaration may be missing (undeclared; 1 under
    --strict), or a figure is too hard to judge (hard).

    With --module a NAME may be what a CustomOpProp was registered by; --param gives what it is made with.

    With --torch, --jax or --numpy, and --line, a function of that library is checked; --param then gives
    further arguments of the call.
    """
    if wheel is not None:
        others = {
            "NAME": names,
            "--module": module,
            "--plugin": distributions,
            "--all": is_all,
            "--html": html,
        }
        refuse_beside({**others, "--watch": watches, "--mutate": mutants, "--line": line})
        options = [
            word
            for name, value in (("--profile", profile), ("--jobs", jobs))
            if value
            for word in (name, str(value))
        ]
        return checked_into(wheel, *options, *(["--strict"] if is_strict else []))
    library = _library({"jax": jax, "numpy": numpy, "torch": torch}, line, gradient, params)
    if library is not None:
        if names or module is not None or writes or watches or mutants is not None:
            raise click.UsageError(
                f"--{library.library} goes without NAMEs, --module, --write-example, --watch and --mutate"
            )
        names, params = (library.function,), {}
    chosen = bool(names) + bool(distributions) + is_all
    if chosen > 1 or (not chosen and not only_red):
        raise click.UsageError("give names of operators, or --plugin DIST, or --all")
    if (module is None and params) or (module is not None and (not names or writes)):
        raise click.UsageError(
            "--module goes with names of operators and without --write-example, --param with it"
        )
    if (until_red or only_red or watches) and (explains or writes or mutants is not None):
        raise click.UsageError(
            "--first, --failed and --watch go without --explain-cases, --write-example and --mutate"
        )
    if (baseline is not None or fixes) and (explains or writes or watches or mutants is not None):
        raise click.UsageError(
            "--baseline and --fix go without --explain-cases, --write-example, --watch and --mutate"
        )
    if watches and html is not None:
        raise click.UsageError("--watch goes without --html; write the page when all is green")
    source = library if module is None else Source.of(module, params)
    if html is not None and not html.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {html.parent}", param_hint="--html")
    wanted = list(dict.fromkeys(names or _operators(distributions)))
    if mutants is not None:
        if module is not None or explains or writes or html is not None:
            raise click.UsageError(
                "--mutate goes with names, --plugin or --all, --profile, --jobs, --strict and --seed"
            )
        jobs = jobs or config.settings().num_threads
        return mutation_run(wanted, mutants, seed, jobs, profile, is_strict=is_strict)
    last = LastRun("" if source is None else f"{source.folder}/{source.module}")
    spared = [name for name in wanted if name not in last.red()] if only_red else []
    round_ = Round(
        [name for name in wanted if name not in spared],
        source=source,
        profile=profile,
        jobs=jobs,
        limit_s=limit,
        is_strict=is_strict,
        kind="write" if writes else "explain" if explains else "check",
        until_red=until_red or watches,
    )
    if watches:
        folders = folders_of(round_.names, source if isinstance(source, Source) else None)
        if not folders:
            raise click.UsageError(f"--watch: no source was found of {', '.join(round_.names) or 'nothing'}")
        return watched(partial(round_.run, last), Files(folders), page())
    run = _with_source(replace(round_.run(last), spared=spared), baseline, fixes=fixes)
    if html is not None:
        write_atomically(
            html.absolute(),
            html_page(msgspec.to_builtins(run), notes=[*run.notes(), *_circumstances(run)]).encode(),
        )
    return run


def _with_source(run: CheckRun, baseline: Path | None, *, fixes: bool) -> CheckRun:
    """The run beside what is known of it, and with the declarations that may be written."""
    run = run if baseline is None else with_baseline(run, baseline)
    if not fixes:
        return run
    fix: Any = import_module("operad_check.commands.check.fix")  # libcst takes a quarter of a second
    return replace(run, fixes=fix.offered(run.operators))


def _library(
    functions: Mapping[str, str | None], line: str | None, gradient: str | None, params: Mapping[str, str]
) -> Library | None:
    """The function of a library that is asked for, if any."""
    given = {name: function for name, function in functions.items() if function is not None}
    if not given:
        if line is not None or gradient is not None:
            raise click.UsageError("--line and --gradient go with --torch, --jax or --numpy")
        return None
    if len(given) > 1 or line is None:
        raise click.UsageError(
            "give one of --torch, --jax and --numpy, and --line, such as --line 'x:(N, D) -> y:(N)'"
        )
    ((name, function),) = given.items()
    return Library(name, function, line, params, gradient or "")


def _circumstances(run: CheckRun) -> list[tuple[str, str]]:
    """Command, date, seeds and versions with which a report was made."""
    seeds = ", ".join(sorted({str(op.seed) for op in run.operators}))
    return [
        ("command", " ".join(["operad", *sys.argv[1:]])),
        ("date", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("seed", seeds),
        ("python", f"{platform.python_version()} on {platform.machine()}, NumPy {numpy_version}"),
    ]


def _operators(distributions: Sequence[str]) -> Sequence[str]:
    if not distributions:
        found = registry.list_operators(aliases=False)
        if not found:
            raise OperatorNotFoundError("no operator is installed, so there is nothing to check")
        return found
    by_distribution = {name: operators_of(name) for name in distributions}
    for name, found in by_distribution.items():
        if not found:
            raise OperatorNotFoundError(
                f"no installed distribution {name!r} provides an operator or a kernel; operad plugins "
                "lists them"
            )
    return [name for found in by_distribution.values() for name in found]

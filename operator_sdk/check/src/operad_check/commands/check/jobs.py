"""Work of the processes that `operad check` starts, each for one operator or one program."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from operad.errors import OperadError
from operad_check.commands.check.library import Library
from operad_check.commands.check.source import Source
from operad_check.commands.check.workers import Told
from operad_check.register import all_checks
from operad_check.running.example import write_example
from operad_check.running.runner import broken_report, case_plan, check_operator
from operad_check.trials.cause import authors_line
from operad_check.trials.subject import subject_of


def check_one(
    name: str,
    profile: str | None,
    told: Told,
    source: Source | Library | None = None,
    red: Mapping[str, Collection[str]] = MappingProxyType({}),
    until_red: bool = False,
) -> Any:
    """The report on one operator as plain data, or the reason why it cannot be checked.

    Args:
        name: Of the operator.
        profile: How much to try.
        told: Called with each outcome.
        source: The program that registers it, or the library that it belongs to; None: it is installed.
        red: Ids of checks that were red the last time, by operator.
        until_red: Whether to stop at the first red check.
    """

    def tell(outcome: Any) -> None:
        told(msgspec.to_builtins(outcome.to_json()))

    try:
        checks = list(all_checks()) if source is None else source.checks()
    except OperadError as error:
        return str(error)
    found = _plain(
        lambda: check_operator(
            name if source is None else source.subject(name),
            checks=checks,
            profile=profile,
            progress=tell,
            red=red.get(name, ()),
            until_red=until_red,
        ),
        name,
    )
    if not isinstance(found, dict):
        return found
    return {**found, "left": len(checks) - len(found["outcomes"]), "source": _file_of(name, source)}


def _file_of(name: str, source: Source | Library | None) -> str:
    """File of the operator's class; empty where there is none."""
    cls = (subject_of(name) if source is None else source.subject(name)).cls
    return getattr(sys.modules.get(cls.__module__), "__file__", None) or ""


def write_one(name: str, profile: str | None, told: Told) -> Any:
    """Write an example into a docstring; return where it was written, or the reason why it was not."""
    try:
        return {"written": write_example(subject_of(name))}
    except OperadError as error:
        return str(error)


def plan_one(name: str, profile: str | None, told: Told, source: Source | Library | None = None) -> Any:
    """The case plan of one operator as plain data, or the reason why it has none."""
    return _plain(lambda: case_plan(source.subject(name) if source else name, profile=profile), name)


def fails_alone(script: str, profile: str | None, told: Told) -> Any:
    """Return whether a program of a report fails in a process that has run nothing else."""
    try:
        exec(compile(script, "<program>", "exec"), {"__name__": "__main__"})  # noqa: S102 - made by the harness
    except ModuleNotFoundError:
        return None  # it was written for a folder that this process does not know
    except Exception:  # noqa: BLE001 - that is what it is for
        return True
    return False


def _plain(report: Callable[[], Any], name: str) -> Any:
    try:
        return msgspec.to_builtins(report().to_json())
    except OperadError as error:
        return str(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the other operators are checked all the same
        if authors_line(error) is None:
            return msgspec.to_builtins(broken_report(name, error).to_json())
        return traceback.format_exc()

"""The verdict of the checks on one changed source, in a process that has not imported the operator yet."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from types import ModuleType
from typing import Any, Final, final

from operad.files import write_atomically
from operad.system import limit_processor_time
from operad_check.plan.profile import profile_of
from operad_check.reporting.outcome import Status
from operad_check.running.order import FIRST
from operad_check.running.register import all_checks, find_check
from operad_check.running.runner import run_check
from operad_check.running.session import Session
from operad_check.trials.subject import subject_of

_LEFT_OUT: Final = frozenset(("S101", "S107", "S111", "X804", "R509", "R507"))
"""Checks of what is documented and of the checks, and those that need processes or state of their own."""


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict on a mutant.

    Attributes:
        killed_by: Id of the check that is red, or what else shows: `import`, `strict`; "": nothing does.
        message: What it says, or what broke.
        cpu_s: Processor time.
        broken: Id of a check that broke where none is red, which is operad's own fault; "": none did.
    """

    killed_by: str
    message: str
    cpu_s: float
    broken: str = ""


def judged(
    name: str,
    module: str,
    source: str | None,
    cpu_limit_s: float,
    profile: str | None = None,
    *,
    is_strict: bool = False,
) -> Verdict:
    """Check an operator with one module of its package replaced, up to the first red check.

    Args:
        name: Under which the operator is registered.
        module: The module; it has not been imported in this process.
        source: What it is replaced by; None: it is as it is.
        cpu_limit_s: Processor time after which the system ends the process.
        is_strict: Whether what `operad check --strict` fails on is red too.
    """
    limit_processor_time(round(cpu_limit_s))
    with TemporaryDirectory(prefix="operad-mutant-") as folder:
        if source is not None:
            path = Path(folder, *module.split(".")).with_suffix(".py")
            path.parent.mkdir(parents=True)
            write_atomically(path, source.encode())
            sys.meta_path.insert(0, _Replacing(module, path))
        try:
            session = Session(subject_of(name), profile_of(profile), shrinks=False)
        except Exception as error:  # noqa: BLE001 - what an import of a mutant may raise
            return Verdict("import", _short(error), process_time())
        broken = broken_words = ""
        for id in [*FIRST, *(id for id in all_checks() if id not in FIRST)]:
            if id in _LEFT_OUT:
                continue
            outcome = run_check(session, find_check(id))
            words = outcome.failure.message if outcome.failure is not None else outcome.reason
            words = " ".join(words.split())[:200]
            if outcome.status.is_red:
                return Verdict(outcome.red_id or id, words, process_time())
            if outcome.status is Status.BROKEN and not broken:
                broken, broken_words = id, words
        if is_strict and (open_ones := [one for one in session.unproved() if not one.is_accepted]):
            return Verdict("strict", f"not proved: {open_ones[0].what}"[:200], process_time())
    return Verdict("", broken_words, process_time(), broken)


@final
class _Replacing(PathFinder):
    """Finds one module in another file."""

    def __init__(self, module: str, path: Path) -> None:
        self._module = module
        self._path = path

    def find_spec(  # type: ignore[override]  # of an instance
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's specification; None for any other module."""
        if fullname != self._module:
            return None
        usual = PathFinder.find_spec(fullname, path, target)
        folders: Any = usual.submodule_search_locations if usual is not None else None
        return importlib.util.spec_from_file_location(
            fullname, self._path, submodule_search_locations=folders and list(folders)
        )


def _short(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]

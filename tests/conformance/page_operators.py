"""Operators that a page declares, tried as its reader tries them.

`python -m tests.conformance.page_operators [--strict] PAGE`, in a folder of its own, writes the page's
modules there and imports them. Each operator that they declare is registered by one line, called on arrays,
and checked on a few cases; with `--strict`, `operad check --module FILE --strict` checks it instead. It
prints one JSON object: what is wrong, by file and operator.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import warnings
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import operad as od
from operad.cli import declared_in
from operad.operator import OperatorProperty
from operad_check import Profile
from operad_check.cases.kinds import ORDINARY
from operad_check.commands.check.source import Source
from operad_check.running.session import Session
from operad_check.trials.subject import subject_of
from tests.conformance.few_checks import red
from tests.conformance.page_modules import write_modules
from tests.devices.operators import computed


def declared(file: Path) -> dict[str, type[OperatorProperty]]:
    """Operators by name that a module of the page declares."""
    source = Source.of(str(file), {})
    sys.path.insert(0, source.folder)
    return {name: cls for name, (_, cls) in declared_in(importlib.import_module(source.module)).items()}


def wrong(cls: type[OperatorProperty]) -> Iterator[str]:
    """Faults of an operator that is registered, called and checked on a few cases."""
    od.registry.register(cls, override=True)  # another of the page's files may have that name
    case = next(iter(Session(subject_of(cls), Profile("page", examples=1, seconds=10.0)).pool(ORDINARY)))
    computed(cls.name, case, od.cpu())
    yield from red(cls)


def wrong_strictly(file: Path, names: Collection[str]) -> dict[str, list[str]]:
    """Ids of red checks, and what is not proved, by operator, of `operad check --strict`."""
    command = [sys.executable, "-m", "operad", "check", *names, "--module", str(file), "--strict"]
    done = subprocess.run(
        [*command, "--profile", "dev", "--jobs", "1", "--json"], capture_output=True, text=True, check=False
    )
    if not done.stdout:
        raise RuntimeError(done.stderr)
    found = {each["operator"]: [*_faults(each)] for each in json.loads(done.stdout)["operators"]}
    return {name: found.get(name, ["not checked"]) for name in names}


def _faults(checked: Any) -> Iterator[str]:
    yield from sorted(id for verdict in ("red", "undeclared", "broken") for id in checked[f"{verdict}_ids"])
    yield from (f"{one['name']}: {one['what']}" for one in checked["unproved"] if not one["is_accepted"])


def main(words: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """Faults of a page's operators, by file and name."""
    is_strict = words[0] == "--strict"
    (page,) = words[is_strict:]
    found = {}
    for file in write_modules(Path(page), Path.cwd()):
        operators = declared(file)
        if is_strict:
            found[file.name] = wrong_strictly(file, operators)
        else:
            found[file.name] = {name: [*wrong(cls)] for name, cls in operators.items()}
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    json.dump(main(sys.argv[1:]), sys.stdout)

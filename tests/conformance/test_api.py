"""Every public name of MXNet 1.9.1 is here, or the table says why not; `recorded/api.json` has them."""

from __future__ import annotations

import inspect
import subprocess
import sys
from itertools import chain
from typing import NoReturn

import pytest

from operad.errors import UnsupportedError
from tests.conformance.recorded import api

MODULES = api.modules()
ROWS = api.rows()


@pytest.mark.walk
@pytest.mark.parametrize("module", MODULES)
def test_every_name_is_here_and_takes_the_same_calls_or_the_table_says_why_not(module: str) -> None:
    missed = [found for found in api.findings(module) if not any(row.covers(found) for row in ROWS)]
    assert missed == []


def test_the_table_lists_nothing_that_is_here() -> None:
    found = list(chain.from_iterable(map(api.findings, MODULES)))
    names = [(row.kind, name) for row in ROWS for name in row.names]
    stale = [
        name for kind, name in names if not any(api.Row(kind, "", [name]).covers(each) for each in found)
    ]
    assert stale == []


def test_names_can_be_imported_from_modules_of_the_same_name_and_by_star() -> None:
    lines = []
    for module in filter(None, MODULES):
        absent = {found.name for found in api.findings(module)}
        names = {name for name in api.names(module) if f"{module}.{name}" not in absent}
        if module not in absent:
            lines += [
                f"import operad.{module}",
                *(f"from operad.{module} import {name}" for name in sorted(names)),
            ]
            lines += [
                "found = {}",
                f"exec('from operad.{module} import *', found)",
                f"assert not (missing := {names} - found.keys()), ({module!r}, missing)",
            ]
    assert "from operad.ndarray.contrib import foreach" in lines
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_missing_name_and_another_signature_are_seen() -> None:
    def ours(a: int, b: int = 2, *, c: int = 3) -> None: ...

    own = inspect.signature(ours)
    assert api.difference("a, b=2", own) == ""

    def refused(*_: object, **__: object) -> NoReturn:
        raise UnsupportedError("never")

    assert api.difference("a, b=2", inspect.signature(refused)) == ""
    for recorded in ("b, a=2", "a, b=3", "a, b=2, d=4", "a, b=2, *args", "a, b=2, **kwargs"):
        assert api.difference(recorded, own)

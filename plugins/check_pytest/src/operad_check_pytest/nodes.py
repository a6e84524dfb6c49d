"""A table as pytest sees it: `operad-check.toml::median::M409`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cached_property
from typing import Any, final

import pytest

from operad.errors import OperadError
from operad_check.foreign.table import Entry, read_table
from operad_check.running.register import CheckFunction
from operad_check.running.runner import run_check
from operad_check.running.session import Session
from operad_check.running.suite import note_unproved, report
from operad_check_pytest.plugin import MARKER


@final
class TableFile(pytest.File):
    """A table's file, whose folder modules are looked for in, as that of a file of tests is."""

    def collect(self) -> Iterator[FunctionOfTable]:
        """The functions."""
        folder = str(self.path.parent)
        if folder not in sys.path:
            sys.path.insert(0, folder)
        try:
            entries = read_table(self.path)
        except OperadError as error:
            raise self.CollectError(str(error)) from error
        for entry in entries:
            yield FunctionOfTable.from_parent(self, name=entry.name, entry=entry)


@final
class FunctionOfTable(pytest.Collector):
    """A function of a table, whose checks share their cases.

    Args:
        entry: What the table says.
        rest: For pytest.
    """

    def __init__(self, *, entry: Entry, **rest: Any) -> None:
        super().__init__(**rest)
        self._entry = entry

    def collect(self) -> Iterator[CheckOfFunction]:
        """One test for each check."""
        try:
            _, checks = self._checked
        except OperadError as error:
            raise self.CollectError(str(error)) from error
        for check in checks:
            yield CheckOfFunction.from_parent(self, name=check.id, check=check, is_last=check is checks[-1])

    @cached_property
    def _checked(self) -> Any:
        return self._entry.checked()

    @cached_property
    def cases(self) -> Session:
        """Cases of the function."""
        return Session(self._checked[0], self._entry.profile)


@final
class CheckOfFunction(pytest.Item):
    """One check of one function.

    Args:
        check: The check.
        is_last: Whether it is the function's last, which has among its properties what is not proved.
        rest: For pytest.
    """

    def __init__(self, *, check: CheckFunction, is_last: bool, **rest: Any) -> None:
        super().__init__(**rest)
        self._check, self._is_last = check, is_last
        self.add_marker(MARKER)

    def runtest(self) -> None:
        """Run the check."""
        parent: Any = self.parent
        cases: Session = parent.cases
        if self._is_last:
            note_unproved(cases, lambda *pair: self.user_properties.append(pair), is_strict=False)
        report(cases.subject, run_check(cases, self._check))

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """File and name, for the head of a failure."""
        parent: Any = self.parent
        return self.path, None, f"{parent.name}::{self.name}"

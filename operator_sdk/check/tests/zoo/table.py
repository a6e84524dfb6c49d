"""All inhabitants of the zoo, and those of them that the fast tests look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

import pytest

from operad_check.register import entries
from operator_sdk.check.tests.zoo.fault import Fault

_SHARED = ("bases", "draws", "forwards", "long_form")
_WITHOUT_FAULTS = (*_SHARED, "conftest", "fault", "folders", "plain_gradient_check", "table")
_MODULES = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))

ZOO: list[Fault] = [
    fault
    for name in _MODULES
    if name not in _WITHOUT_FAULTS
    for fault in import_module(f"operator_sdk.check.tests.zoo.{name}").ZOO
]


def of_groups(letters: str, *modules: str) -> list[Fault]:
    """The faults of some groups of checks in some modules."""
    found = [import_module(f"operator_sdk.check.tests.zoo.{name}").ZOO for name in modules]
    return [fault for faults in found for fault in faults if fault.id[0] in letters]


def with_fewer_than_two(ids: Iterable[str], faults: list[Fault]) -> list[str]:
    """The checks that have not two faults among these and the example of the check itself."""
    shown = Counter(id for id, entry in entries().items() if "Within" in entry.words)
    found = shown + Counter(fault.id for fault in faults)
    return [id for id in ids if found[id] < 2]


COSTLY = ("M410", "M411", "R508")
"""Checks whose first fault takes seconds too, some of them twenty."""


def each_fault(faults: list[Fault]) -> pytest.MarkDecorator:
    """Parametrizes a test by faults: the first of every check is fast, the others are slow."""
    first = {fault.id: fault for fault in reversed(faults)}

    def marks(fault: Fault) -> tuple[pytest.MarkDecorator, ...]:
        if first[fault.id] is not fault:
            return (pytest.mark.slow,)
        return (pytest.mark.more,) if fault.id in COSTLY else ()

    cases = [pytest.param(fault, id=fault.title, marks=marks(fault)) for fault in faults]
    return pytest.mark.parametrize("fault", cases)

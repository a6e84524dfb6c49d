"""All inhabitants of the zoo, and those of them that the fast tests look at."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from operator_sdk.tests.zoo.fault import Fault

_MODULES = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))

ZOO: list[Fault] = [
    fault
    for name in _MODULES
    if name not in ("conftest", "fault", "folders", "long_form", "plain_gradient_check", "table")
    for fault in import_module(f"operator_sdk.tests.zoo.{name}").ZOO
]


def of_groups(letters: str, *modules: str) -> list[Fault]:
    """The faults of some groups of checks in some modules."""
    found = [import_module(f"operator_sdk.tests.zoo.{name}").ZOO for name in modules]
    return [fault for faults in found for fault in faults if fault.id[0] in letters]


def each_fault(faults: list[Fault]) -> pytest.MarkDecorator:
    """Parametrizes a test by faults: the first of every check is fast, the others are slow."""
    first = {fault.id: fault for fault in reversed(faults)}
    cases = [
        pytest.param(fault, id=fault.title, marks=() if first[fault.id] is fault else pytest.mark.slow)
        for fault in faults
    ]
    return pytest.mark.parametrize("fault", cases)

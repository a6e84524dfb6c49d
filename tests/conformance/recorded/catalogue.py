"""Every case there is, by operator. Needs NumPy alone, of any version."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from tests.conformance.recorded.case import Case
from tests.conformance.recorded.operators import PLUGIN_OF

_CASES = Path(__file__).with_name("cases")


@cache
def catalogue() -> Mapping[str, tuple[Case, ...]]:
    """The cases of every recorded operator, in the order of `operators.py`.

    Raises:
        ValueError: Two cases have one id, or a case is for an operator that is not recorded.
    """
    found: dict[str, list[Case]] = {op: [] for op in PLUGIN_OF}
    seen: set[str] = set()
    for module in sorted(path.stem for path in _CASES.glob("*.py") if path.stem != "__init__"):
        cases = import_module(f"tests.conformance.recorded.cases.{module}")
        for case in getattr(cases, "CASES", ()):  # some only hold what others share
            if case.op not in found:
                raise ValueError(f"cases/{module}.py: {case.op!r} is not listed in operators.py")
            if case.id in seen:
                raise ValueError(f"cases/{module}.py: two cases are called {case.id!r}")
            seen.add(case.id)
            found[case.op].append(case)
    return {op: tuple(cases) for op, cases in found.items()}


def by_id() -> Mapping[str, Case]:
    """Every case by its id."""
    return {case.id: case for cases in catalogue().values() for case in cases}

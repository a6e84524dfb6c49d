"""Check of what is deprecated: that users have a way out, and that the end is still to come."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from operad import registry
from operad.errors import OperadError
from operad.operator import OperatorProperty, Param
from operad_sdk.check.running.register import Evidence, check
from operad_sdk.check.trials.subject import Subject
from operad_sdk.check.trials.violation import Violation

_FORM: Final = "expected a version of the package, such as '0.5'"


@check("S114")
def deprecations(subject: Subject) -> Evidence:
    """Check versions, successors, and that an old name of the operator leads to it."""
    cls = subject.cls
    found = 0
    for what, until in _ends(cls):
        _expect_to_come(subject, what, until)
        found += 1
    if cls.deprecated is not None and (use := cls.deprecated.use) and registry.find(use) is None:
        raise Violation(f"the operator is deprecated for {use!r}, which no installed package provides")
    for name, declared in cls.params.items():
        if declared.deprecated is not None:
            _expect_way_out(cls.params, name, declared)
    for old in cls.old_names if subject.is_registered else ():
        if _found(old) is not cls:
            raise Violation(f"{old!r} is declared to be an old name of the operator, and does not lead to it")
    return found or None


def _ends(cls: type[OperatorProperty]) -> Iterator[tuple[str, str]]:
    """Words for each thing that is deprecated, and the version that ends it."""
    if cls.deprecated is not None:
        yield "the operator", cls.deprecated.until
    yield from ((f"the old name {old!r}", until) for old, until in cls.old_names.items())
    for name, declared in cls.params.items():
        if declared.deprecated is not None:
            yield f"parameter {name!r}", declared.deprecated.until
        yield from ((f"the old name {old!r} of {name!r}", until) for old, until in declared.old_names.items())


def _expect_to_come(subject: Subject, what: str, until: str) -> None:
    if not _numbers(until):
        raise Violation(f"{what} ends with {until!r}; {_FORM}")
    if subject.version and _numbers(subject.version) >= _numbers(until):
        raise Violation(
            f"{what} was to end with {until}, and {subject.distribution} is {subject.version}",
            fix="Take it out, or declare a later version and tell the users.",
        )


def _numbers(version: str) -> tuple[int, ...]:
    """Numbers that a version begins with: (0, 5) for 0.5, 0.5.0 and 0.5rc1; none for other text."""
    found = re.match(r"\d+(\.\d+)*", version)
    numbers = [int(part) for part in found[0].split(".")] if found else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _expect_way_out(params: Any, name: str, declared: Param) -> None:
    use = declared.deprecated.use if declared.deprecated is not None else ""
    if declared.is_required:
        raise Violation(f"parameter {name!r} is deprecated and required, so no call can do without it")
    if use and (use not in params or params[use].deprecated is not None):
        raise Violation(f"parameter {name!r} is deprecated for {use!r}, which is no parameter that stays")


def _found(name: str) -> type[OperatorProperty] | None:
    try:
        return registry.get(name)
    except OperadError:
        return None

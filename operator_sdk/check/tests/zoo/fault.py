"""One inhabitant of the zoo: an operator that is wrong in one way, or one that is right."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, final

from operad import registry
from operad_check.reporting.outcome import OperatorReport
from operad_sdk.contract import contract_of


@final
@dataclass(frozen=True, slots=True)
class Fault:
    """An operator that is wrong in one way.

    Attributes:
        checks: The check that must be red, or a letter alone: any check of that group, or of another one;
            then, after spaces, other checks that are red because of the same mistake.
        operator: A property class.
        words: What is wrong.
        registered_as: The name that it has in the registry while it is checked; empty: none.
        report: Where such a fault was reported of another library's operator; empty: nowhere.
    """

    checks: str
    operator: Any
    words: str
    registered_as: str = ""
    report: str = ""

    @property
    def id(self) -> str:
        """The check that must be red, or the letter of its group."""
        return self.checks.split()[0]

    @property
    def also(self) -> tuple[str, ...]:
        """Other checks that are red because of the same mistake."""
        return tuple(self.checks.split()[1:])

    @contextmanager
    def registered(self) -> Iterator[Any]:
        """What to check: the operator, or the name that it has in the registry for the time being."""
        if not self.registered_as:
            yield self.operator
            return
        registry.register(self.operator, self.registered_as)
        try:
            yield self.registered_as
        finally:
            registry.unregister(self.registered_as)

    @property
    def title(self) -> str:
        """For test ids."""
        return f"{self.id}-{self.operator.name}"


def causes(report: OperatorReport) -> set[str]:
    """The ids that are red and that no other red check explains."""
    return {outcome.red_id for outcome in report.outcomes if outcome.red_id and not outcome.echo_of}


@final
@dataclass(frozen=True, slots=True)
class Right:
    """An operator that is right, though a check might think otherwise.

    Attributes:
        operator: A property class.
        words: What is unusual about it.
    """

    operator: Any
    words: str

    @property
    def title(self) -> str:
        """For test ids."""
        name: str = self.operator.name
        return name


def without_gradients(faults: list[Fault]) -> list[Fault]:
    """The faults, of which those that have no gradient say that none is meant.

    Their faults are elsewhere, and a gradient that is missing would be a second one.
    """
    for fault in faults:
        cls = fault.operator
        if not cls.has_gradient:
            declared = replace(contract_of(cls), no_numeric_gradient="the fault is elsewhere")
            cls.contract = declared
    return faults

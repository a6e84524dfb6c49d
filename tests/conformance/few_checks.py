"""An operator's contract on a few cases, by the checks that are red first."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from operad.operator import OperatorProperty
from operad_sdk.check import Profile, verify
from operad_sdk.check.cases.kinds import CaseKind
from operad_sdk.check.running.register import find_check
from operad_sdk.check.running.session import Session
from operad_sdk.check.trials.case import Case
from operad_sdk.check.trials.subject import subject_of
from operad_sdk.check.trials.violation import Unavailable, Violation

CHECKS: Final = (
    "F201", "F213", "F202", "F203", "F210", "F211", "F219", "B301", "B302", "B305", "B306", "B307", "B313",
    "M403", "M404", "M407", "D602",
)  # fmt: skip
FEW: Final = Profile("few", examples=3, seconds=1.0)


def red(operator: str | type[OperatorProperty]) -> Iterator[str]:
    """Messages of the checks that fail, the operator's own word on expected failures heeded."""
    subject = subject_of(operator)
    session = Session(subject, FEW)

    @cache
    def cases(kind: CaseKind) -> list[Case]:
        found: list[Case] = []
        for goal in session.plan.of(kind):
            if goal.is_drawn:
                session.examine(goal, found.append, shrink=False)
        return found

    for check in map(find_check, CHECKS):
        drawn = cases(check.kinds[0])
        groups = [drawn] if check.pooled else [[case] for case in drawn]
        try:
            for group in groups if drawn else ():
                verify(check.id, operator, *group)
        except Unavailable:
            continue
        except Violation as error:
            if check.id not in subject.contract.expected_failures:
                yield str(error)

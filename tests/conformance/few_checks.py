"""An operator's contract on a few cases, by the checks that are red first.

`python -m tests.conformance.few_checks NAME ...` prints what is wrong, and a line for all. The exit status
is 1 where something is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from operad.operator import OperatorProperty
from operad_check import Profile, verify
from operad_check.cases.kinds import CaseKind
from operad_check.running.register import find_check
from operad_check.running.session import Session
from operad_check.trials.case import Case
from operad_check.trials.subject import subject_of
from operad_check.trials.violation import Unavailable, Violation

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


def main(names: Sequence[str]) -> int:
    """Check operators by name."""
    wrong = 0
    for name in names:
        found = [*red(name)]
        wrong += bool(found)
        sys.stdout.write(f"{name}: {'; '.join(found) or 'right'}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(names) - wrong} of {len(names)} operators pass {len(CHECKS)} checks\n")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

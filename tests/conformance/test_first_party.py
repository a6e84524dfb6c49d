"""Every operator keeps its contract on a few cases, by the checks that are red first.

`make test-slow` runs all checks of all operators on all cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

import pytest

from operad import registry
from operad_sdk.check import Profile, contract_suite, verify
from operad_sdk.check.cases.kinds import CaseKind
from operad_sdk.check.running.register import find_check
from operad_sdk.check.running.session import Session
from operad_sdk.check.trials.case import Case
from operad_sdk.check.trials.subject import subject_of
from operad_sdk.check.trials.violation import Unavailable, Violation

OPERATORS: Final = sorted(
    record.name
    for record in registry.operators().values()
    if not record.is_alias and record.distribution.startswith("operad-")
    # Programs say what these compute, and the tests of their plugins check that.
    if record.name not in ("Custom", "_cond", "_foreach", "_while_loop")
)
CHECKS: Final = (
    "F201", "F213", "F202", "F203", "F210", "F211", "F219", "B301", "B302", "B305", "B306", "B307", "B313",
    "M403", "M404", "M407", "D602",
)  # fmt: skip
FEW: Final = Profile("few", examples=4, seconds=1.0)


def red(name: str) -> Iterator[str]:
    """Messages of the checks that fail, the operator's own word on expected failures heeded."""
    subject = subject_of(name)
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
                verify(check.id, name, *group)
        except Unavailable:
            continue
        except Violation as error:
            if check.id not in subject.contract.expected_failures:
                yield str(error)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of undefined results
@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_keeps_its_contract_on_a_few_cases(name: str) -> None:
    assert list(red(name)) == []


test_first_party_operators_keep_their_contract = pytest.mark.more(
    contract_suite(
        ["tanh", "elemwise_mul", "smooth_l1", "FullyConnected", "Dropout", "Concat", "SoftmaxOutput"],
        profile=Profile("smoke", examples=40, seconds=0.1, least=20),
    )
)

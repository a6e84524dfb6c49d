"""What is raised while cases are drawn."""

from __future__ import annotations

import pytest

from operad_check.cases.kinds import SMOOTH
from operad_check.plan.profile import Profile
from operad_check.running.session import Session
from operad_check.running.shrink import smallest
from operad_check.trials.subject import subject_of

FEW = Profile("few", examples=4, seconds=5.0)


class _Alarm:
    """The time-out of a test: it comes once, in the midst of a case, and has nothing to do with that."""

    def __init__(self):
        self.calls = 0

    def __call__(self, case):
        self.calls += 1
        if self.calls == 1:
            pytest.fail("Timeout")
        return False


@pytest.mark.parametrize("shrink", [False, True])
def test_the_time_out_of_a_test_is_raised_as_it_came(shrink):
    session = Session(subject_of("tanh"), FEW)
    goal = session.goal_of(session.pool(SMOOTH)[-1])
    with pytest.raises(pytest.fail.Exception, match="Timeout"):
        session.examine(goal, _Alarm(), shrink=shrink)


def test_a_time_out_is_raised_where_a_case_is_made_smaller():
    session = Session(subject_of("tanh"), FEW)
    case = session.pool(SMOOTH)[-1]
    with pytest.raises(pytest.fail.Exception, match="Timeout"):
        smallest(session, session.goal_of(case), case, _Alarm())


def test_a_verdict_that_changes_ends_the_search_for_a_smaller_case():
    session = Session(subject_of("tanh"), FEW)
    case = session.pool(SMOOTH)[-1]
    verdicts = iter([True])
    assert smallest(session, session.goal_of(case), case, lambda _: next(verdicts, False)).size <= case.size


def test_trials_of_a_case_share_what_is_inferred_and_nothing_that_has_run():
    session = Session(subject_of("tanh"), FEW)
    case = session.pool(SMOOTH)[-1]
    one, other = session.trial(case), session.trial(case)
    assert one.prop is other.prop
    assert one.operator is not other.operator
    one.in_shapes.clear()
    one.result.outputs[0][...] = 0
    assert other.in_shapes == [array.shape for array in case.inputs.values()]
    assert other.result.outputs[0].any()

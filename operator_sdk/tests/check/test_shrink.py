from __future__ import annotations

import numpy as np

from operad_sdk import binary
from operad_sdk.check.kinds import ORDINARY
from operad_sdk.check.profile import Profile
from operad_sdk.check.session import Session
from operad_sdk.check.shrink import smallest
from operad_sdk.check.subject import subject_of


@binary("shrink_add")
def add(lhs, rhs):
    """Sum."""
    return lhs + rhs


def smallest_with(fails):
    session = Session(subject_of(add), Profile("test", 60, 9.0))
    first = next(case for case in session.pool(ORDINARY) if fails(case))
    return smallest(session, ORDINARY, first, fails)


def test_axes_become_as_few_and_short_as_the_failure_allows():
    case = smallest_with(lambda case: case.inputs["lhs"].size >= 6)
    assert case.inputs["lhs"].size in (6, 8)
    assert case.inputs["lhs"].shape == case.inputs["rhs"].shape


def test_a_failure_whatever_the_case_gives_the_smallest_case_there_is():
    case = smallest_with(lambda case: True)
    assert case.inputs["lhs"].shape == (1,)
    assert case.inputs["lhs"].tolist() == case.inputs["rhs"].tolist() == [1.0]
    assert (case.is_train, case.seed) == (True, 0)


def test_values_become_simple_where_the_failure_does_not_need_them():
    case = smallest_with(lambda case: bool((case.inputs["lhs"] < 0).any()))
    values = [case.inputs[name] for name in ("lhs", "rhs")]
    assert np.isin(np.concatenate([value.ravel() for value in values]), (1.0, 0.5, 2.0, 0.0, -1.0)).all()
    assert (values[1] == 1.0).all()


def test_a_failure_that_does_not_come_again_keeps_the_case_that_showed_it():
    session = Session(subject_of(add), Profile("test", 20, 9.0))
    first = session.pool(ORDINARY)[3]
    assert smallest(session, ORDINARY, first, lambda case: False) is first

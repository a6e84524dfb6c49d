from __future__ import annotations

import pytest

from operad_check.cases.kinds import ORDINARY
from operad_check.plan.companions import companions
from operad_check.plan.plan import CasePlan
from operad_check.plan.profile import Profile
from operad_check.running.session import Session
from operad_check.trials.subject import subject_of
from operad_sdk import Contract, OperatorProperty, ParamError, operator, param

LAYOUTS = ("NCW", "NCHW", "NCDHW")


@operator("plan_layout")
class InLayout(OperatorProperty):
    """A sum of `data` and how many axes a kernel has."""

    kernel = param("shape", ge=1, doc="Size of a window.")
    layout = param(str, None, doc="The letters of the axes, as many as there are.")
    gap = param("shape", (), ge=0, doc="Less than the kernel, along each axis.")
    spec = "data:(N) -> output:(N)"
    contract = Contract(params={"layout": [*[None] * 40, *LAYOUTS], "gap": [*[()] * 40, (1, 2, 3), (9,)]})

    def __init__(self, **params):
        super().__init__(**params)
        if self.layout is not None and len(self.layout) != len(self.kernel) + 2:
            raise ParamError(f"plan_layout: layout {self.layout} does not go with kernel {self.kernel}")
        if self.gap and (len(self.gap) != len(self.kernel) or any(map(int.__ge__, self.gap, self.kernel))):
            raise ParamError(f"plan_layout: gap {self.gap} is no less than kernel {self.kernel}")

    def forward(data, kernel):
        return data + len(kernel)


def test_values_that_planned_rows_do_not_reach_get_companions() -> None:
    found = list(companions(subject_of(InLayout), [{"kernel": (2, 2), "layout": "NCHW"}]))
    layouts = {each["layout"]: each["kernel"] for each in found if "layout" in each}
    assert {name: len(kernel) for name, kernel in layouts.items()} == {"NCW": 1, "NCDHW": 3}


def test_what_no_other_value_goes_with_gets_none_and_ends() -> None:
    found = list(companions(subject_of(InLayout), []))
    assert not any(each.get("gap") == (9,) for each in found), "candidates of kernel are below 9"


@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_drawn_each_listed_value_is_in_a_case(seed) -> None:
    pool = Session(subject_of(InLayout), Profile("few", examples=5, seconds=1.0, seed=seed)).pool(ORDINARY)
    assert set(LAYOUTS) <= {case.params.get("layout") for case in pool}


def test_the_plan_says_why() -> None:
    plan = CasePlan(subject_of(InLayout), Profile("few", examples=5, seconds=1.0))
    goals = {goal.name: goal.reason for goal in plan.goals}
    (reason,) = {reason for name, reason in goals.items() if "NCDHW" in name and "others alone" in reason}
    assert reason == "a value that the operator takes with some others alone"

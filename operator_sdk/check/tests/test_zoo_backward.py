"""Group B sees the faults it is for, each under its own id."""

from __future__ import annotations

from collections import Counter

import pytest

from operad_check import Profile, check_operator
from operad_check.running.register import all_checks
from operator_sdk.check.tests.zoo import backward, gradients, kinks, second_order
from operator_sdk.check.tests.zoo.fault import Fault, causes
from operator_sdk.check.tests.zoo.plain_gradient_check import plain_gradient_check
from operator_sdk.check.tests.zoo.table import each_fault, of_groups

FAULTS = [*gradients.ZOO, *backward.ZOO, *second_order.ZOO, *kinks.ZOO, *of_groups("B", "extremes")]
PATIENT = Profile("patient", examples=50, seconds=60.0)
"""As many examples as `dev`, however busy the machine is."""

OWN = [id for id in all_checks() if id[0] == "B"]
OTHERS = [id for id in all_checks() if id[0] != "X" and id not in ("S107", "S108")]
"""Without documentation, which the zoo has none of, and the audit, which wants operators that are right."""


@each_fault(FAULTS)
def test_a_fault_is_red_under_its_own_id(fault: Fault) -> None:
    assert check_operator(fault.operator, checks=[fault.id], profile=PATIENT).red_ids == [fault.id]


@pytest.mark.more
@each_fault(FAULTS)
def test_a_fault_is_red_under_no_other_id_of_this_group(fault: Fault) -> None:
    assert causes(check_operator(fault.operator, checks=OWN, profile="dev")) <= {fault.id, *fault.also}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.title)
def test_a_fault_is_red_under_no_other_id(fault: Fault) -> None:
    assert causes(check_operator(fault.operator, checks=OTHERS, profile="dev")) <= {fault.id, *fault.also}


def test_every_check_of_this_group_has_two_faults() -> None:
    found = Counter(fault.id for fault in FAULTS)
    assert {id: found[id] for id in OWN if found[id] < 2} == {}


def test_a_plain_gradient_check_sees_a_wrong_factor() -> None:
    assert plain_gradient_check(gradients.square)


def test_a_plain_gradient_check_does_not_see_an_ignored_request() -> None:
    assert not plain_gradient_check(backward.IgnoresAdd, shapes=20)

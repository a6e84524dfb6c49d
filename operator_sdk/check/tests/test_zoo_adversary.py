"""Faults that show in one circumstance only are red under their own id.

All of them are slow tests: an easier fault of each check is among the fast ones beside this module.
"""

from __future__ import annotations

import pytest

from operad_check import Profile, check_operator
from operad_check.running.register import all_checks
from operator_sdk.check.tests.zoo.adversary import ZOO
from operator_sdk.check.tests.zoo.fault import Fault, causes

PATIENT = Profile("patient", examples=50, seconds=60.0)
"""As many examples as `dev`, however busy the machine is."""

FOUND_BY = {"X801": ("F216",)}
"""Rules on evidence are broken in other checks."""
EVERY = [id for id in all_checks() if id not in ("S107", "S108", "X804")]

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("fault", ZOO, ids=lambda fault: fault.title)
def test_a_fault_is_red_under_its_own_id(fault: Fault) -> None:
    checks = FOUND_BY.get(fault.id, (fault.id,))
    assert check_operator(fault.operator, checks=checks, profile=PATIENT).red_ids == [fault.id]


@pytest.mark.parametrize("fault", ZOO, ids=lambda fault: fault.title)
def test_a_fault_is_red_under_no_other_id(fault: Fault) -> None:
    assert causes(check_operator(fault.operator, checks=EVERY, profile=PATIENT)) <= {fault.id, *fault.also}

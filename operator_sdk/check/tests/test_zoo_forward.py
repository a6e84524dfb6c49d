"""Groups S and F see the faults they are for, each under its own id."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from operad import registry
from operad_check import OperatorReport, Profile, check_operator
from operad_check.register import all_checks
from operator_sdk.check.tests.zoo import (
    calls,
    documentation,
    forward,
    inference,
    pairs,
    positions,
    random_draws,
    static,
)
from operator_sdk.check.tests.zoo.fault import Fault, causes, found_ids
from operator_sdk.check.tests.zoo.table import each_fault, of_groups, with_fewer_than_two

FAULTS = [
    *static.ZOO,
    *documentation.ZOO,
    *forward.ZOO,
    *calls.ZOO,
    *inference.ZOO,
    *positions.ZOO,
    *of_groups("SF", "planned"),
    *random_draws.ZOO,
    *pairs.ZOO,
    *of_groups("SF", "extremes"),
]
PATIENT = Profile("patient", examples=50, seconds=60.0)
"""As many examples as `dev`, however busy the machine is."""

DOCUMENTATION = {"S107", "S108"}
"""Checks that the zoo, which is not documented for users, would fail throughout."""

OWN = [id for id in all_checks() if id[0] in "SF"]

Check = Callable[..., OperatorReport]


@pytest.fixture
def check(request: pytest.FixtureRequest) -> Check:
    """`check_operator`, with the fault's operator in the registry where it has to be."""

    def run(fault: Fault, **options: object) -> OperatorReport:
        if not fault.registered_as:
            return check_operator(fault.operator, profile=PATIENT, **options)
        registry.register(fault.operator, fault.registered_as)
        request.addfinalizer(lambda: registry.unregister(fault.registered_as))
        return check_operator(fault.registered_as, profile=PATIENT, **options)

    return run


@each_fault(FAULTS)
def test_a_fault_is_red_under_its_own_id(fault: Fault, check: Check) -> None:
    assert found_ids(check(fault, checks=[fault.id])) == [fault.id]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.title)
def test_a_fault_is_red_under_no_other_id_of_these_groups(fault: Fault, check: Check) -> None:
    ids = [id for id in OWN if id not in DOCUMENTATION or id in (fault.id, *fault.also)]
    assert causes(check(fault, checks=ids)) <= {fault.id, *fault.also}


def test_every_check_of_these_groups_has_two_faults() -> None:
    assert with_fewer_than_two(OWN, FAULTS) == []

"""Groups M, R, D, A and X see the faults they are for, each under its own id."""

from __future__ import annotations

import pytest

from operad_check import OperatorReport, Profile, check_operator
from operad_check.register import all_checks, operator_entries
from operad_check.reporting.outcome import BROKEN
from operator_sdk.check.tests.zoo import dtype, evidence, kernel_arrays, mappers, memory, run_time, runtime
from operator_sdk.check.tests.zoo.fault import Fault, causes, found_ids
from operator_sdk.check.tests.zoo.table import each_fault, of_groups, with_fewer_than_two

FAULTS = [
    *(*memory.ZOO, *runtime.ZOO, *dtype.ZOO, *kernel_arrays.ZOO, *mappers.ZOO),
    *run_time.ZOO,
    *of_groups("MRD", "extremes", "surroundings"),
]
PATIENT = Profile("patient", examples=50, seconds=60.0)
"""As many examples as `dev`, however busy the machine is."""

NEED_A_GPU = {"D605"}
NEED_A_PROCESS = {"R506"}
"""What ends the process, which `test_check_workers.py` looks at."""
EVERY = [id for id in all_checks() if id not in ("S107", "S108", "X804")]
"""Without documentation, which the zoo has none of, and the audit, which wants operators that are right."""


def red_ids(operator: object, checks: list[str]) -> list[str]:
    report: OperatorReport = check_operator(operator, checks=checks, profile=PATIENT)
    return found_ids(report)


@each_fault(FAULTS)
def test_a_fault_is_red_under_its_own_id(fault: Fault) -> None:
    assert red_ids(fault.operator, [fault.id]) == [fault.id]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.title)
def test_a_fault_is_red_under_no_other_id(fault: Fault) -> None:
    report = check_operator(fault.operator, checks=EVERY, profile=PATIENT)
    assert causes(report) <= {fault.id, *fault.also}


@pytest.mark.more
@each_fault([*evidence.ZOO, *of_groups("X", "planned")])
def test_missing_evidence_is_red(fault: Fault) -> None:
    checks = [fault.id] if fault.id in all_checks() else EVERY
    assert fault.id in red_ids(fault.operator, checks)


def test_every_check_of_these_groups_has_two_faults() -> None:
    left_out = {*NEED_A_GPU, *NEED_A_PROCESS, BROKEN}  # no operator makes a check break
    own = [id for id in operator_entries() if id[0] in "MRDAX" and id not in left_out]
    assert with_fewer_than_two(own, [*FAULTS, *evidence.ZOO]) == []

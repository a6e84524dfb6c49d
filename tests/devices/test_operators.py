"""Every first-party operator, on a device whose arrays are not NumPy's, does what it does on the host.

The program is a user's: arrays made on the device, the operator called while it is recorded, gradients
written and then added to. Cases come from what each operator declares for its contract checks.
"""

from __future__ import annotations

from typing import Final

import pytest

from operad_check.cases.kinds import EDGES, ORDINARY, CaseKind
from operad_check.plan.profile import Profile
from operad_check.running.session import Session
from operad_check.trials.subject import subject_of
from tests.devices.operators import FIRST_PARTY, compare

pytestmark = [pytest.mark.usefixtures("gpu"), pytest.mark.filterwarnings("ignore::RuntimeWarning")]

NARROW: Final = CaseKind("narrow", sizes=(1, 2, 3), dtypes=("float16", "uint8", "int32"))
KINDS: Final = (ORDINARY, NARROW, EDGES)


@pytest.mark.parametrize("name", FIRST_PARTY)
def test_an_operator_computes_on_a_device_what_it_computes_on_the_host(name: str) -> None:
    session = Session(subject_of(name), Profile("devices", examples=3, seconds=1.0))
    cases = [case for kind in KINDS for case in session.pool(kind)]
    assert cases, "the operator accepts no case"
    for case in cases:
        compare(name, case)

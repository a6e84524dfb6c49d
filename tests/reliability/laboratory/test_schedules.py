"""Programs of threads on the real engine end as some serial run does, under every schedule tried.

Every schedule with one preemption, and of those with two some fifty; in the slow test eight thousand, and
all of small programs. Prints the first schedule that does not end right, and how to see it again.
"""

from __future__ import annotations

import sys

import pytest

from tests.reliability.laboratory.programs import PROGRAMS
from tests.reliability.laboratory.report import explored, faults, slow_pairs

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] == (3, 12), reason="CPython 3.12.1 crashes where threads are traced by instructions"
)

PAIRS = 50


@pytest.mark.long  # 800 schedules that each fork and change threads: a minute beside others
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule_with_one_preemption_ends_as_a_serial_run(name: str) -> None:
    assert faults(explored(name, PAIRS)) == ""


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", PROGRAMS)
def test_schedules_with_two_preemptions_end_as_a_serial_run(name: str) -> None:
    assert faults(explored(name, slow_pairs(name))) == ""

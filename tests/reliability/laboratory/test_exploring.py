"""The explorer finds the faults of small programs, and only those; each schedule can be run again."""

from __future__ import annotations

import sys

import pytest

from tests.reliability.laboratory.report import explored, faults, replay

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] == (3, 12), reason="CPython 3.12.1 crashes where threads are traced by instructions"
)

# Each with what it ends with at worst, and how many preemptions that takes.
FAULTS = {
    "a_lost_update": ("wrong", 1),
    "two_preemptions": ("wrong", 2),
    "a_deadlock": ("hang", 1),
    "a_lost_wakeup": ("hang", 1),
    "an_endless_loop": ("hang", 1),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_with_the_fewest_preemptions_and_seen_again(name: str) -> None:
    found = explored(name, None)
    verdict, count = FAULTS[name]
    assert set(found["verdicts"]) == {"right", verdict}
    schedule = found["first"]["schedule"]
    assert schedule.count(">") == count
    assert f"--replay '{schedule}'" in faults(found)
    seen = replay(name, schedule)
    assert f"\n{verdict}: " in seen
    assert seen.count("stops at tests/reliability/laboratory/toys.py:") == count - (schedule.startswith("0>"))


@pytest.mark.parametrize("name", ["no_fault", "a_poll"])
def test_a_right_program_is_right_under_every_schedule(name: str) -> None:
    found = explored(name, None)
    assert found["verdicts"] == {"right": found["singles"] + found["pairs"]}
    assert found["late"] == 0
    assert faults(found) == ""


def test_a_wakeup_that_only_time_brings_is_counted() -> None:
    found = explored("a_late_wakeup", None)
    assert set(found["verdicts"]) == {"right"}
    assert found["late"] == 1


def test_a_busy_wait_is_no_hang() -> None:
    assert set(explored("a_busy_wait", 0)["verdicts"]) == {"right"}


def test_schedules_with_two_preemptions_are_spread_evenly() -> None:
    assert explored("no_fault", 100)["tried_pairs"] == 90  # every fourth of 359

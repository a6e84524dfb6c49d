from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.benchmarks import load
from tests.benchmarks.load import Clocks, Load, between, busy_s, own_s, process_s

TICKS = os.sysconf("SC_CLK_TCK")


def test_busy_time_is_all_but_idle_and_waiting_and_counts_guests_once() -> None:
    first = "cpu  100 20 30 5000 600 7 8 9 50 1"

    assert busy_s(f"{first}\ncpu0 1 1 1 1 1 1 1 1 1 1\n") * TICKS == pytest.approx(100 + 20 + 30 + 7 + 8 + 9)


def test_a_process_is_found_behind_a_name_with_brackets_and_spaces() -> None:
    text = "42 (a) b (c) d) S 1 2 3 4 5 6 7 8 9 10 100 20 3 4 20 0 1 0"

    assert process_s(text) * TICKS == pytest.approx(100 + 20 + 3 + 4)


def test_others_have_what_is_left_per_core() -> None:
    assert between(Clocks(10.0, 100.0, 7.0), Clocks(20.0, 112.0, 13.0), cores=2) == pytest.approx(0.3)


def test_rounding_of_clocks_is_no_negative_load() -> None:
    assert between(Clocks(0.0, 0.0, 0.0), Clocks(1.0, 0.99, 1.0), cores=1) == 0.0


def test_an_unknown_load_is_unknown() -> None:
    assert between(None, None, cores=1) is None


@pytest.mark.parametrize(
    ("values", "is_quiet"),
    [
        ((0.1, 0.1, 0.1), True),
        ((0.2, 0.1, 0.1), False),
        ((0.1, 0.3, 0.1), False),
        ((0.1, 0.1, 0.9), False),
        ((None, 0.1, 0.1), False),
    ],
)
def test_a_quiet_run_is_quiet_all_the_while(values: tuple[float | None, ...], is_quiet: bool) -> None:
    assert Load(*values).is_quiet is is_quiet


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_own_time_has_that_of_ended_children_and_none_of_processes_that_are_gone() -> None:
    # A child that has been waited for, and needed more than a tick.
    before = own_s(os.getpid())
    child = subprocess.Popen([sys.executable, "-c", "sum(range(3_000_000))"])
    child.wait()

    assert own_s(os.getpid()) > before
    assert own_s(child.pid) == 0.0


def test_load_while_idle_is_asked_over_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = iter([Clocks(0.0, 0.0, 0.0), Clocks(3.0, 3.0, 0.0)])
    waited: list[float] = []
    monkeypatch.setattr(load, "read", lambda pids: next(clocks))

    assert load.idle_load(2, waited.append) == pytest.approx(0.5)
    assert waited == [load.WINDOW_S]

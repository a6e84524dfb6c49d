"""Stages are counted where somebody counts, and nothing is made where nobody does."""

from __future__ import annotations

import threading

import pytest

import operad as od
from operad_iterators import stages


@pytest.fixture(autouse=True)
def _nothing_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "_sums", {})
    monkeypatch.setattr(stages, "_counting", False)  # a callback of a test before may have begun


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that the clock shows, one reading after another."""
    readings: list[float] = []
    monkeypatch.setattr(stages.time, "perf_counter", lambda: readings.pop(0))
    return readings


def test_nothing_is_counted_unless_asked_for() -> None:
    with od.profiler.stage("read"):
        pass
    assert od.profiler.stages() == {}


def test_a_stage_has_the_time_inside_it_and_inner_stages_theirs(clock: list[float]) -> None:
    clock += [0.0, 1.0, 3.0, 10.0, 10.0, 10.5]
    od.profiler.count_stages()
    with od.profiler.stage("wait"), od.profiler.stage("read"):
        pass
    with od.profiler.stage("read"):
        pass
    assert od.profiler.stages() == {"read": (2, 2.5, 1), "wait": (1, 10.0, 1)}


def test_threads_that_work_on_a_stage_at_once_are_counted() -> None:
    od.profiler.count_stages()
    together = threading.Barrier(3)

    def work() -> None:
        with od.profiler.stage("decode"):
            together.wait()

    for _ in range(2):  # those of the second round are other threads, and not more at once
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert od.profiler.stages()["decode"][::2] == (6, 3)


def test_a_stage_that_fails_is_counted_and_the_error_goes_on() -> None:
    od.profiler.count_stages()
    with pytest.raises(ZeroDivisionError), od.profiler.stage("decode"):
        _ = 1 / 0
    assert od.profiler.stages()["decode"].runs == 1


def test_laps_share_out_the_time_of_one_thread(clock: list[float]) -> None:
    clock += [0.0, 1.0, 3.0, 3.5, 7.5]
    od.profiler.count_stages()
    with od.profiler.laps("read", "decode") as lap:
        for _ in range(2):
            lap("read")
            lap("decode")
    assert od.profiler.stages() == {"read": (2, 1.5, 1), "decode": (2, 6.0, 1)}


def test_a_thread_on_laps_counts_for_each_of_its_stages() -> None:
    od.profiler.count_stages()
    with od.profiler.laps("read", "decode") as lap, od.profiler.stage("decode"):
        lap("read")
        lap("decode")
    assert {name: one.threads for name, one in od.profiler.stages().items()} == {"read": 1, "decode": 2}


def test_laps_that_fail_keep_what_was_done(clock: list[float]) -> None:
    clock += [0.0, 1.0]
    od.profiler.count_stages()

    def read_and_fail() -> None:
        with od.profiler.laps("read", "decode") as lap:
            lap("read")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        read_and_fail()
    assert od.profiler.stages() == {"read": (1, 1.0, 1)}


@pytest.mark.usefixtures("clock")  # it has no reading
def test_what_nobody_counts_is_one_shared_object_that_reads_no_clock() -> None:
    for begin in (od.profiler.stage, od.profiler.laps):
        assert begin("read") is begin("decode")
    with od.profiler.stage("read"), od.profiler.laps("read") as lap:
        lap("read")
    assert od.profiler.stages() == {}

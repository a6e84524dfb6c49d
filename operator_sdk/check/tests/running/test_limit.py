"""The time limit of a check."""

from __future__ import annotations

import gc
import signal
import threading
from time import monotonic

import pytest

from operad.errors import ArgumentError
from operad_check import Profile, check_operator
from operad_check.reporting.outcome import Status
from operad_check.running.limit import TimeIsUp, limited
from operad_sdk import unary

LIMITED = Profile("limited", examples=4, seconds=5.0, limit_s=60.0)


def wait():
    threading.Event().wait()


def test_a_check_that_does_not_end_has_proved_nothing_and_the_next_one_runs():
    @unary("limit_waits")
    def waits(x):
        signal.raise_signal(signal.SIGALRM)  # the time is over here, and not in the check behind it
        wait()
        return x

    report = check_operator(waits, checks=["F201", "S103"], profile=LIMITED)
    first, second = report.outcomes
    assert (first.status, first.red_id) == (Status.NO_EVIDENCE, "X801")
    assert "stopped after 60 s" in first.reason
    assert second.status is Status.INAPPLICABLE  # it ran, and has nothing to look at


def test_an_operator_that_catches_everything_is_stopped_too(monkeypatch):
    monkeypatch.setattr("operad_check.running.limit._AGAIN_S", 0.05)

    def run():
        try:
            wait()
        finally:
            wait()

    with pytest.raises(TimeIsUp), limited(0.05):
        run()


def test_a_finding_made_of_the_end_of_time_is_none():
    with pytest.raises(TimeIsUp), limited(0.05), pytest.raises(TimeIsUp):
        wait()


def test_the_timer_of_the_caller_goes_on():
    reached = threading.Event()
    before = signal.signal(signal.SIGALRM, lambda *_: reached.set())
    timer = signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(TimeIsUp), limited(0.05):
            wait()
        assert reached.wait(60)
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *timer)


def test_a_limit_wants_the_main_thread():
    errors = []

    def run():
        try:
            with limited(1.0):
                pass
        except ArgumentError as error:
            errors.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert "expected the main thread" in errors[0]


def test_a_signal_that_interrupts_the_collector_stops_the_check_soon_after() -> None:
    struck = []

    def strike(*_: object) -> None:
        if not struck:
            struck.append(True)
            signal.raise_signal(signal.SIGALRM)

    def collect() -> None:
        gc.callbacks.append(strike)  # here: a collection may come at any moment
        gc.collect()
        while monotonic() < begin + 30:
            pass

    begin = monotonic()
    try:
        with pytest.raises(TimeIsUp), limited(60.0):
            collect()
    finally:
        gc.callbacks.remove(strike)
    assert struck
    assert monotonic() < begin + 30

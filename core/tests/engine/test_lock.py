"""The combining lock: a step is done here, or by whoever holds the lock."""

from __future__ import annotations

import threading

import pytest

from operad.engine.lock import CombiningLock, Request
from operad.engine.thread import OUTSIDE, STEP, local


@pytest.fixture
def log() -> list[object]:
    return []


@pytest.fixture
def lock(log: list[object]) -> CombiningLock:
    def after() -> None:
        made.has_after = False
        log.append("after")

    made = CombiningLock(after)
    return made


def test_a_free_lock_does_the_step_at_once_and_inside_one(lock: CombiningLock, log: list) -> None:
    request = Request(lambda request: log.append((request, local.state.inside)))
    lock.do(request)
    assert (log, local.state.inside) == ([(request, STEP)], OUTSIDE)
    assert not lock.is_busy


def test_a_taken_lock_gets_a_request_that_is_done_later(lock: CombiningLock, log: list) -> None:
    lock.take()
    lock.do(Request(lambda _: log.append("requested")))
    assert (log, lock.is_busy) == ([], True)
    lock.give_back()
    assert lock.is_busy
    lock.catch_up()
    assert (log, lock.is_busy) == (["requested"], False)


def test_requests_are_done_in_order_and_before_the_next_step(lock: CombiningLock, log: list) -> None:
    lock.take()
    for number in range(3):
        lock.do(Request(lambda _, number=number: log.append(number)))
    lock.give_back()
    lock.do(Request(lambda _: log.append("step")))
    assert log == [0, 1, 2, "step"]


def test_a_step_within_a_step_is_done_after_it(lock: CombiningLock, log: list) -> None:
    def outer(_: Request) -> None:
        lock.do(Request(lambda _: log.append("inner")))
        log.append("outer")

    lock.do(Request(outer))
    assert log == ["outer", "inner"]


def test_what_is_left_for_after_is_done_without_the_lock(lock: CombiningLock, log: list) -> None:
    def step(_: Request) -> None:
        lock.has_after = True
        log.append("step")

    lock.do(Request(step))
    assert log == ["step", "after"]


class Failing(Request):
    """A request whose step raises the first few times."""

    def __init__(self, log: list, error: BaseException, times: int) -> None:
        super().__init__(self.fail)
        self.log, self.error, self.times = log, error, times

    def fail(self, _: Request) -> None:
        self.log.append("begun")
        if self.log.count("begun") <= self.times:
            raise self.error
        self.log.append("done")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), RecursionError(), ValueError()])
def test_a_step_that_an_exception_ended_is_begun_anew_before_any_other(
    lock: CombiningLock, log: list, error: BaseException
) -> None:
    with pytest.raises(type(error)):
        lock.do(Failing(log, error, 1))
    assert (lock.owner, lock.is_busy, local.state.inside) == (None, True, OUTSIDE)
    lock.do(Request(lambda _: log.append("other")))
    assert (log, lock.is_busy) == (["begun", "begun", "done", "other"], False)


def test_what_was_requested_behind_a_step_that_failed_is_done(lock: CombiningLock, log: list) -> None:
    lock.take()
    failing = Failing(log, ZeroDivisionError(), 2)
    for request in (failing, Request(lambda _: log.append("other"))):
        lock.do(request)
    lock.give_back()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            lock.catch_up()
    lock.catch_up()
    assert log == ["begun", "begun", "begun", "done", "other"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), RecursionError()])
def test_a_step_is_never_given_up_because_of_what_came_from_outside(
    lock: CombiningLock, log: list, error: BaseException
) -> None:
    with pytest.raises(type(error)):
        lock.do(Failing(log, error, 9))
    for _ in range(8):
        with pytest.raises(type(error)):
            lock.heal()
    lock.heal()
    assert log[-1] == "done"


def test_a_step_that_always_raises_is_given_up_after_three_times(log: list) -> None:
    lock = CombiningLock(lambda: None, lambda request, error: log.append((request, error)))
    failing = Failing(log, error := ZeroDivisionError(), 99)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            lock.do(failing) if not log else lock.catch_up()
    lock.catch_up()
    assert (log, lock.is_busy) == (["begun"] * 3 + [(failing, error)], False)


def test_steps_that_raise_now_and_then_are_never_given_up(log: list) -> None:
    lock = CombiningLock(lambda: None, lambda request, error: log.append("given up"))
    for _ in range(4):
        with pytest.raises(ZeroDivisionError):
            lock.do(Failing(log, ZeroDivisionError(), 2))
        with pytest.raises(ZeroDivisionError):
            lock.catch_up()
        lock.catch_up()
        assert log == ["begun", "begun", "begun", "done"]
        log.clear()


def test_a_lock_whose_owner_has_left_its_step_is_freed_by_who_waits(lock: CombiningLock, log: list) -> None:
    """An exception can only leave it so where a trace function raises it."""
    lock.take()
    lock.do(Request(lambda _: log.append("requested")))
    local.state.inside = STEP
    lock.heal()
    assert log == []  # the owner is still in its step
    local.state.inside = OUTSIDE
    lock.heal()
    assert (log, lock.owner, lock.is_busy) == (["requested"], None, False)


def test_a_lock_that_waits_is_waited_for_by_other_threads(log: list) -> None:
    lock = CombiningLock(lambda: None)
    lock.is_waited_for = True
    lock.take()
    thread = threading.Thread(target=lock.do, args=(Request(lambda _: log.append("step")),))
    thread.start()
    log.append("released")
    lock.give_back()
    thread.join()
    assert (log, lock.is_busy) == (["released", "step"], False)


def test_steps_of_many_threads_are_all_done_one_at_a_time(lock: CombiningLock) -> None:
    total = [0]

    def add(_: Request) -> None:
        before = total[0]
        total[0] = before + 1

    def many() -> None:
        for _ in range(2000):
            lock.do(Request(add))

    threads = [threading.Thread(target=many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (total, lock.is_busy) == ([8000], False)

"""The combining lock: a step is done here, or by whoever holds the lock."""

from __future__ import annotations

import threading

import pytest

from operad.engine.lock import CombiningLock
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
    lock.do(lambda first, second: log.append((first, second, local.state.inside)), 1, 2)
    assert (log, local.state.inside) == ([(1, 2, STEP)], OUTSIDE)
    assert lock.is_quiet


def test_a_taken_lock_gets_a_note_that_its_holder_reads(lock: CombiningLock, log: list) -> None:
    lock.take()
    lock.do(lambda *_: log.append("noted"), None)
    assert (log, lock.is_quiet) == ([], False)
    lock.give_back()
    lock.catch_up()
    assert (log, lock.is_quiet) == (["noted"], True)


def test_notes_are_read_in_order_and_before_the_next_step(lock: CombiningLock, log: list) -> None:
    assert lock.try_take()
    assert not lock.try_take()
    for number in range(3):
        lock.do(lambda number, _: log.append(number), number)
    lock.give_back()
    lock.do(lambda *_: log.append("step"), None)
    assert log == [0, 1, 2, "step"]


def test_a_step_within_a_step_is_done_after_it(lock: CombiningLock, log: list) -> None:
    def outer(*_: object) -> None:
        lock.do(lambda *_: log.append("inner"), None)
        log.append("outer")

    lock.do(outer, None)
    assert log == ["outer", "inner"]


def test_what_is_left_for_after_is_done_without_the_lock(lock: CombiningLock, log: list) -> None:
    def step(*_: object) -> None:
        lock.has_after = True
        log.append("step")

    lock.do(step, None)
    assert log == ["step", "after"]


def test_a_step_that_raises_lets_go_of_the_lock(lock: CombiningLock) -> None:
    with pytest.raises(ZeroDivisionError):
        lock.do(lambda *_: 1 / 0, None)
    assert (lock.is_quiet, local.state.inside) == (True, OUTSIDE)


def test_a_lock_that_waits_is_waited_for_by_other_threads(log: list) -> None:
    lock = CombiningLock(lambda: None, waits=True)
    lock.take()
    thread = threading.Thread(target=lock.do, args=(lambda *_: log.append("step"), None))
    thread.start()
    log.append("released")
    lock.give_back()
    thread.join()
    assert (log, lock.is_quiet) == (["released", "step"], True)


def test_steps_of_many_threads_are_all_done_one_at_a_time(lock: CombiningLock) -> None:
    total = [0]

    def add(*_: object) -> None:
        before = total[0]
        total[0] = before + 1

    def many() -> None:
        for _ in range(2000):
            lock.do(add, None)

    threads = [threading.Thread(target=many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (total, lock.is_quiet) == ([8000], True)

"""Small programs with one fault each, and one without, that say whether the explorer finds what it should.

Between two calls of `_look` another thread may run, as behind every call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from tests.reliability.laboratory.exploring import Violation
from tests.reliability.laboratory.primitives import Lock, sleep

Parts = tuple[list[Callable[[], object]], Callable[[], object]]

TOYS: Final[dict[str, Callable[[], Parts]]] = {}


def _toy(begin: Callable[[], Parts]) -> Callable[[], Parts]:
    TOYS[begin.__name__] = begin
    return begin


def _look() -> None:
    pass


class _Count:
    def __init__(self) -> None:
        self.value = 0
        self.lock = Lock()

    def add(self) -> None:
        value = self.value
        _look()
        self.value = value + 1

    def add_locked(self) -> None:
        with self.lock:
            self.add()

    def check(self, expected: int = 2) -> None:
        if self.value != expected:
            raise Violation("wrong", f"{self.value}, expected {expected}")


@_toy
def a_lost_update() -> Parts:
    """Needs one preemption."""
    count = _Count()
    return [count.add, count.add], count.check


@_toy
def no_fault() -> Parts:
    """The same under a lock."""
    count = _Count()
    return [count.add_locked, count.add_locked, count.add_locked], partial(count.check, 3)


@_toy
def two_preemptions() -> Parts:
    """Wrong only if each thread is interrupted by the other once."""
    state = {"is_begun": 0, "is_over": 0, "is_torn": 0}

    def write() -> None:
        state["is_begun"] = 1
        _look()
        state["is_over"] = 1

    def read() -> None:
        is_begun = state["is_begun"] and not state["is_over"]
        _look()
        if is_begun and state["is_over"]:
            state["is_torn"] = 1

    def check() -> None:
        if state["is_torn"]:
            raise Violation("wrong", "a reader saw both halves of a write")

    return [write, read], check


@_toy
def a_deadlock() -> Parts:
    """Two locks, taken in two orders."""
    one, other = Lock(), Lock()

    def work(first: Lock, second: Lock) -> None:
        with first:
            _look()
            with second:
                pass

    return [lambda: work(one, other), lambda: work(other, one)], _look


def _wait_in_slices(is_over: Callable[[], bool]) -> Parts:
    event = Lock()
    event.acquire()
    waiting: list[bool] = []
    said: list[bool] = []

    def say() -> None:
        said.append(True)
        if waiting:
            event.release()

    def wait() -> None:
        if said:
            return
        _look()
        waiting.append(True)
        while not event.acquire(True, 0.2) and not (is_over() and said):
            _look()

    return [wait, say], _look


@_toy
def a_lost_wakeup() -> Parts:
    """A wait in slices of time that nobody ends."""
    return _wait_in_slices(lambda: False)


@_toy
def a_late_wakeup() -> Parts:
    """The same where each slice looks again: the program ends, though late."""
    return _wait_in_slices(lambda: True)


@_toy
def an_endless_loop() -> Parts:
    """A thread that looks at a flag which another one has left set for good."""
    flag = {"is_set": False, "is_over": False}

    def leave_set() -> None:
        if not flag["is_over"]:
            _look()
            flag["is_set"] = not flag["is_over"]

    def wait() -> None:
        while flag["is_set"]:
            _look()
        flag["is_over"] = True

    return [wait, leave_set], _look


@_toy
def a_busy_wait() -> Parts:
    """A thread that looks at a flag until another one sets it."""
    flag: list[int] = []

    def wait() -> None:
        while not flag:
            _look()

    return [wait, lambda: flag.append(1)], _look


@_toy
def a_poll() -> Parts:
    """A thread that sleeps until a flag is set: time goes on only when nobody else can."""
    flag: list[int] = []

    def wait() -> None:
        while not flag:
            sleep(0.01)

    return [wait, lambda: flag.append(1)], _look

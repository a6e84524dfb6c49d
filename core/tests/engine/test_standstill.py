"""Coming to rest: what is waited for, and what is not."""

from __future__ import annotations

import threading

import pytest

from operad.device import cpu
from operad.engine import Engine, ThreadedEngine, standstill, thread
from operad.engine.lock import GATE
from operad.engine.standstill import StandStill
from operad.engine.thread import OPERATION, OUTSIDE, STEP, local
from operad.errors import BlockingInOperatorError

CTX = cpu()


@pytest.fixture
def stand_still(threaded: ThreadedEngine) -> StandStill:
    return threaded._stand_still


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[threading.Thread]:
    """The threads that were made to wait before a push."""
    found: list[threading.Thread] = []

    def wait_for(event: threading.Lock, timeout_s: float | None = None) -> None:
        found.append(threading.current_thread())
        thread.wait_for(event, timeout_s)

    monkeypatch.setattr(standstill, "wait_for", wait_for)
    return found


class Pusher(threading.Thread):
    """A thread that is held back if need be, standing somewhere."""

    def __init__(self, stand_still: StandStill, inside: int = OUTSIDE) -> None:
        super().__init__()
        self._stand_still, self._inside = stand_still, inside
        self.start()

    def run(self) -> None:
        local.state.inside = self._inside
        self._stand_still.hold_back()


def test_an_engine_that_does_not_stand_still_holds_nobody(stand_still: StandStill) -> None:
    Pusher(stand_still).join()


def test_threads_outside_are_held_until_the_end(
    stand_still: StandStill, held: list[threading.Thread]
) -> None:
    assert stand_still.begin()
    pushers = [Pusher(stand_still) for _ in range(3)]
    while not all(pusher in held for pusher in pushers):
        pass
    assert all(pusher.is_alive() for pusher in pushers)
    stand_still.end()
    for pusher in pushers:
        pusher.join()


@pytest.mark.parametrize("inside", [OPERATION, STEP])
def test_whoever_is_inside_the_engine_is_never_held(stand_still: StandStill, inside: int) -> None:
    assert stand_still.begin()
    Pusher(stand_still, inside).join()
    stand_still.end()


def test_the_thread_that_began_is_not_held(stand_still: StandStill) -> None:
    assert stand_still.begin()
    stand_still.hold_back()
    stand_still.end()


def test_the_next_one_begins_when_one_has_ended(stand_still: StandStill) -> None:
    log: list[object] = []

    def begin() -> None:
        log.append(stand_still.begin())
        stand_still.end()

    assert stand_still.begin()
    next_one = threading.Thread(target=begin)
    next_one.start()
    log.append("ending")
    stand_still.end()
    next_one.join()
    assert log == ["ending", True]


def test_what_was_pushed_before_has_run(threaded: ThreadedEngine, stand_still: StandStill) -> None:
    ran: list[object] = []
    for _ in range(100):
        threaded.push_sync(ran.append, CTX, (), (threaded.new_variable(),))
    assert stand_still.begin()
    assert len(ran) == 100
    stand_still.end()


def test_other_threads_pushes_are_held_until_the_end(
    threaded: ThreadedEngine, stand_still: StandStill, held: list[threading.Thread]
) -> None:
    log: list[object] = []
    assert stand_still.begin()
    pusher = threading.Thread(target=threaded.push_sync, args=(lambda _: log.append("pushed"), CTX))
    pusher.start()
    while pusher not in held:
        pass
    log.append("ending")
    stand_still.end()
    pusher.join()
    threaded.wait_for_all()
    assert log == ["ending", "pushed"]


def test_what_nobody_has_completed_is_not_waited_for(
    threaded: ThreadedEngine, stand_still: StandStill
) -> None:
    held: list = []
    threaded.push_async(lambda _, done: held.append(done), CTX, (), (threaded.new_variable(),))
    assert stand_still.begin()
    stand_still.end()
    held.pop()()


def test_only_a_complete_stop_waits_until_it_is_completed(
    threaded: ThreadedEngine, stand_still: StandStill
) -> None:
    held: list = []
    threaded.push_async(lambda _, done: held.append(done), CTX, (), (threaded.new_variable(),))
    resting = threading.Thread(target=lambda: (stand_still.begin_with_nothing_pending(), stand_still.end()))
    resting.start()
    while not (held and threaded._dispatcher.watchers):
        pass
    held.pop()()
    resting.join()
    assert threaded._queue.pending == 0


def test_a_thread_that_stands_still_already_is_told_so(stand_still: StandStill) -> None:
    assert stand_still.begin()
    assert not stand_still.begin()
    stand_still.end()


def test_an_interrupted_rest_holds_nobody(
    threaded: ThreadedEngine, stand_still: StandStill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stand_still, "_rest", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        stand_still.begin()
    assert GATE not in threaded.lock.blockers
    threaded.push_sync(lambda _: None, CTX)
    threaded.wait_for_all()


def test_stopping_inside_an_operation_is_refused_before_anybody_is_held(engine: Engine) -> None:
    engine.push_sync(lambda _: engine.stop(), CTX)
    with pytest.raises(BlockingInOperatorError, match="stopping"):
        engine.wait_for_all()
    assert GATE not in engine.lock.blockers

"""Coming to rest: what is waited for, and what is not."""

from __future__ import annotations

import threading

import pytest

from operad.device import cpu
from operad.engine import Engine, ThreadedEngine, thread
from operad.engine import quiescence as module
from operad.engine.lock import QUIESCING
from operad.engine.quiescence import Quiescence
from operad.engine.thread import OPERATION, OUTSIDE, STEP, local
from operad.errors import BlockingInOperatorError

CTX = cpu()


@pytest.fixture
def quiescence(threaded: ThreadedEngine) -> Quiescence:
    return threaded._quiescence


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[threading.Thread]:
    """The threads that were made to wait before a push."""
    found: list[threading.Thread] = []

    def wait_for(event: threading.Lock, timeout_s: float | None = None) -> None:
        found.append(threading.current_thread())
        thread.wait_for(event, timeout_s)

    monkeypatch.setattr(module, "wait_for", wait_for)
    return found


class Pusher(threading.Thread):
    """A thread that is held back if need be, standing somewhere."""

    def __init__(self, quiescence: Quiescence, inside: int = OUTSIDE) -> None:
        super().__init__()
        self._quiescence, self._inside = quiescence, inside
        self.start()

    def run(self) -> None:
        local.state.inside = self._inside
        self._quiescence.wait_until_resumed()


def test_an_engine_that_does_not_stand_still_holds_nobody(quiescence: Quiescence) -> None:
    Pusher(quiescence).join()


def test_threads_outside_are_held_until_the_end(quiescence: Quiescence, held: list[threading.Thread]) -> None:
    assert quiescence.begin()
    pushers = [Pusher(quiescence) for _ in range(3)]
    while not all(pusher in held for pusher in pushers):
        pass
    assert all(pusher.is_alive() for pusher in pushers)
    quiescence.end()
    for pusher in pushers:
        pusher.join()


@pytest.mark.parametrize("inside", [OPERATION, STEP])
def test_whoever_is_inside_the_engine_is_never_held(quiescence: Quiescence, inside: int) -> None:
    assert quiescence.begin()
    Pusher(quiescence, inside).join()
    quiescence.end()


def test_the_thread_that_began_is_not_held(quiescence: Quiescence) -> None:
    assert quiescence.begin()
    quiescence.wait_until_resumed()
    quiescence.end()


def test_the_next_one_begins_when_one_has_ended(quiescence: Quiescence) -> None:
    log: list[object] = []

    def begin() -> None:
        log.append(quiescence.begin())
        quiescence.end()

    assert quiescence.begin()
    next_one = threading.Thread(target=begin)
    next_one.start()
    log.append("ending")
    quiescence.end()
    next_one.join()
    assert log == ["ending", True]


def test_what_was_pushed_before_has_run(threaded: ThreadedEngine, quiescence: Quiescence) -> None:
    ran: list[object] = []
    for _ in range(100):
        threaded.push_sync(ran.append, CTX, (), (threaded.new_variable(),))
    assert quiescence.begin()
    assert len(ran) == 100
    quiescence.end()


def test_other_threads_pushes_are_held_until_the_end(
    threaded: ThreadedEngine, quiescence: Quiescence, held: list[threading.Thread]
) -> None:
    log: list[object] = []
    assert quiescence.begin()
    pusher = threading.Thread(target=threaded.push_sync, args=(lambda _: log.append("pushed"), CTX))
    pusher.start()
    while pusher not in held:
        pass
    log.append("ending")
    quiescence.end()
    pusher.join()
    threaded.wait_for_all()
    assert log == ["ending", "pushed"]


def test_what_nobody_has_completed_is_not_waited_for(
    threaded: ThreadedEngine, quiescence: Quiescence
) -> None:
    held: list = []
    threaded.push_async(lambda _, done: held.append(done), CTX, (), (threaded.new_variable(),))
    assert quiescence.begin()
    quiescence.end()
    held.pop()()


def test_only_a_complete_stop_waits_until_it_is_completed(
    threaded: ThreadedEngine, quiescence: Quiescence
) -> None:
    held: list = []
    threaded.push_async(lambda _, done: held.append(done), CTX, (), (threaded.new_variable(),))
    resting = threading.Thread(target=quiescence.change)
    resting.start()
    while not (held and threaded._dispatcher.watchers):
        pass
    held.pop()()
    resting.join()
    assert threaded._queue.pending == 0


def test_a_thread_that_stands_still_already_is_told_so(quiescence: Quiescence) -> None:
    assert quiescence.begin()
    assert not quiescence.begin()
    quiescence.end()


def test_an_interrupted_rest_holds_nobody(
    threaded: ThreadedEngine, quiescence: Quiescence, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quiescence, "_rest", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        quiescence.begin()
    assert QUIESCING not in threaded.lock.blockers
    threaded.push_sync(lambda _: None, CTX)
    threaded.wait_for_all()


def test_stopping_inside_an_operation_is_refused_before_anybody_is_held(engine: Engine) -> None:
    engine.push_sync(lambda _: engine.stop(), CTX)
    with pytest.raises(BlockingInOperatorError, match="stopping"):
        engine.wait_for_all()
    assert QUIESCING not in engine.lock.blockers

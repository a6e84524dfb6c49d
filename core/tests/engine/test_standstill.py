"""Coming to rest: what is waited for, and what is not."""

from __future__ import annotations

import threading

import pytest

from operad.context import cpu
from operad.engine import Engine, ThreadedEngine
from operad.engine.lock import GATE
from operad.engine.standstill import StandStill
from operad.errors import BlockingInOperatorError

CTX = cpu()


@pytest.fixture
def stand_still(threaded: ThreadedEngine) -> StandStill:
    return threaded._stand_still


def test_what_was_pushed_before_has_run(threaded: ThreadedEngine, stand_still: StandStill) -> None:
    ran: list[object] = []
    for _ in range(100):
        threaded.push_sync(ran.append, CTX, (), (threaded.new_variable(),))
    assert stand_still.begin()
    assert len(ran) == 100
    stand_still.end()


def test_other_threads_pushes_are_held_until_the_end(
    threaded: ThreadedEngine, stand_still: StandStill
) -> None:
    log: list[object] = []
    assert stand_still.begin()
    pusher = threading.Thread(target=threaded.push_sync, args=(lambda _: log.append("pushed"), CTX))
    pusher.start()
    while not stand_still.gate._held:
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


def test_an_interrupted_rest_opens_the_gate(
    threaded: ThreadedEngine, stand_still: StandStill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stand_still, "_rest", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        stand_still.begin()
    assert GATE not in threaded.lock.blockers
    threaded.push_sync(lambda _: None, CTX)
    threaded.wait_for_all()


def test_stopping_inside_an_operation_is_refused_before_the_gate_closes(engine: Engine) -> None:
    engine.push_sync(lambda _: engine.stop(), CTX)
    with pytest.raises(BlockingInOperatorError, match="stopping"):
        engine.wait_for_all()
    assert GATE not in engine.lock.blockers

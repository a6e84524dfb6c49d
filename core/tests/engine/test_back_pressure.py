"""How far pushes may run ahead of what is done."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from operad import interrupts
from operad.device import cpu
from operad.engine import ThreadedEngine, back_pressure
from operad.engine.var import DependencyQueue

CTX = cpu()


@pytest.fixture
def limited(threaded: ThreadedEngine, monkeypatch: pytest.MonkeyPatch) -> ThreadedEngine:
    """An engine of at most 8 pending operations, or 100 bytes."""
    monkeypatch.setattr(threaded, "_max_pending", 8)
    monkeypatch.setattr(threaded, "_max_bytes", 100)
    return threaded


def most_pending(engine: ThreadedEngine, count: int, size_bytes: int) -> tuple[int, int]:
    """The most operations and bytes that were pending at once, seen from inside the operations."""
    seen = [(0, 0)]
    var, queue = engine.new_variable(), engine._queue
    for _ in range(count):
        engine.push_sync(
            lambda _: seen.append((queue.pending, queue.pending_bytes)),
            CTX,
            (),
            (var,),
            size_bytes=size_bytes,
        )
    engine.wait_for_all()
    return max(each[0] for each in seen), max(each[1] for each in seen)


def test_pending_operations_stay_within_the_limit_and_the_inbox(limited: ThreadedEngine) -> None:
    assert most_pending(limited, 2000, 0)[0] <= 8 + back_pressure.MAX_DEFERRED


def test_pending_bytes_stay_within_the_limit_and_the_inbox(limited: ThreadedEngine) -> None:
    assert most_pending(limited, 1000, 30)[1] <= 100 + 30 * back_pressure.MAX_DEFERRED


def test_a_single_push_above_the_limit_goes_alone(limited: ThreadedEngine) -> None:
    assert most_pending(limited, 20, 1000)[1] == 1000


def test_dropped_results_do_not_hold_more_than_the_limit(threaded: ThreadedEngine) -> None:
    megabyte = 1 << 20
    threaded._max_bytes = 64 * megabyte
    assert most_pending(threaded, 1000, megabyte)[1] <= 128 * megabyte


def test_a_pusher_who_completes_what_is_pending_himself_is_not_held(limited: ThreadedEngine) -> None:
    var, held, ran = limited.new_variable(), [], []
    limited.push_async(lambda _, done: held.append(done), CTX, (), (var,))
    for number in range(50):
        limited.push_sync(lambda _, number=number: ran.append(number), CTX, (), (var,), size_bytes=60)
    held.pop()()
    limited.wait_for_all()
    assert ran == list(range(50))


def test_an_operation_that_pushes_is_never_held(limited: ThreadedEngine) -> None:
    var, ran = limited.new_variable(), []

    def push(_: object) -> None:
        for number in range(50):
            limited.push_sync(lambda _, number=number: ran.append(number), CTX, (), (var,))

    limited.push_sync(push, CTX, (), (var,))
    limited.wait_for_all()
    assert ran == list(range(50))


def test_a_finalizer_that_pushes_is_never_held(limited: ThreadedEngine) -> None:
    free, var, ran = threading.Event(), limited.new_variable(), []

    class Dying:
        def __del__(self) -> None:
            for number in range(50):
                limited.push_sync(lambda _, number=number: ran.append(number), CTX, (), (var,))

    limited.push_sync(lambda _: free.wait(), CTX, (), (var,))
    Dying()
    free.set()
    limited.wait_for_all()
    assert ran == list(range(50))


def test_a_signal_handler_is_known_on_the_stack() -> None:
    import signal

    seen = []

    def handler(*_: object) -> None:
        seen.append(interrupts.is_interruption())

    before = signal.signal(signal.SIGUSR1, handler)
    signal.raise_signal(signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)
    assert (seen, interrupts.is_interruption()) == ([True], False)


def test_a_push_that_was_held_goes_on_when_half_is_done() -> None:
    """Else the next push would be held again at once."""
    queue = DependencyQueue()
    queue.running, queue.pending, queue.pending_bytes, queue.seq = 1, 10, 100, 10
    seen: dict[tuple[int, int], bool] = {}

    def wait_until(has_capacity: Callable[[], bool], _: float) -> None:
        for seen_at in ((6, 10), (5, 51), (5, 50)):
            queue.pending, queue.pending_bytes = seen_at
            seen[seen_at] = has_capacity()

    back_pressure.wait_for_capacity(SimpleNamespace(queue=queue, wait_until=wait_until), 10, 100, 1)
    assert seen == {(6, 10): False, (5, 51): False, (5, 50): True}


def test_a_push_goes_on_with_one_warning_where_nothing_is_finished(
    limited: ThreadedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that pushes is the one that would release what it waits for."""
    monkeypatch.setattr(back_pressure, "_PATIENCE_S", 0.01)
    gate, var, ran = threading.Event(), limited.new_variable(), []
    limited.push_sync(lambda _: gate.wait(), CTX, (), (var,))
    blocks = iter(range(30))
    with pytest.warns(RuntimeWarning, match="none was finished") as caught:
        deque((limited.push_sync(ran.append, CTX, (), (var,)) for _ in blocks), 0)
    gate.set()
    limited.wait_for_all()
    assert (len(ran), len(caught)) == (30, 1)

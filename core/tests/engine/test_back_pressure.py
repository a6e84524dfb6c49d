"""How far pushes may run ahead of what is done."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from core.tests.engine.stepped import SteppedEngine
from operad import interrupts
from operad.device import cpu
from operad.engine import ThreadedEngine, back_pressure
from operad.engine.lock import QUIESCING
from operad.engine.thread import NESTED, OPERATION, OUTSIDE, STEP, local
from operad.engine.var import DependencyQueue, Var

CTX = cpu()


@pytest.fixture
def limited(threaded: ThreadedEngine, monkeypatch: pytest.MonkeyPatch) -> ThreadedEngine:
    """An engine of at most 8 pending operations, or 100 bytes."""
    monkeypatch.setattr(threaded, "_max_pending", 8)
    monkeypatch.setattr(threaded, "_max_bytes", 100)
    return threaded


@pytest.fixture
def stepped(monkeypatch: pytest.MonkeyPatch) -> Iterator[SteppedEngine]:
    """An engine of at most 8 pending operations, whose waits run nothing unless a test says so."""
    made = SteppedEngine()
    monkeypatch.setattr(made, "_max_pending", 8)
    monkeypatch.setattr(back_pressure, "perf_counter", lambda: made.now_s)
    yield made
    made.stop()


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


def test_a_push_is_judged_under_the_lock_alone() -> None:
    """In the middle of a step nothing runs: what ended is counted off, what follows is not counted yet."""
    queue, judged = DependencyQueue(), []
    queue.running, queue.pending = 0, 10

    def wait_until(has_capacity: Callable[[], bool], _: float) -> bool:
        queue.running = 1
        judged.append(has_capacity())
        queue.running = 0
        judged.append(has_capacity())
        return True

    state = {"queue": queue, "wait_until": wait_until, "open_at": -1, "num_finished": 0}
    back_pressure.wait_for_capacity(SimpleNamespace(**state), 8, 100, 1)
    assert judged == [False, True]


def test_a_push_that_was_held_goes_on_when_half_is_done() -> None:
    """Else the next push would be held again at once."""
    queue = DependencyQueue()
    state = {"open_at": -1, "num_finished": 0}
    queue.running, queue.pending, queue.pending_bytes, queue.seq = 1, 10, 100, 10
    seen: dict[tuple[int, int], bool] = {}

    def wait_until(has_capacity: Callable[[], bool], _: float) -> bool:
        for seen_at in ((6, 10), (5, 51), (5, 50)):
            queue.pending, queue.pending_bytes = seen_at
            seen[seen_at] = has_capacity()
        return seen[seen_at]

    back_pressure.wait_for_capacity(SimpleNamespace(queue=queue, wait_until=wait_until, **state), 10, 100, 1)
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


def nothing(*_: object) -> None: ...


@pytest.mark.filterwarnings("ignore:.* operations with .* bytes are pending:RuntimeWarning")
def test_after_a_wait_in_vain_pushes_go_on_until_something_has_finished(stepped: SteppedEngine) -> None:
    var, other = stepped.new_variable(), stepped.new_variable()

    def push(count: int) -> int:
        """Push, with calls that run at once between, which are no progress; the waits in vain."""
        stepped.waits.clear()
        for _ in range(count):
            stepped.push_sync(nothing, CTX, (), (var,))
            assert stepped.run_inline(nothing, (), CTX, (), (other,), None)
        return len(stepped.waits)

    assert push(1000) == 1
    assert push(1000) == 0
    stepped.runner.step()
    assert push(1000) == 1
    stepped.num_done_in_a_wait = 1
    stepped.runner.step()
    assert push(1) == 2998 - 4  # until half of the limit is pending


def earn(engine: SteppedEngine, count: int = 10) -> None:
    """Do as many operations as earn a wait."""
    for _ in range(count):
        assert engine.run_inline(nothing, (), CTX, (), (engine.new_variable(),), None)


def run_soon(engine: SteppedEngine, *variables: Var, const: tuple[Var, ...] = ()) -> bool:
    return engine.run_inline_soon(nothing, (), CTX, const, variables, None)


def test_a_small_function_waits_for_what_it_would_be_queued_behind_and_runs_here(
    stepped: SteppedEngine,
) -> None:
    var, ran = stepped.new_variable(), []
    earn(stepped)
    for tag in "ab":
        stepped.push_sync(lambda _, tag=tag: ran.append(tag), CTX, (), (var,))
    stepped.num_done_in_a_wait = 2
    assert stepped.run_inline_soon(ran.append, ("here",), CTX, (), (var,), None)
    assert ran == ["a", "b", "here"]
    assert len(stepped.waits) == 1


@pytest.mark.parametrize("is_read", [False, True])
def test_a_small_function_waits_only_for_what_it_conflicts_with(
    stepped: SteppedEngine, is_read: bool
) -> None:
    var = stepped.new_variable()
    earn(stepped)
    stepped.push_sync(nothing, CTX, (var,), ())
    assert run_soon(stepped, const=(var,)) if is_read else not run_soon(stepped, var)
    assert stepped.runner.offered


def test_waits_of_small_functions_are_earned_by_operations(stepped: SteppedEngine) -> None:
    """About as much time as it would have cost to queue them; what a wait has not used is left."""
    var = stepped.new_variable()

    def waits(count: int, num_done: int = 0, block_s: float = 0.0) -> list[float]:
        """Waits of a small function behind a push and after `count` operations."""
        stepped.push_sync(nothing, CTX, (), (var,))
        earn(stepped, count - 1)
        stepped.num_done_in_a_wait, stepped.block_s = num_done, block_s
        stepped.waits.clear()
        assert run_soon(stepped, var) is (num_done > 0)
        return [round(wait_s / 50e-6) for wait_s in stepped.waits]

    assert waits(9) == []
    assert waits(1) == [10]  # in vain
    assert waits(100) == []  # nothing has finished since
    stepped.runner.step()
    assert waits(50, 3, 10 * 50e-6) == [150]
    assert waits(19, 1) == [150 - 3 * 10 + 1 + 19]  # that function has earned, too
    assert waits(1000, 1) == [400]  # never longer than 20 ms


def test_a_program_of_long_operations_with_small_ones_between_runs_ahead(stepped: SteppedEngine) -> None:
    """Two operations for each long one earn a tenth of a millisecond."""
    stepped._max_pending = 100
    var = stepped.new_variable()
    for number in range(20):
        stepped.push_sync(nothing, CTX, (), (var,))
        if not run_soon(stepped, var):
            stepped.push_sync(nothing, CTX, (), (var,))
        if number % 5 == 4:
            stepped.runner.step()
    assert len(stepped.waits) == 2
    assert stepped.now_s <= 20 * 2 * 50e-6
    assert stepped._queue.pending == 36


def test_each_wait_in_vain_doubles_what_the_next_must_earn(stepped: SteppedEngine) -> None:
    """No more than the longest wait; and until one is not in vain, which leaves what it has not used."""
    var = stepped.new_variable()

    def earned(num_done: int) -> int:
        """Operations until a small function waits, for as many of them as it says."""
        count, before = 0, len(stepped.waits)
        while len(stepped.waits) == before:
            stepped.push_sync(nothing, CTX, (), (var,))
            stepped.num_done_in_a_wait = num_done
            run_soon(stepped, var)
            if len(stepped.waits) == before:
                stepped.runner.step()
            count += 1
        while stepped._queue.pending:
            stepped.runner.step()
        return count

    found = [earned(num_done) for num_done in (0, 0, 0, 0, 0, 0, 0, 1, 0)]
    assert found == [10, 20, 40, 80, 160, 320, 400, 400, 1]


@pytest.mark.parametrize("inside", [OPERATION, NESTED, STEP])
def test_a_small_function_inside_the_engine_never_waits(stepped: SteppedEngine, inside: int) -> None:
    var = stepped.new_variable()
    earn(stepped)
    stepped.push_sync(nothing, CTX, (), (var,))
    local.state.inside = inside
    try:
        assert not run_soon(stepped, var)
    finally:
        local.state.inside = OUTSIDE
    assert stepped.waits == []


def test_no_small_function_waits_in_a_finalizer_or_beside_a_fork(stepped: SteppedEngine) -> None:
    var, found = stepped.new_variable(), []
    earn(stepped)
    stepped.push_sync(nothing, CTX, (), (var,))

    class Dying:
        def __del__(self) -> None:
            found.append(run_soon(stepped, var))

    Dying()
    stepped.lock.blockers.append(QUIESCING)
    found.append(run_soon(stepped, var))
    stepped.lock.blockers.clear()
    assert (found, stepped.waits) == ([False, False], [])


def test_an_exception_from_outside_comes_out_of_a_wait_of_a_small_function(
    single: ThreadedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the function has not run, nor is it queued."""
    gate, var, ran = threading.Event(), single.new_variable(), []
    earn(single)
    single.push_sync(lambda _: gate.wait(), CTX, (), (var,))

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("operad.engine.dispatch.wait_for", interrupted)
    with pytest.raises(KeyboardInterrupt):
        single.run_inline_soon(ran.append, (1,), CTX, (), (var,), None)
    monkeypatch.undo()
    gate.set()
    single.wait_for_all()
    assert ran == []
    assert single._dispatcher.watchers == []

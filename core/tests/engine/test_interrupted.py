"""Ctrl-C, signal handlers and finalizers that come between two bytecodes of the engine."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue

import pytest

from core.tests.engine.processes import finished
from operad.device import cpu
from operad.engine import Engine, NaiveEngine, ThreadedEngine
from operad.engine.lock import Request
from operad.engine.thread import OPERATION, OUTSIDE, STEP, local, wait_for
from operad.errors import BlockingInOperatorError, InterruptedOperationError

pytestmark = pytest.mark.serial

CTX = cpu()

INTERRUPTED = Path(__file__).with_name("interrupted.py")


def interrupted(kind: str, rounds: int) -> subprocess.CompletedProcess[str]:
    """Run the program that is interrupted `rounds` times."""
    return finished(kind, "-X", "faulthandler", INTERRUPTED, str(rounds))


@pytest.mark.parametrize("kind", ["threaded", "naive"])
def test_ctrl_c_at_any_moment_leaves_the_engine_whole(kind: str) -> None:
    done = interrupted(kind, 40)
    assert (done.stdout, done.stderr, done.returncode) == ("sound\n", "", 0)


def test_ctrl_c_in_a_blocked_wait_raises_at_once(threaded: ThreadedEngine) -> None:
    held: SimpleQueue[Callable[[], None]] = SimpleQueue()
    main = threading.main_thread().ident or 0

    def press() -> None:
        while sys._current_frames()[main].f_code is not wait_for.__code__:
            pass
        signal.pthread_kill(main, signal.SIGINT)

    var = threaded.new_variable()
    threaded.push_async(lambda _, done: held.put(done), CTX, (), (var,))
    presser = threading.Thread(target=press)
    presser.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            threaded.wait_for_var(var)
    finally:
        presser.join()
        held.get()()
    threaded.wait_for_all()


def test_ctrl_c_in_an_operation_of_this_thread_fails_it_and_raises_from_the_call(
    engine: Engine,
) -> None:
    var = engine.new_variable()

    def press() -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        engine.run_inline(press, (), CTX, (), (var,), "pressed")
    for _ in range(2):
        with pytest.raises(InterruptedOperationError, match="pressed was interrupted by KeyboardInterrupt"):
            engine.wait_for_var(var)
    engine.wait_for_all()  # it was raised already
    assert engine.run_inline(lambda: None, (), CTX, (), (engine.new_variable(),), None)


class AlarmError(Exception):
    """What a handler of a signal raises."""


def alarm(*_: object) -> None:
    raise AlarmError


@pytest.fixture
def alarming() -> Iterator[Callable[..., None]]:
    """A function that a signal interrupts, whose handler raises an `Exception`."""
    before = signal.signal(signal.SIGALRM, alarm)
    yield lambda *_: signal.raise_signal(signal.SIGALRM)
    signal.signal(signal.SIGALRM, before)


def test_what_a_handler_raises_comes_out_of_the_call_that_it_interrupted(
    naive: NaiveEngine, alarming: Callable[..., None]
) -> None:
    inline, pushed = naive.new_variable(), naive.new_variable()
    with pytest.raises(AlarmError):
        naive.run_inline(alarming, (), CTX, (), (inline,), None)
    with pytest.raises(AlarmError):
        naive.push_sync(alarming, CTX, (), (pushed,))
    for var in (inline, pushed):
        with pytest.raises(InterruptedOperationError, match="interrupted by AlarmError"):
            naive.wait_for_var(var)
    naive.wait_for_all()


def test_it_comes_out_once_where_the_operation_had_completed_itself(
    naive: NaiveEngine, alarming: Callable[..., None]
) -> None:
    def complete(_: object, on_complete: Callable[[], None]) -> None:
        on_complete()
        alarming()

    var = naive.new_variable()
    with pytest.raises(AlarmError):
        naive.push_async(complete, CTX, (), (var,))
    naive.wait_for_var(var)
    naive.wait_for_all()


def test_a_failure_of_the_operation_itself_is_stored(engine: Engine, alarming: Callable[..., None]) -> None:
    """Of the same class, and beside a handler that raises it."""

    def fail(*_: object) -> None:
        raise AlarmError

    var = engine.new_variable()
    assert engine.run_inline(fail, (), CTX, (), (var,), None)
    with pytest.raises(AlarmError):
        engine.wait_for_all()


@pytest.mark.parametrize("handler", ["signal.default_int_handler", "lambda *_: print('mine')"])
def test_handlers_of_signals_are_left_alone(handler: str) -> None:
    program = (
        "import signal; from operad import engine, cpu\n"
        f"signal.signal(signal.SIGINT, handler := {handler})\n"
        "e = engine.get(); v = e.new_variable()\n"
        "e.push_sync(lambda _: None, cpu(), (), (v,)); e.wait_for_var(v)\n"
        "assert signal.getsignal(signal.SIGINT) is handler"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("", "")


def interrupting(engine: Engine, monkeypatch: pytest.MonkeyPatch, act) -> None:
    """Have `act()` called once in the middle of a step of the queue, as a finalizer is."""
    offer = engine._dispatcher.runner.offer

    def interrupted_offer(block) -> None:
        monkeypatch.undo()
        act()
        offer(block)

    monkeypatch.setattr(engine._dispatcher.runner, "offer", interrupted_offer)


def test_a_wait_that_interrupted_a_step_is_refused_instead_of_hanging(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    var, refusals = engine.new_variable(), []

    def wait() -> None:
        for waiting in (
            lambda: engine.wait_for_var(var),
            lambda: engine.wait_to_write(var),
            engine.wait_for_all,
            engine.stop,
        ):
            with pytest.raises(BlockingInOperatorError, match="step of the engine"):
                waiting()
            refusals.append(1)

    interrupting(engine, monkeypatch, wait)
    engine.push_sync(lambda _: None, CTX, (), (var,))
    engine.wait_for_all()
    assert refusals == [1] * 4


def test_a_push_that_interrupted_a_step_never_waits_for_room(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    var, ran = engine.new_variable(), []
    monkeypatch.setattr(engine, "_max_pending", 1)

    def push() -> None:
        for number in range(10):
            engine.push_sync(lambda _, number=number: ran.append(number), CTX, (), (var,))

    interrupting(engine, monkeypatch, push)
    engine.push_sync(lambda _: None, CTX, (), (var,))
    engine.wait_for_all()
    assert ran == list(range(10))


def test_a_wait_inside_an_inline_function_is_refused(engine: Engine) -> None:
    var, other = engine.new_variable(), engine.new_variable()
    assert engine.run_inline(lambda: engine.wait_for_var(other), (), CTX, (), (var,), None)
    with pytest.raises(BlockingInOperatorError):
        engine.wait_for_var(var)


def test_where_the_thread_is_is_restored(engine: Engine) -> None:
    seen = []
    engine.run_inline(lambda: seen.append(local.state.inside), (), CTX, (), (), None)
    engine.lock.do(Request(lambda _: seen.append(local.state.inside)))
    assert (*seen, local.state.inside) == (OPERATION, STEP, OUTSIDE)

"""Ctrl-C, signal handlers and finalizers that come between two bytecodes of the engine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

import pytest

from operad.context import cpu
from operad.engine import Engine, ThreadedEngine, interrupts
from operad.engine.thread import OPERATION, OUTSIDE, STEP, local, wait_for
from operad.errors import BlockingInOperatorError

pytestmark = pytest.mark.serial

CTX = cpu()

INTERRUPTED = Path(__file__).with_name("interrupted.py")


def interrupted(kind: str, rounds: int) -> subprocess.CompletedProcess[str]:
    """Run the program that is interrupted `rounds` times."""
    environment = {**os.environ, "OPERAD_ENGINE": kind, "OPERAD_NUM_THREADS": "2"}
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", INTERRUPTED, str(rounds)],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
    )


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
    with pytest.raises(KeyboardInterrupt):
        engine.wait_for_var(var)
    engine.wait_for_all()
    assert engine.run_inline(lambda: None, (), CTX, (), (engine.new_variable(),), None)


def test_a_handler_of_the_program_is_left_alone() -> None:
    program = (
        "import signal; from operad import engine\n"
        "signal.signal(signal.SIGINT, handler := lambda *_: print('mine'))\n"
        "engine.get(); assert signal.getsignal(signal.SIGINT) is handler; signal.raise_signal(signal.SIGINT)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("mine\n", "")


def interrupting(engine: Engine, monkeypatch: pytest.MonkeyPatch, act) -> None:
    """Have `act()` called once in the middle of a step of the queue, as a finalizer is."""
    offer = engine._runner.offer

    def interrupted_offer(block) -> None:
        monkeypatch.undo()
        act()
        offer(block)

    monkeypatch.setattr(engine._runner, "offer", interrupted_offer)


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
    engine.lock.do(lambda *_: seen.append(local.state.inside), None)
    assert (*seen, local.state.inside) == (OPERATION, STEP, OUTSIDE)


def test_a_protected_module_counts_as_engine() -> None:
    namespace: dict[str, object] = {"sys": sys}
    exec(compile("def look(): return sys._getframe()", "hot_path.py", "exec"), namespace)  # noqa: S102
    frame = namespace["look"]()  # type: ignore[operator]
    assert not interrupts._is_in_step(frame)
    interrupts.protect("hot_path.py")
    assert interrupts._is_in_step(frame)
    interrupts._protected.discard("hot_path.py")

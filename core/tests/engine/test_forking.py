"""Forks from inside the engine: what is pending goes with the child, what other threads run does not."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

import pytest

from operad import engine as engines
from operad.device import cpu
from operad.engine import Engine, NaiveEngine, ThreadedEngine
from operad.engine.forking import in_hand, renew
from operad.engine.operation import RAN, TAKEN
from operad.engine.thread import OUTSIDE, STEP, ThreadState, local
from operad.errors import EngineError

pytestmark = [
    pytest.mark.serial,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]

CTX = cpu()


def in_child(work: Callable[[], object]) -> int:
    """Fork, run `work` in the child within 20 s, and return its exit status: 0 if that was true."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])  # where a worker forks
            signal.alarm(20)
            status = 0 if work() else 2
        except BaseException as error:  # noqa: BLE001 - printed
            sys.stderr.write(f"in the child: {error!r}\n")
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def inside_an_operation(engine: Engine, work: Callable[[], object]) -> int:
    """Fork inside an operation that runs in the calling thread; what the child's exit status is."""
    statuses: list[int] = []
    assert engine.run_inline(
        lambda: statuses.append(in_child(work)), (), CTX, (), (engine.new_variable(),), None
    )
    return statuses[0]


def test_a_fork_in_a_step_beside_a_thread_that_holds_the_lock_leaves_it_free(engine: Engine) -> None:
    var, thread, held, over = engine.new_variable(), local.state, threading.Event(), threading.Event()

    def hold() -> None:
        while not over.is_set():
            engine.lock.take()
            held.set()
            time.sleep(0.01)  # what a switch of threads inside a step comes to
            engine.lock.give_back()
            time.sleep(0.002)

    def push_and_wait() -> bool:
        thread.inside = OUTSIDE
        ran: list[object] = []
        engine.push_sync(ran.append, CTX, (), (var,))
        engine.wait_for_var(var)
        return len(ran) == 1

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    try:
        thread.inside = STEP  # and about to try the lock
        for _ in range(3):
            assert in_child(push_and_wait) == 0
    finally:
        thread.inside = OUTSIDE
        over.set()
        holder.join()


def test_what_a_worker_runs_is_done_before_a_fork_inside_an_operation() -> None:
    engine = ThreadedEngine(num_threads=2)
    var, begun, log = engine.new_variable(), threading.Event(), []

    def slow(_: object) -> None:
        begun.set()
        time.sleep(0.05)
        log.append(1)

    engine.push_sync(slow, CTX, (), (var,))
    begun.wait()

    def wait() -> bool:
        engine.wait_for_var(var)
        return log == [1]

    assert inside_an_operation(engine, wait) == 0
    engine.stop()


def test_what_is_not_begun_at_a_fork_inside_an_operation_is_done_by_the_child_too() -> None:
    engine = ThreadedEngine(num_threads=1)
    gate, begun, var, log = threading.Event(), threading.Event(), engine.new_variable(), []

    def long(_: object) -> None:
        begun.set()
        gate.wait()

    engine.push_sync(long, CTX, (), (engine.new_variable(),))
    begun.wait()
    for number in range(3):
        engine.push_sync(lambda _, number=number: log.append(number), CTX, (), (var,))

    def wait() -> bool:
        engine.wait_for_var(var)
        engine.wait_for_all()
        return log == [0, 1, 2]

    try:
        assert inside_an_operation(engine, wait) == 0
    finally:
        gate.set()
    engine.wait_for_all()
    assert log == [0, 1, 2]
    engine.stop()


@pytest.mark.parametrize("is_inline", [False, True])
def test_what_another_thread_runs_for_long_has_failed_in_the_child(engine: Engine, is_inline: bool) -> None:
    gate, begun, var, after = threading.Event(), threading.Event(), engine.new_variable(), []
    name = "a call" if is_inline else "long"

    def long(*_: object) -> None:
        begun.set()
        gate.wait()

    def run() -> None:
        if is_inline:
            assert engine.run_inline(long, (), CTX, (), (var,), "long")
        else:
            engine.push_sync(long, CTX, (), (var,), name="long")

    other = threading.Thread(target=run)
    other.start()
    begun.wait()
    if is_inline:
        engine.push_sync(after.append, CTX, (var,), (engine.new_variable(),))

    def wait() -> bool:
        with pytest.raises(EngineError, match=f"{name} was running in another thread when this process was"):
            engine.wait_for_var(var)
        engine.wait_for_all()  # it is no failure of the child's
        engine.push_sync(after.append, CTX, (), (var,))
        engine.wait_for_var(var)
        engine.stop()
        return len(after) == 1

    try:
        assert inside_an_operation(engine, wait) == 0
    finally:
        gate.set()
        other.join()
    engine.wait_for_all()


def test_a_wait_of_the_child_for_what_the_parent_completes_says_so(engine: Engine) -> None:
    if isinstance(engine, NaiveEngine):
        pytest.skip("a naive engine waits for each operation")
    held, var = [], engine.new_variable()
    engine.push_async(lambda _, done: held.append(done), CTX, (), (var,), name="answer")
    while not held:
        time.sleep(0.001)

    def wait() -> bool:
        with pytest.raises(EngineError, match="answer was running in another thread"):
            engine.wait_for_var(var)
        held.pop()()  # in vain, and no mistake
        engine.wait_for_all()
        return True

    assert in_child(wait) == 0
    held.pop()()
    engine.wait_for_all()


def test_a_child_that_returns_from_the_operation_has_its_result_and_ends(engine: Engine) -> None:
    var, pids = engine.new_variable(), []
    assert engine.run_inline(lambda: pids.append(os.fork()), (), CTX, (), (var,), None)
    if pids == [0]:
        status = 1
        try:
            engine.wait_for_var(var)
            engine.push_sync(lambda _: None, CTX, (), (var,))
            engine.wait_for_all()
            assert engine._queue.pending == engine._queue.running == 0
            engine.stop()
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pids[0], 0)[1]) == 0


@pytest.mark.parametrize("change", [engines.stop, lambda: engines.set("threaded")], ids=["stop", "set"])
def test_a_child_of_a_worker_may_end_the_engine(change: Callable[[], object]) -> None:
    before = engines.get()
    engines.set(ThreadedEngine(2))
    try:
        var, forked, statuses = engines.get().new_variable(), threading.Event(), list[int]()

        def work() -> bool:
            change()
            found, var = list[object](), engines.get().new_variable()
            engines.get().push_sync(found.append, CTX, (), (var,))
            engines.get().wait_for_var(var)
            return len(found) == 1

        def fork(_: object) -> None:
            statuses.append(in_child(work))
            forked.set()

        engines.get().push_sync(fork, CTX, (), (var,))
        forked.wait()  # in a worker: no thread helps that waits so
        engines.get().wait_for_var(var)
        assert statuses == [0]
    finally:
        engines.set(before)


def test_a_process_that_an_operation_makes_by_multiprocessing_ends_well() -> None:
    engine, codes = ThreadedEngine(2), SimpleQueue[int | None]()

    def make(_: object) -> None:
        process = multiprocessing.get_context("fork").Process(target=int)
        process.start()
        process.join()
        codes.put(process.exitcode)

    engine.push_sync(make, CTX, (), (engine.new_variable(),))
    assert codes.get() == 0
    engine.stop()


def test_a_child_that_is_inside_an_operation_may_wait_for_all_others(engine: Engine) -> None:
    def wait() -> bool:
        engine.wait_for_all()
        ran: list[object] = []
        engine.push_sync(ran.append, CTX, (), (engine.new_variable(),))
        engine.wait_for_all()
        engine.stop()
        return len(ran) == 1

    assert inside_an_operation(engine, wait) == 0


def test_a_second_call_of_the_handler_in_the_child_leaves_new_work_alone(engine: Engine) -> None:
    var, dispatcher = engine.new_variable(), engine._dispatcher

    def work() -> bool:
        ran: list[object] = []
        for _ in range(20):
            engine.push_sync(ran.append, CTX, (), (var,))
            renew(dispatcher)
        engine.wait_for_all()
        return len(ran) == 20

    assert in_child(work) == 0


def test_a_claim_is_in_hand_of_its_thread_while_it_runs(engine: Engine) -> None:
    seen = []

    def look() -> None:
        (claim,) = in_hand(engine._dispatcher, is_own=True)
        seen.append(TAKEN <= claim.state < RAN)
        other = threading.Thread(target=lambda: seen.append(len(in_hand(engine._dispatcher, is_own=False))))
        other.start()
        other.join()

    assert engine.run_inline(look, (), CTX, (), (engine.new_variable(),), None)
    assert seen == [True, 1]
    assert in_hand(engine._dispatcher, is_own=True) == []


def test_what_was_requested_of_a_lock_that_another_thread_held_is_done_in_the_child(engine: Engine) -> None:
    dispatcher, ran = engine._dispatcher, []
    dispatcher.lock.take(ThreadState())  # of a thread that was interrupted, or is not there
    dispatcher.lock.is_waited_for = False
    engine.push_sync(ran.append, CTX, (), (engine.new_variable(),))
    assert not ran
    dispatcher.pid = -1
    renew(dispatcher)
    engine.wait_for_all()
    assert len(ran) == 1

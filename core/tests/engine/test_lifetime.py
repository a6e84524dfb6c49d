"""Forks and the end of the process."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from core.tests.engine.processes import finished
from operad import engine as engines
from operad.device import cpu
from operad.engine import Engine, NaiveEngine, ThreadedEngine, Var, current, lifetime
from operad.engine.budget import blas_limits

pytestmark = pytest.mark.serial

CTX = cpu()


def in_child(work) -> int:
    """Fork, run `work` in the child, and return the child's exit status (`work`'s truth)."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if work() else 2
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
class TestFork:
    def test_work_pending_at_the_fork_is_done_in_both_processes(self, engine: Engine) -> None:
        var, log = engine.new_variable(), []
        for number in range(200):
            engine.push_sync(lambda _, number=number: log.append(number), CTX, (), (var,))
        assert in_child(lambda: log == list(range(200)) and engine.wait_for_all() is None) == 0
        assert log == list(range(200))

    def test_a_child_and_its_parent_go_on_with_the_engine(self, engine: Engine) -> None:
        var, log = engine.new_variable(), []
        engine.push_sync(log.append, CTX, (), (var,))

        def work() -> bool:
            for _ in range(50):
                engine.push_sync(log.append, CTX, (), (var,))
            engine.wait_for_var(var)
            return len(log) == 51

        assert in_child(work) == 0
        engine.push_sync(log.append, CTX, (), (var,))
        engine.wait_for_all()
        assert len(log) == 2

    def test_a_failure_in_a_child_surfaces_there(self, engine: Engine) -> None:
        var = engine.new_variable()

        def fails(_: object) -> None:
            raise ValueError("in the child")

        def work() -> bool:
            engine.push_sync(fails, CTX, (), (var,))
            with pytest.raises(ValueError, match="in the child"):
                engine.wait_for_var(var)
            return True

        assert in_child(work) == 0
        engine.wait_for_all()

    def test_a_fork_while_other_threads_push_leaves_a_working_child(self, engine: Engine) -> None:
        var, over = engine.new_variable(), threading.Event()

        def push() -> None:
            while not over.is_set():
                engine.push_sync(lambda _: None, CTX, (), (engine.new_variable(),))
                engine.wait_for_all()

        def push_and_wait() -> bool:
            engine.push_sync(lambda _: None, CTX, (), (var,))
            engine.wait_for_all()
            return True

        pusher = threading.Thread(target=push)
        pusher.start()
        try:
            for _ in range(5):
                assert in_child(push_and_wait) == 0
        finally:
            over.set()
            pusher.join()

    def test_what_comes_between_the_calls_of_a_handler_does_not_hold_the_fork_up(self) -> None:
        """Python calls each handler twice; a push that had begun before comes in between."""
        engine, ran = ThreadedEngine(num_threads=1), []
        lifetime._before_fork()
        try:
            pushing = threading.Thread(target=pushes_at_once, args=(engine, ran))
            pushing.start()
            pushing.join()
            lifetime._before_fork()  # what it runs asks for the limit of BLAS, which the fork holds
        finally:
            for _ in range(2):
                lifetime._in_parent()
        engine.wait_for_all()
        engine.stop()
        assert ran == [True]

    def test_a_fork_beside_a_thread_that_pushes_without_waiting_returns(self, engine: Engine) -> None:
        var, over = engine.new_variable(), threading.Event()
        with pushing_without_waiting(engine, over):
            for _ in range(5):
                assert in_child(lambda: works(engine, var)) == 0

    def test_a_fork_does_not_wait_for_what_nobody_has_completed(self, engine: Engine) -> None:
        if isinstance(engine, NaiveEngine):
            pytest.skip("a naive engine waits for each operation")
        held, var = [], engine.new_variable()
        engine.push_async(lambda _, done: held.append(done), CTX, (), (engine.new_variable(),))
        assert in_child(lambda: works(engine, var)) == 0
        held.pop()()
        engine.wait_for_all()

    def test_a_child_may_ask_for_the_engine_whatever_lock_another_thread_held(self) -> None:
        with current._changing:
            assert in_child(lambda: engines.get() is not None) == 0

    def test_no_fork_comes_while_another_thread_sets_the_limits_of_blas(self) -> None:
        done = run(FORK_BESIDE_BLAS, head="")
        assert (done.stdout, done.stderr) == ("forks while a limit is being set: False\n", "")

    def test_a_fork_by_the_thread_that_sets_the_limits_of_blas_keeps_and_frees_the_lock(self) -> None:
        def may_set() -> bool:
            found: list[bool] = []

            def look() -> None:
                found.append(blas_limits.lock.acquire(blocking=False))
                if found[0]:
                    blas_limits.lock.release()

            other = threading.Thread(target=look)
            other.start()
            other.join()
            return found[0]

        with blas_limits.lock:
            assert in_child(lambda: not may_set()) == 0
            assert not may_set()
        assert in_child(may_set) == 0
        assert may_set()

    def test_a_fork_inside_an_operation_leaves_a_working_child(self, engine: Engine) -> None:
        var, statuses = engine.new_variable(), []

        def fork(*_: object) -> None:
            statuses.append(in_child(lambda: works(engine, var)))

        engine.push_sync(fork, CTX, (), (engine.new_variable(),))
        engine.wait_for_all()
        assert engine.run_inline(fork, (), CTX, (), (engine.new_variable(),), None)
        assert statuses == [0, 0]


# What is registered first is called last, just before the fork. Without a switch in between, the thread that
# sets a limit goes on only where the fork waits for it.
FORK_BESIDE_BLAS = """
import os, sys, threading, warnings
warnings.simplefilter("ignore")
seen, begun, forking, over = [], threading.Event(), threading.Event(), threading.Event()
os.register_at_fork(before=lambda: seen.append(begun.is_set() and not over.is_set()))
from operad.engine import budget
os.register_at_fork(before=forking.set)

def set_num_threads(_):
    begun.set()
    forking.wait()
    over.set()

budget._blas_pools = lambda: {"blas": (set_num_threads, 8)}
setting = threading.Thread(target=budget.blas_limits.begin, args=(None,))
setting.start()
begun.wait()
sys.setswitchinterval(1000)
if not os.fork():
    os._exit(0)
os.wait()
setting.join()
print("forks while a limit is being set:", seen[0])
"""


def pushes_at_once(engine: ThreadedEngine, ran: list[bool]) -> None:
    """A push of a thread that has passed the place where a fork holds pushes back."""
    engine._quiescence.wait_until_resumed = lambda: None  # type: ignore[method-assign]
    blas_limits.applied = 0  # as when another thread is about to change it
    engine.push_sync(lambda _: ran.append(True), CTX, (), (engine.new_variable(),))
    del engine._quiescence.wait_until_resumed


def works(engine: Engine, var: Var) -> bool:
    """Whether pushes, inline runs and waits go on."""
    ran: list[object] = []
    engine.push_sync(ran.append, CTX, (), (var,))
    engine.wait_for_var(var)
    if not engine.run_inline(ran.append, (1,), CTX, (), (var,), None):
        engine.push_sync(ran.append, CTX, (), (var,))  # a worker had the lock at that moment
    engine.wait_for_all()
    return len(ran) == 2


@contextmanager
def pushing_without_waiting(engine: Engine, over: threading.Event) -> Iterator[None]:
    var, started = engine.new_variable(), threading.Event()

    def push() -> None:
        while not over.is_set():
            engine.push_sync(lambda _: None, CTX, (), (var,))
            started.set()

    pusher = threading.Thread(target=push)
    pusher.start()
    started.wait()
    try:
        yield
    finally:
        over.set()
        pusher.join()


HEAD = "import threading\nfrom operad import engine as e\nfrom operad.context import cpu\n"


def run(program: str, kind: str = "threaded", head: str = HEAD) -> subprocess.CompletedProcess[str]:
    return finished(kind, "-c", head + program)


@pytest.mark.parametrize("kind", ["threaded", "naive"])
def test_pending_work_is_finished_at_exit(kind: str) -> None:
    done = run(
        "engine = e.get(); var = engine.new_variable()\n"
        "for i in range(1000): engine.push_sync(lambda _, i=i: i == 999 and print(i), cpu(), (), (var,))\n",
        kind,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "999\n", "")


def test_an_asynchronous_operation_that_nobody_completes_does_not_hang_the_exit() -> None:
    done = run(
        "kept = []; engine = e.get(); var = engine.new_variable()\n"
        "engine.push_async(lambda _, done: kept.append(done), cpu(), (), (var,))\n"
        "engine.push_sync(lambda _: print('never'), cpu(), (var,), ())\n"
        "engine.push_sync(lambda _: print('still'), cpu(), (), (engine.new_variable(),))\n"
    )
    assert (done.returncode, done.stdout) == (0, "still\n")
    assert "Traceback" not in done.stderr


def test_failures_nobody_waited_for_are_reported_on_one_line_at_exit() -> None:
    done = run(
        "engine = e.get()\n"
        "engine.push_sync(lambda _: 1 / 0, cpu(), (), (engine.new_variable(),), name='bad')\n"
    )
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith("operad: 1 failure(s) that nothing waited for: bad failed")
    assert "ZeroDivisionError" in line


def test_an_exit_with_an_error_elsewhere_keeps_that_error() -> None:
    done = run("engine = e.get(); engine.push_sync(lambda _: None, cpu())\nraise SystemExit(5)\n")
    assert (done.returncode, done.stderr) == (5, "")


@pytest.mark.parametrize("kind", ["threaded", "naive"])
def test_a_thread_that_never_stops_working_does_not_hang_the_exit(kind: str) -> None:
    # The hash lets go of the interpreter's lock, so the exit finds the engine at work whenever it looks.
    done = run(
        "from hashlib import sha256\n"
        "engine = e.get(); var = engine.new_variable(); started = threading.Event(); data = bytes(100_000)\n"
        "def work():\n"
        "    while True:\n"
        "        if not engine.run_inline(sha256, (data,), cpu(), (), (var,), None):\n"
        "            engine.push_sync(lambda _: sha256(data), cpu(), (), (var,))\n"
        "        started.set()\n"
        "threading.Thread(target=work, daemon=True).start(); started.wait()\n"
        "engine.push_sync(lambda _: print('done'), cpu(), (), (engine.new_variable(),))\n",
        kind,
    )
    assert (done.returncode, done.stdout) == (0, "done\n")

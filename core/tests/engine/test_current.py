"""The engine of the process."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from operad import engine as engines
from operad.device import cpu
from operad.engine import NaiveEngine, ThreadedEngine
from operad.engine.operation import Opr, OprBlock
from operad.errors import BlockingInOperatorError, EngineError, EngineStoppedError

CTX = cpu()


pytestmark = pytest.mark.usefixtures("own_engine")


def test_get_makes_one_engine_for_all_threads() -> None:
    seen, start = [], threading.Barrier(4)

    def look() -> None:
        start.wait()
        seen.append(engines.get())

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(engine) for engine in seen}) == 1


def test_set_takes_an_instance() -> None:
    engine = NaiveEngine()
    engines.set(engine)
    assert engines.get() is engine


def test_set_finishes_the_work_of_the_engine_before() -> None:
    ran = []
    old = engines.set("threaded")
    for _ in range(50):
        old.push_sync(ran.append, CTX)
    engines.set("naive")
    assert len(ran) == 50


def test_an_unknown_engine_is_refused_and_named() -> None:
    with pytest.raises(EngineError, match="unknown engine 'fast'; expected one of naive, threaded"):
        engines.set("fast")


def test_after_stop_the_next_get_makes_another_engine() -> None:
    first = engines.get()
    engines.stop()
    assert engines.get() is not first


def test_importing_the_engine_imports_neither_threadpoolctl_nor_logging() -> None:
    program = (
        "import sys, numpy; before = set(sys.modules); import operad.engine;"
        "print({'threadpoolctl', 'logging', 'concurrent.futures', 'asyncio'} & (set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert done.stdout.strip() == "set()", done.stderr


@pytest.mark.parametrize("wrong", [3, None, NaiveEngine, object()])
def test_what_is_no_engine_is_refused(wrong: object) -> None:
    with pytest.raises(
        EngineError, match=r"unknown engine .*; expected one of naive, threaded, or an engine"
    ):
        engines.set(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["threaded", "naive"])
@pytest.mark.parametrize("change", [engines.stop, lambda: engines.set("naive")])
def test_a_change_inside_an_operation_is_refused_before_anything_happens(kind: str, change) -> None:
    engine = engines.set(kind)
    for run in (
        lambda fn: engine.push_sync(fn, CTX, (), (engine.new_variable(),)),
        lambda fn: engine.run_inline(fn, (None,), CTX, (), (engine.new_variable(),), None),
    ):
        run(lambda _: change())
        with pytest.raises(BlockingInOperatorError, match="inside an operation"):
            engine.wait_for_all()
        assert engines.get() is engine
    ran: list[object] = []
    engine.push_sync(ran.append, CTX)
    engine.wait_for_all()
    assert len(ran) == 1


@pytest.mark.parametrize(("first", "second"), [("threaded", "naive"), ("naive", "threaded")])
def test_what_other_threads_push_during_a_change_is_run_in_order(first: str, second: str) -> None:
    engines.set(first)
    over, logs = threading.Event(), [[], [], []]

    def push(log: list[int]) -> None:
        var, number = engines.get().new_variable(), 0
        while not over.is_set():
            engine = engines.get()
            engine.push_sync(lambda _, number=number: log.append(number), CTX, (), (var,))
            if number % 7 == 0:
                engine.wait_for_var(var)
                assert len(log) == number + 1
            number += 1
        engines.get().wait_for_var(var)
        assert log == list(range(number))
        log.append(-1)

    threads = [threading.Thread(target=push, args=(log,)) for log in logs]
    for thread in threads:
        thread.start()
    for _ in range(20):
        engines.set(second)
        engines.set(first)
    over.set()
    for thread in threads:
        thread.join()
    assert [log[-1] for log in logs] == [-1] * 3


def test_a_push_that_had_begun_when_the_engine_changed_is_run_by_the_new_one() -> None:
    old, ran = engines.set("threaded"), []
    block = OprBlock(Opr(ran.append, (), (old.new_variable(),)), CTX)
    engines.set("naive")
    old.submit(block)  # what a push does once it has found nothing in its way
    assert len(ran) == 1


def test_a_change_while_an_asynchronous_operation_is_pending_waits_for_it() -> None:
    engine, held, ran = engines.set("threaded"), [], []
    var, started = engine.new_variable(), threading.Event()

    def start(_: object, done) -> None:
        held.append(done)
        started.set()

    def complete() -> None:
        started.wait()
        engines.get().push_sync(lambda _: ran.append("other"), CTX)  # passes the gate, or is held for a while
        held.pop()()

    engine.push_async(start, CTX, (), (var,))
    engine.push_sync(lambda _: ran.append("after"), CTX, (var,), ())
    thread = threading.Thread(target=complete)
    thread.start()
    new = engines.set("threaded")
    thread.join()
    new.wait_for_all()
    assert sorted(ran) == ["after", "other"]


def test_a_bulk_size_lasts_until_it_is_set_again() -> None:
    assert engines.set_bulk_size(3) == 0
    with engines.bulk(10):
        assert engines.set_bulk_size(20) == 10
    assert engines.set_bulk_size(0) == 3


def test_a_bulk_size_that_cannot_be_set_is_refused() -> None:
    with pytest.raises(EngineError, match="size is -1"):
        engines.set_bulk_size(-1)


def test_a_push_and_a_wait_through_the_engine_before_are_ones_through_the_new_engine() -> None:
    old, ran = engines.set("threaded"), []
    var = old.new_variable()
    new = engines.set("naive")
    old.push_sync(lambda _: ran.append(threading.get_ident()), CTX, (), (var,))
    assert ran == [threading.get_ident()]
    assert old.lock is new.lock
    old.stop()  # another one has taken over
    new.push_sync(ran.append, CTX, (), (var,))
    old.wait_for_var(var)
    assert len(ran) == 2


def test_a_late_push_is_waited_for_through_the_new_engine() -> None:
    """The push is submitted once the engine has changed, while another thread is in a step."""
    old, ran, gate = engines.set("threaded"), [], threading.Event()
    var = old.new_variable()
    block = OprBlock(Opr(lambda _: (gate.wait(), ran.append(1)), (), (var,)), CTX)
    new = engines.set("threaded")
    old.lock.take()
    old.submit(block)
    assert not new.is_idle(var)
    old.lock.give_back()
    gate.set()
    new.wait_for_var(var)
    assert ran == [1]


def test_the_queue_outlives_a_stopped_engine() -> None:
    first = engines.set("threaded")
    engines.stop()
    with pytest.raises(EngineStoppedError):
        first.push_sync(lambda _: None, CTX)
    second = engines.get()
    assert second is not first
    assert second.lock is first.lock


def test_an_instance_that_has_worked_alone_takes_over() -> None:
    made, ran = ThreadedEngine(1), []
    var = made.new_variable()
    made.push_sync(ran.append, CTX, (), (var,))
    before = engines.set("naive")
    assert engines.set(made) is made
    assert made.lock is before.lock
    made.push_sync(ran.append, CTX, (), (var,))
    made.wait_for_var(var)
    assert len(ran) == 2

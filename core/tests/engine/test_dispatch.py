"""Blocks between the queue and their runners."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from core.tests.engine.stepped import Stepped
from operad.device import cpu
from operad.engine import Engine, RunContext, ThreadedEngine
from operad.engine.dispatch import Dispatcher
from operad.engine.operation import DONE, Opr, OprBlock
from operad.engine.var import Var

CTX = cpu()


def test_wait_to_write_waits_for_readers_and_wait_for_var_does_not() -> None:
    engine = ThreadedEngine(2)
    var, open_gate, in_reader, log = engine.new_variable(), threading.Event(), threading.Event(), []

    def read(_: RunContext) -> None:
        in_reader.set()
        open_gate.wait()
        log.append("read")

    engine.push_sync(read, CTX, (var,), ())
    in_reader.wait()
    engine.wait_for_var(var)
    assert log == []
    assert not engine.is_idle(var)
    open_gate.set()
    engine.wait_to_write(var)
    assert log == ["read"]
    engine.stop()


def test_profiled_runs_are_reported_and_others_are_not(engine: Engine) -> None:
    var, seen = engine.new_variable(), []
    engine.profile_hook = lambda *record: seen.append(record)
    opr = engine.new_operator(lambda _: None, (), (var,), name="timed")
    engine.push(opr, CTX, profiling=True)
    engine.push(opr, CTX)
    engine.wait_for_all()
    ((name, ctx, start_s, stop_s),) = seen
    assert (name, ctx) == ("timed", CTX)
    assert start_s <= stop_s


def test_is_idle_says_whether_an_operation_names_the_variable(threaded: ThreadedEngine) -> None:
    var, gate = threaded.new_variable(), threading.Event()
    assert threaded.is_idle(var)
    threaded.push_sync(lambda _: gate.wait(), CTX, (), (var,))
    assert not threaded.is_idle(var)
    gate.set()
    threaded.wait_for_all()
    assert threaded.is_idle(var)


def test_a_push_that_interrupts_a_step_of_the_queue_is_carried_out_after_it(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a finalizer does that runs in the middle of a push, in the same thread."""
    var, log, offer = engine.new_variable(), [], engine._dispatcher.runner.offer

    def interrupted(block) -> None:
        monkeypatch.undo()
        engine.push_sync(lambda _: log.append("interrupting"), CTX, (), (var,))
        offer(block)

    monkeypatch.setattr(engine._dispatcher.runner, "offer", interrupted)
    engine.push_sync(lambda _: log.append("interrupted"), CTX, (), (var,))
    engine.wait_for_all()
    assert log == ["interrupted", "interrupting"]


@pytest.fixture
def runner() -> Stepped:
    made = Stepped()
    Dispatcher(made)
    return made


def block(fn: Callable[..., object], *writes: Var, **options: Any) -> OprBlock:
    return OprBlock(Opr(fn, (), writes, **options), CTX)


def test_a_block_is_offered_when_nothing_stands_before_it(runner: Stepped) -> None:
    dispatcher, var, log = runner._dispatcher, Var(), []
    first, second = (block(lambda _, word=word: log.append(word), var) for word in ("first", "second"))
    dispatcher.submit(first)
    dispatcher.submit(second)
    assert runner.offered == [first]
    runner.step()
    assert runner.offered == [second]
    runner.step()
    assert (log, first.state, second.state) == (["first", "second"], DONE, DONE)


def test_a_variable_is_done_when_its_writers_are_and_for_a_write_its_readers_too(runner: Stepped) -> None:
    dispatcher, var = runner._dispatcher, Var()
    dispatcher.submit(OprBlock(Opr(lambda _: None, (var,)), CTX))
    assert dispatcher.is_done(var, write=False)
    assert not dispatcher.is_done(var, write=True)
    dispatcher.submit(block(lambda _: None, var))
    assert not dispatcher.is_done(var, write=False)
    runner.step()
    runner.step()
    assert dispatcher.is_done(var, write=True)


def test_a_wait_lets_the_runner_work_until_its_variable_is_done(runner: Stepped) -> None:
    dispatcher, wanted, other, log = runner._dispatcher, Var(), Var(), []
    dispatcher.submit(block(lambda _: log.append("wanted"), wanted))
    dispatcher.submit(block(lambda _: log.append("other"), other))
    dispatcher.wait_for_var(wanted, write=False)
    assert log == ["wanted"]


def test_an_error_is_kept_with_the_variable_without_the_engines_own_frame(runner: Stepped) -> None:
    dispatcher, var = runner._dispatcher, Var()
    dispatcher.submit(block(lambda _: 1 // 0, var, name="divide"))
    runner.step()
    with pytest.raises(ZeroDivisionError) as caught:
        dispatcher.wait_for_var(var, write=False)
    cause = caught.value.__cause__
    assert cause is not None
    names = [frame.name for frame in traceback.extract_tb(cause.__traceback__)]
    assert names == ["<lambda>"]


def test_a_profiler_that_raises_is_heard_no_more_and_told_at_a_wait(runner: Stepped) -> None:
    dispatcher = runner._dispatcher

    def raising(*_: object) -> None:
        raise KeyError("profiler")

    dispatcher.profile_hook = raising
    dispatcher.report("op", CTX, 0.0)
    assert dispatcher.profile_hook is None
    (failure,) = dispatcher.queue.failures.unread()
    assert isinstance(failure.error, KeyError)
    dispatcher.report("op", CTX, 0.0)
    assert len(dispatcher.queue.failures.unread()) == 1

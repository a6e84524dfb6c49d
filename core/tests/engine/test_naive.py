"""The runner that runs everything in the thread that made it ready."""

from __future__ import annotations

import threading

import pytest

from operad.device import cpu
from operad.engine import NaiveEngine
from operad.engine.budget import ThreadBudget
from operad.engine.completion import Completion
from operad.engine.dispatch import Dispatcher
from operad.engine.naive import NaiveRunner
from operad.engine.operation import DONE, Opr, OprBlock
from operad.engine.thread import OPERATION, local

CTX = cpu()


def test_a_naive_engine_runs_at_push_in_the_calling_thread(naive: NaiveEngine) -> None:
    ran = []
    naive.push_sync(lambda _: ran.append(threading.get_ident()), CTX)
    assert ran == [threading.get_ident()]


def test_a_push_from_inside_an_operation_runs_when_the_outermost_one_is_over(naive: NaiveEngine) -> None:
    log: list[str] = []

    def inner(_: object) -> None:
        naive.push_sync(lambda _: log.append("innermost"), CTX)
        log.append("inner")

    def outer(_: object) -> None:
        naive.push_sync(inner, CTX)
        log.append("outer")

    naive.push_sync(outer, CTX)
    assert log == ["outer", "inner", "innermost"]


def test_what_another_thread_holds_up_is_run_by_the_thread_that_frees_it(naive: NaiveEngine) -> None:
    var, entered, gate, ran_in = naive.new_variable(), threading.Event(), threading.Event(), []

    def hold(_: object) -> None:
        entered.set()
        gate.wait()

    holder = threading.Thread(target=naive.push_sync, args=(hold, CTX, (), (var,)))
    holder.start()
    entered.wait()
    naive.push_sync(lambda _: ran_in.append(threading.get_ident()), CTX, (), (var,))
    assert ran_in == []
    gate.set()
    naive.wait_for_var(var)
    assert ran_in == [holder.ident]
    holder.join()


def test_a_push_of_an_asynchronous_operation_ends_when_that_is_complete(naive: NaiveEngine) -> None:
    var, log = naive.new_variable(), []

    def begin(_: object, on_complete: Completion) -> None:
        def finish() -> None:
            log.append("finished")
            on_complete()

        threading.Thread(target=finish).start()

    naive.push_async(begin, CTX, (), (var,))
    log.append("pushed")
    assert log == ["finished", "pushed"]


def test_an_error_is_raised_by_the_wait_and_not_by_the_push(naive: NaiveEngine) -> None:
    var = naive.new_variable()
    naive.push_sync(lambda _: 1 // 0, CTX, (), (var,))
    with pytest.raises(ZeroDivisionError):
        naive.wait_for_var(var)


def test_what_an_exception_kept_from_running_is_run_by_who_waits() -> None:
    """The thread that had it to run has ended before it did."""
    runner, ran = NaiveRunner(ThreadBudget(1)), []
    dispatcher = Dispatcher(runner)
    block = OprBlock(Opr(ran.append), CTX)

    def lose() -> None:
        local.state.inside = OPERATION  # as where an exception comes before `after`
        dispatcher.submit(block)

    thread = threading.Thread(target=lose)
    thread.start()
    thread.join()
    assert ran == []
    dispatcher.heal()
    assert (len(ran), block.state) == (1, DONE)

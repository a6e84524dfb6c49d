"""The `on_complete` of an asynchronous operation."""

from __future__ import annotations

import gc
import threading

import pytest

from operad.device import cpu
from operad.engine.budget import ThreadBudget
from operad.engine.completion import AsyncRun, Completion
from operad.engine.dispatch import Dispatcher
from operad.engine.lock import Request
from operad.engine.naive import NaiveRunner
from operad.engine.operation import CALLED, DONE, Opr, OprBlock
from operad.engine.var import Var
from operad.errors import EngineError


class Run:
    """One run of an asynchronous operation, which was called and is not completed."""

    def __init__(self) -> None:
        self.dispatcher = Dispatcher(NaiveRunner(ThreadBudget(1)))
        self.block = OprBlock(Opr(lambda *_: None, (), (Var(),), name="op", is_async=True), cpu())
        self.dispatcher.submit(self.block)
        self.block.state = CALLED
        self.run = AsyncRun(self.dispatcher, "op", False, Request(lambda _: None))
        self.run.block = self.block

    def on_complete(self) -> Completion:
        return Completion(self.run, self.dispatcher)

    @property
    def told(self) -> list[BaseException | None]:
        """What the operation ended with, if it did."""
        error = self.block.error
        return [] if self.block.state != DONE else [error and error.error]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(NaiveRunner, "after", lambda _: None)
    return Run()


def test_the_first_call_finishes_and_the_second_is_refused(run: Run) -> None:
    complete = run.on_complete()
    complete()
    with pytest.raises(EngineError, match="op: on_complete was called twice"):
        complete(ValueError())
    assert run.told == [None]


def test_an_error_is_passed_on_as_it_is(run: Run) -> None:
    error = KeyError("lost")
    run.on_complete()(error)
    assert run.told == [error]


def test_what_is_no_exception_finishes_with_an_engine_error(run: Run) -> None:
    run.on_complete()("text")  # type: ignore[arg-type]
    assert str(run.told[0]) == "op: on_complete was given 'text', expected an exception or None"


def test_being_dropped_uncalled_finishes_with_an_engine_error(run: Run) -> None:
    run.on_complete()
    gc.collect()
    run.dispatcher.close_dropped()
    assert "op: on_complete was dropped without being called" in str(run.told[0])


def test_being_dropped_before_the_function_is_called_tells_nothing(run: Run) -> None:
    """An exception came while the run was prepared; the block is called in another one."""
    run.run.block = None
    run.on_complete()
    gc.collect()
    run.dispatcher.close_dropped()
    assert run.told == []


def test_being_dropped_after_a_call_tells_nothing_more(run: Run) -> None:
    run.on_complete()()
    gc.collect()
    run.dispatcher.close_dropped()
    assert run.told == [None]


def test_of_many_threads_one_finishes_it(run: Run) -> None:
    start = threading.Barrier(8)
    closed: list[bool] = []

    def close() -> None:
        start.wait()
        closed.append(run.run.close(None))

    threads = [threading.Thread(target=close) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (run.told, sorted(closed)) == ([None], [False] * 7 + [True])

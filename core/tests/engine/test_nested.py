"""Operators that an operation calls run at once, and wait for nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from operad.device import cpu
from operad.engine import Engine, ThreadedEngine, nested
from operad.engine.var import Var
from operad.errors import BlockingInOperatorError

CTX = cpu()


def inside(engine: Engine, body: Callable[[], object]) -> Var:
    """A variable that an operation writes which runs `body` nested."""

    def run(_: object) -> None:
        with nested():
            body()

    var = engine.new_variable()
    engine.push_sync(run, CTX, (), (var,), name="outer")
    return var


def test_a_nested_function_runs_at_once_whatever_waits(engine: Engine) -> None:
    order: list[str] = []
    own = engine.new_variable()

    def body() -> None:
        engine.run_inline(order.append, ("inner",), CTX, (), (own,), "inner")
        engine.wait_for_var(own)
        order.append("outer")

    with engine.bulk(8):
        var = inside(engine, body)
    engine.wait_for_var(var)
    assert order == ["inner", "outer"]


def test_what_pending_work_names_is_refused(threaded: ThreadedEngine) -> None:
    other, done = threaded.new_variable(), threaded.new_variable()
    may_begin, may_end = threading.Event(), threading.Event()

    def body() -> None:
        may_begin.wait()
        threaded.run_inline(print, (), CTX, (other,), (), "reader")

    var = inside(threaded, body)
    threaded.push_sync(lambda _: may_end.wait(), CTX, (var,), (other,))
    may_begin.set()
    with pytest.raises(BlockingInOperatorError, match="reader inside an operation names an array"):
        threaded.wait_for_var(var)
    may_end.set()
    threaded.push_sync(lambda _: None, CTX, (), (other, done))
    threaded.wait_for_var(done)


def test_waiting_for_the_operation_itself_is_refused(engine: Engine) -> None:
    held: list[Var] = []
    var = inside(engine, lambda: engine.wait_for_var(held[0]))
    held.append(var)
    with pytest.raises((BlockingInOperatorError, IndexError)):
        engine.wait_for_var(var)


def test_an_error_of_a_nested_function_is_raised_at_once_and_fails_the_operation(engine: Engine) -> None:
    own, seen = engine.new_variable(), []

    def fail() -> None:
        raise ZeroDivisionError("inner")

    def body() -> None:
        try:
            engine.run_inline(fail, (), CTX, (), (own,), "inner")
        except ZeroDivisionError:
            seen.append(True)
            raise

    var = inside(engine, body)
    with pytest.raises(ZeroDivisionError, match="inner"):
        engine.wait_for_var(var)
    assert seen == [True]
    engine.wait_for_var(own)  # whoever called it was told


def test_a_variable_without_a_value_raises_its_failure(engine: Engine) -> None:
    def fail(_: object) -> None:
        raise ZeroDivisionError("before")

    spoiled = engine.new_variable()
    engine.push_sync(fail, CTX, (), (spoiled,))
    with pytest.raises(ZeroDivisionError):
        engine.wait_for_var(spoiled)
    var = inside(engine, lambda: engine.wait_for_var(spoiled))
    with pytest.raises(ZeroDivisionError, match="before"):
        engine.wait_for_var(var)

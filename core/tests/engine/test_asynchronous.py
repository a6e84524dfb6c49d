"""Operations that say themselves when they are done."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from operad.device import cpu
from operad.engine import Engine, FnProperty, RunContext
from operad.errors import (
    EngineError,
)

CTX = cpu()


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    "given",
    ["text", 0, False, ValueError, [], np.zeros(2), Unprintable()],
    ids=lambda given: type(given).__name__,
)
def test_an_on_complete_given_no_exception_fails_the_operation_and_nobody_hangs(
    engine: Engine, given: object
) -> None:
    var = engine.new_variable()
    engine.push_async(lambda _, on_complete: on_complete(given), CTX, (), (var,), name="careless")
    with pytest.raises(
        EngineError, match=r"careless: on_complete was given .*, expected an exception or None"
    ):
        engine.wait_for_var(var)
    engine.wait_for_all()


def test_an_asynchronous_operation_is_done_when_it_says_so(engine: Engine) -> None:
    var, log = engine.new_variable(), []

    def start(_: RunContext, on_complete) -> None:
        def later() -> None:
            log.append("finished")
            on_complete()

        thread = threading.Thread(target=later)
        log.append("started")
        thread.start()

    engine.push_async(start, CTX, (), (var,))
    engine.push_sync(lambda _: log.append("read"), CTX, (var,), ())
    engine.wait_for_all()
    assert log == ["started", "finished", "read"]


def test_on_complete_may_be_called_only_once(engine: Engine) -> None:
    var = engine.new_variable()

    def twice(_: RunContext, on_complete) -> None:
        on_complete()
        on_complete()

    engine.push_async(twice, CTX, (), (var,), name="hasty")
    with pytest.raises(EngineError, match="hasty: on_complete was called twice"):
        engine.wait_for_all()


def test_an_error_given_to_on_complete_surfaces_at_the_wait(engine: Engine) -> None:
    var = engine.new_variable()
    engine.push_async(lambda _, on_complete: on_complete(KeyError("late")), CTX, (), (var,))
    with pytest.raises(KeyError, match="late"):
        engine.wait_for_var(var)


def test_an_on_complete_that_is_dropped_fails_the_operation_instead_of_hanging(
    engine: Engine,
) -> None:
    var = engine.new_variable()
    engine.push_async(lambda _, on_complete: None, CTX, (), (var,), name="forgetful")
    with pytest.raises(EngineError, match="forgetful: on_complete was dropped"):
        engine.wait_for_var(var)


def test_property_async_makes_a_cached_operator_asynchronous(engine: Engine) -> None:
    var, ran = engine.new_variable(), []

    def fn(_: RunContext, on_complete) -> None:
        ran.append(1)
        on_complete()

    opr = engine.new_operator(fn, (), (var,), FnProperty.ASYNC)
    engine.push(opr, CTX)
    engine.push(opr, CTX)
    engine.wait_for_all()
    assert ran == [1, 1]

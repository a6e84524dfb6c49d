"""What every engine promises, on every engine."""

from __future__ import annotations

import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.tests.engine.programs import Program, on_engine, programs, serial
from operad.device import cpu
from operad.engine import Engine, FnProperty, RunContext, bulk
from operad.errors import (
    BlockingInOperatorError,
    EngineError,
    EngineStoppedError,
)

CTX = cpu()


def test_a_pushed_function_has_run_after_the_wait(engine: Engine) -> None:
    var, ran = engine.new_variable(), []
    engine.push_sync(ran.append, CTX, (), (var,))
    engine.wait_for_var(var)
    assert len(ran) == 1
    assert isinstance(ran[0], RunContext)
    assert ran[0].ctx is CTX


def test_a_version_counts_the_writes_that_were_pushed(engine: Engine) -> None:
    a, b = engine.new_variable(), engine.new_variable()
    engine.push_sync(lambda _: None, CTX, (a,), (b,))
    engine.push_sync(lambda _: None, CTX, (), (b,))
    assert (a.version, b.version) == (0, 2)
    assert engine.wait_for_var(b) is None
    assert engine.run_inline(lambda: None, (), CTX, (a,), (b,), None)
    assert (a.version, b.version) == (0, 3)


@pytest.mark.parametrize("prop", [FnProperty.COPY_FROM_DEVICE, FnProperty.COPY_TO_DEVICE])
def test_every_property_keeps_the_order(engine: Engine, prop: FnProperty) -> None:
    var, log = engine.new_variable(), []
    engine.push_sync(lambda _: log.append("normal"), CTX, (), (var,))
    engine.push_sync(lambda _: log.append("special"), CTX, (), (var,), prop)
    engine.wait_for_all()
    assert log == ["normal", "special"]


@pytest.mark.parametrize("wait", ["wait_for_var", "wait_to_write", "wait_for_all", "stop"])
def test_waiting_inside_an_operation_raises(engine: Engine, wait: str) -> None:
    var, other = engine.new_variable(), engine.new_variable()
    arguments = (other,) if wait.startswith("wait_") and wait != "wait_for_all" else ()
    engine.push_sync(lambda _: getattr(engine, wait)(*arguments), CTX, (), (var,))
    with pytest.raises(BlockingInOperatorError):
        engine.wait_for_var(var)


def test_an_operation_may_push_what_conflicts_with_itself(engine: Engine) -> None:
    var, log = engine.new_variable(), []

    def outer(_: RunContext) -> None:
        engine.push_sync(lambda _: log.append("inner"), CTX, (), (var,))
        log.append("outer")

    engine.push_sync(outer, CTX, (), (var,))
    engine.wait_for_all()
    assert log == ["outer", "inner"]


def test_deletion_runs_after_every_operation_and_closes_the_variable(engine: Engine) -> None:
    var, log = engine.new_variable("deleted"), []
    engine.push_sync(lambda _: log.append("used"), CTX, (), (var,))
    engine.delete_variable(lambda _: log.append("deleted"), CTX, var)
    engine.wait_for_all()
    assert log == ["used", "deleted"]
    with pytest.raises(EngineError, match="'deleted' was deleted"):
        engine.push_sync(lambda _: None, CTX, (var,), ())
    with pytest.raises(EngineError, match="'deleted'"):
        engine.wait_for_var(var)
    with pytest.raises(EngineError, match="deleted already"):
        engine.delete_variable(lambda _: None, CTX, var)
    assert not engine.run_inline(log.append, ("never",), CTX, (), (var,), None)


def test_a_stopped_engine_refuses_work(engine: Engine) -> None:
    var = engine.new_variable()
    engine.push_sync(lambda _: None, CTX, (), (var,))
    engine.stop()
    with pytest.raises(EngineStoppedError):
        engine.push_sync(lambda _: None, CTX, (), (var,))
    assert not engine.run_inline(lambda: None, (), CTX, (), (var,), None)


@given(program=programs(40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_programs_equal_a_serial_run(engine: Engine, program: Program) -> None:
    assert on_engine(engine, program) == serial(program)


@pytest.mark.more
@given(program=programs(40), size=st.integers(1, 7))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_programs_in_groups_equal_a_serial_run(engine: Engine, program: Program, size: int) -> None:
    with bulk(size):
        values = on_engine(engine, program)
    assert values == serial(program)


def test_threads_pushing_onto_shared_variables_never_deadlock(engine: Engine) -> None:
    a, b = engine.new_variable(), engine.new_variable()
    totals = {"a": 0, "b": 0}
    start = threading.Barrier(4)

    def add_to(name: str) -> None:
        totals[name] += 1

    def pusher(first, second, name: str) -> None:
        start.wait()
        for _ in range(500):
            engine.push_sync(lambda _: add_to(name), CTX, (second,), (first,))
            if not engine.run_inline(add_to, (name,), CTX, (second,), (first,), None):
                engine.push_sync(lambda _: add_to(name), CTX, (second,), (first,))

    sides = [(a, b, "a"), (b, a, "b"), (a, b, "a"), (b, a, "b")]
    threads = [threading.Thread(target=pusher, args=side) for side in sides]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    engine.wait_for_all()
    assert totals == {"a": 2000, "b": 2000}

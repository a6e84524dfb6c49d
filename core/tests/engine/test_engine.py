"""What every engine promises, on every engine."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.tests.engine.programs import Program, on_engine, programs, serial
from operad.device import cpu
from operad.engine import Engine, FnProperty, NaiveEngine, RunContext, ThreadedEngine
from operad.errors import (
    BlockingInOperatorError,
    DuplicateVarError,
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


def test_a_prepared_operator_may_be_pushed_while_it_is_pending(engine: Engine) -> None:
    var, ran = engine.new_variable(), []
    opr = engine.new_operator(lambda _: ran.append(len(ran)), (), (var,))
    for _ in range(100):
        engine.push(opr, CTX)
    engine.wait_for_var(var)
    assert ran == list(range(100))


def test_a_deleted_operator_runs_what_was_pushed_and_refuses_more(engine: Engine) -> None:
    var, ran = engine.new_variable(), []
    opr = engine.new_operator(ran.append, (), (var,), name="gone")
    engine.push(opr, CTX)
    engine.delete_operator(opr)
    with pytest.raises(EngineError, match="'gone': the operator was deleted"):
        engine.push(opr, CTX)
    engine.wait_for_all()
    assert len(ran) == 1


@pytest.mark.parametrize("lists", [((0, 0), ()), ((), (0, 0)), ((0,), (0,))])
def test_a_variable_named_twice_is_refused(engine: Engine, lists: tuple) -> None:
    var = engine.new_variable("w_grad")
    reads, writes = ([var for _ in names] for names in lists)
    with pytest.raises(DuplicateVarError, match="w_grad"):
        engine.push_sync(lambda _: None, CTX, reads, writes)
    with pytest.raises(DuplicateVarError):
        engine.new_operator(lambda _: None, reads, writes)


MISUSES = {
    "no function": ({"fn": None}, "fn is None, expected a function"),
    "a number as function": ({"fn": 3}, "fn is 3, expected a function"),
    "a number as variable": ({"const_vars": (3,)}, r"const_vars has 3, expected variables; make one with"),
    "a number to write": ({"mutable_vars": (3,)}, "mutable_vars has 3, expected variables"),
    "an array as variable": (
        {"mutable_vars": [np.ones(2)]},
        r"mutable_vars has array\(.*, expected variables",
    ),
    "None as variable": ({"const_vars": [None]}, "const_vars has None, expected variables"),
    "no list": ({"const_vars": 3}, "const_vars is 3, expected variables"),
    "None as list": ({"mutable_vars": None}, "mutable_vars is None, expected variables"),
    "text as list": ({"mutable_vars": "ab"}, "mutable_vars has 'a', expected variables"),
    "text as property": ({"prop": "async"}, "prop is 'async', expected an FnProperty"),
    "a list as property": ({"prop": []}, r"prop is \[\], expected an FnProperty"),
    "no context": ({"ctx": None}, "ctx is None and priority 0, expected a Context"),
    "text as context": ({"ctx": "cpu"}, "ctx is 'cpu' and priority 0, expected a Context"),
    "a fraction as priority": ({"priority": 1.5}, "priority 1.5, expected a Context and an integer"),
    "arrays as old contents": ({"reads_mutable": 3}, "reads_mutable is 3, expected variables"),
}


@pytest.mark.parametrize(("wrong", "message"), MISUSES.values(), ids=MISUSES)
@pytest.mark.parametrize("method", ["push_sync", "push_async", "new_operator"])
def test_what_cannot_run_is_refused_where_it_is_pushed(
    engine: Engine, method: str, wrong: dict[str, object], message: str
) -> None:
    var = engine.new_variable()
    given = {"fn": lambda *_: None, "ctx": CTX, "mutable_vars": (var,), "name": "careless", **wrong}
    if method == "new_operator":
        for name in ("ctx", "priority"):
            if name in wrong:
                opr = engine.new_operator(lambda _: None, name="careless")
                with pytest.raises(EngineError, match=f"push of 'careless': .*{message}"):
                    engine.push(opr, **{"ctx": CTX, **wrong})  # type: ignore[arg-type]
                return
        del given["ctx"]
    with pytest.raises(EngineError, match=f"push of 'careless': .*{message}"):
        getattr(engine, method)(**given)
    assert var.version == 0
    engine.wait_for_all()


def test_only_prepared_operators_can_be_pushed(engine: Engine) -> None:
    with pytest.raises(EngineError, match="expected what new_operator"):
        engine.push(lambda _: None, CTX)  # type: ignore[arg-type]


def test_a_version_counts_the_writes_that_were_pushed(engine: Engine) -> None:
    a, b = engine.new_variable(), engine.new_variable()
    engine.push_sync(lambda _: None, CTX, (a,), (b,))
    engine.push_sync(lambda _: None, CTX, (), (b,))
    assert (a.version, b.version) == (0, 2)
    assert engine.wait_for_var(b) is None
    assert engine.run_inline(lambda: None, (), CTX, (a,), (b,), None)
    assert (a.version, b.version) == (0, 3)


@pytest.mark.parametrize(
    "prop", [FnProperty.COPY_FROM_DEVICE, FnProperty.COPY_TO_DEVICE, FnProperty.CPU_PRIORITIZED]
)
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


def test_waiting_inside_an_inline_function_raises(engine: Engine) -> None:
    var, other = engine.new_variable(), engine.new_variable()
    assert engine.run_inline(engine.wait_for_var, (other,), CTX, (), (var,), None)
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


def test_an_inline_function_may_push_what_conflicts_with_itself(engine: Engine) -> None:
    var, log = engine.new_variable(), []

    def outer() -> None:
        engine.push_sync(lambda _: log.append("inner"), CTX, (), (var,))
        assert not engine.run_inline(log.append, ("never",), CTX, (), (var,), None)
        log.append("outer")

    assert engine.run_inline(outer, (), CTX, (), (var,), None)
    engine.wait_for_all()
    assert log == ["outer", "inner"]


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


def test_deletion_runs_after_every_operation_and_closes_the_variable(engine: Engine) -> None:
    var, log = engine.new_variable("mortal"), []
    engine.push_sync(lambda _: log.append("used"), CTX, (), (var,))
    engine.delete_variable(lambda _: log.append("deleted"), CTX, var)
    engine.wait_for_all()
    assert log == ["used", "deleted"]
    with pytest.raises(EngineError, match="'mortal' was deleted"):
        engine.push_sync(lambda _: None, CTX, (var,), ())
    with pytest.raises(EngineError, match="'mortal'"):
        engine.wait_for_var(var)
    with pytest.raises(EngineError, match="deleted already"):
        engine.delete_variable(lambda _: None, CTX, var)
    assert not engine.run_inline(log.append, ("never",), CTX, (), (var,), None)


@pytest.mark.parametrize("wrong", [{"ctx": "cpu"}, {"ctx": CTX, "priority": "high"}])
def test_a_push_to_no_context_or_of_no_priority_is_refused_and_leaves_no_trace(
    engine: Engine, wrong: dict
) -> None:
    var, log = engine.new_variable(), []
    with pytest.raises(EngineError, match="expected a Context and an integer"):
        engine.push_sync(log.append, const_vars=(), mutable_vars=(var,), **wrong)
    engine.push_sync(log.append, CTX, (), (var,))
    engine.wait_for_all()
    assert len(log) == 1


def test_a_stopped_engine_refuses_work(engine: Engine) -> None:
    var = engine.new_variable()
    engine.push_sync(lambda _: None, CTX, (), (var,))
    engine.stop()
    with pytest.raises(EngineStoppedError):
        engine.push_sync(lambda _: None, CTX, (), (var,))
    assert not engine.run_inline(lambda: None, (), CTX, (), (var,), None)


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


def test_run_inline_refuses_what_conflicts_and_allows_reading_beside_a_reader(
    threaded: ThreadedEngine,
) -> None:
    var, gate, started, log = threaded.new_variable(), threading.Event(), threading.Event(), []

    def hold(_: RunContext) -> None:
        started.set()
        gate.wait()

    threaded.push_sync(hold, CTX, (var,), ())
    started.wait()
    assert not threaded.run_inline(log.append, ("write",), CTX, (), (var,), None)
    assert threaded.run_inline(log.append, ("read",), CTX, (var,), (), None)
    gate.set()
    threaded.wait_for_all()
    assert log == ["read"]


def test_other_threads_pushes_during_an_inline_function_run_after_it(threaded: ThreadedEngine) -> None:
    var, log = threaded.new_variable(), []

    def inline() -> None:
        pusher = threading.Thread(
            target=threaded.push_sync, args=(lambda _: log.append("pushed"), CTX, (), (var,))
        )
        pusher.start()
        pusher.join()
        log.append("inline")

    assert threaded.run_inline(inline, (), CTX, (), (var,), None)
    threaded.wait_for_var(var)
    assert log == ["inline", "pushed"]


@given(program=programs(40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_programs_equal_a_serial_run(engine: Engine, program: Program) -> None:
    assert on_engine(engine, program) == serial(program)


@given(program=programs(40), size=st.integers(1, 7))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_programs_in_groups_equal_a_serial_run(engine: Engine, program: Program, size: int) -> None:
    with engine.bulk(size):
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


def test_a_naive_engine_runs_at_push_in_the_calling_thread(naive: NaiveEngine) -> None:
    ran = []
    naive.push_sync(lambda _: ran.append(threading.get_ident()), CTX)
    assert ran == [threading.get_ident()]


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

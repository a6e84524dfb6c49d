"""Operators that an operation calls run at once, and wait for nothing."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from core.tests.engine.stepped import SteppedEngine
from operad.device import cpu
from operad.engine import Engine, ThreadedEngine, back_pressure, bulk, nested
from operad.engine.operation import CALLED, OprBlock
from operad.engine.thread import NESTED, local
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


def without_value(engine: Engine) -> Var:
    """A variable whose writer has failed, as a wait has said."""

    def fail(_: object) -> None:
        raise ZeroDivisionError("before")

    var = engine.new_variable()
    engine.push_sync(fail, CTX, (), (var,))
    with pytest.raises(ZeroDivisionError):
        engine.wait_for_var(var)
    return var


def test_a_nested_function_runs_at_once_whatever_waits(engine: Engine) -> None:
    order: list[str] = []
    own = engine.new_variable()

    def body() -> None:
        engine.run_inline(order.append, ("inner",), CTX, (), (own,), "inner")
        engine.wait_for_var(own)
        order.append("outer")

    with bulk(8):
        var = inside(engine, body)
    engine.wait_for_var(var)
    assert order == ["inner", "outer"]


@pytest.fixture
def stepped() -> Iterator[SteppedEngine]:
    """An engine whose other thread runs one block while an operation waits."""
    made = SteppedEngine()
    made.num_done_in_a_wait = 1
    made.runner.pick = lambda count: count - 1
    yield made
    made.stop()


def test_an_operation_waits_for_pending_work_on_what_it_does_not_hold(stepped: SteppedEngine) -> None:
    other, log = stepped.new_variable(), []
    for tag in "ab":
        stepped.push_sync(lambda _, tag=tag: log.append(tag), CTX, (), (other,))

    def body() -> None:
        log.append("begun")
        assert stepped.run_inline(log.append, ("read",), CTX, (other,), (), "reader")

    inside(stepped, body)
    stepped.runner.step()
    assert log == ["begun", "a", "b", "read"]
    assert stepped.waits == [back_pressure._PATIENCE_S] * 2


def test_a_wait_inside_lasts_while_another_thread_runs_something_that_does_not_wait(
    stepped: SteppedEngine,
) -> None:
    """Two such waits, each of which the other operation could end, both give up."""
    other, runner = stepped.new_variable(), stepped.runner
    long = OprBlock(stepped.new_operator(print), CTX)
    long.state = CALLED
    runner.others.append(long)
    seen = []

    def wait(*_: object) -> bool:
        seen.append(len(runner.others))
        if len(seen) == 3:
            stepped._dispatcher.waiting_inside.append(long)
        return False

    def body() -> None:
        stepped._dispatcher.wait_until = wait  # type: ignore[method-assign]
        stepped.push_sync(lambda _: None, CTX, (), (other,))
        stepped.run_inline(print, (), CTX, (other,), (), "function")

    var = inside(stepped, body)
    runner.step()
    assert len(seen) == 3
    runner.others.clear()
    assert stepped._dispatcher.waiting_inside == [long]
    with pytest.raises(BlockingInOperatorError):
        stepped.wait_for_var(var)
    del stepped._dispatcher.wait_until


@pytest.mark.parametrize("is_read", [False, True])
def test_what_waits_for_the_operation_itself_is_refused(stepped: SteppedEngine, is_read: bool) -> None:
    """The first operation has the other variable already, and waits for what the second one writes."""
    other, log, variables = stepped.new_variable(), [], []

    def body() -> None:
        stepped.push_sync(log.append, CTX, (variables[0],), (other,))
        named = ((other,), ()) if is_read else ((), (other,))
        stepped.run_inline(log.append, ("nested",), CTX, *named, "function")

    variables.append(inside(stepped, body))
    with pytest.raises(BlockingInOperatorError, match="function inside an operation names an array that the"):
        stepped.wait_for_var(variables[0])
    assert log == []
    assert stepped.waits == [back_pressure._PATIENCE_S], "in vain"
    with pytest.raises(BlockingInOperatorError):
        stepped.wait_for_var(other)


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
    spoiled = without_value(engine)
    var = inside(engine, lambda: engine.wait_for_var(spoiled))
    with pytest.raises(ZeroDivisionError, match="before"):
        engine.wait_for_var(var)


@pytest.mark.parametrize("is_claimed", [False, True])
def test_an_operation_uses_what_it_holds_whatever_is_queued_behind_it(
    engine: Engine, is_claimed: bool
) -> None:
    """Reads of both, writes of what it writes, and waits for them; also inside what it calls."""
    read, written, own, log = *(engine.new_variable() for _ in range(3)), []

    def call(tag: str, const: tuple[Var, ...], mutable: tuple[Var, ...]) -> None:
        assert engine.run_inline(log.append, (tag,), CTX, const, mutable, tag)

    def inner() -> None:
        with nested():
            call("inner", (own, read), (written,))
        log.append("inner ends")

    def body() -> None:
        engine.push_sync(lambda _: log.append("behind"), CTX, (), (read, written))
        call("read", (read, written), ())
        call("write", (read,), (written, own))
        engine.wait_for_var(written)
        engine.wait_to_write(written)
        engine.wait_for_var(read)
        assert engine.run_inline(inner, (), CTX, (read,), (written,), "outer call")
        log.append("operation ends")

    def run(*_: object) -> None:
        with nested():
            body()

    if is_claimed:
        assert engine.run_inline(run, (), CTX, (read,), (written,), "outer")
    else:
        engine.push_sync(run, CTX, (read,), (written,), name="outer")
    engine.wait_for_all()
    assert log == ["read", "write", "inner", "inner ends", "operation ends", "behind"]
    assert (read.holders, written.holders, own.holders) == (0, 0, 0)


def test_writes_inside_an_operation_were_counted_by_its_push(engine: Engine) -> None:
    """A version is a function of the program, and not of when an operation runs."""
    written, seen = engine.new_variable(), []

    def run(_: object) -> None:
        with nested():
            seen.append(written.version)
            for _ in range(3):
                engine.run_inline(seen.append, ("write",), CTX, (), (written,), None)
            seen.append(written.version)

    engine.push_sync(run, CTX, (), (written,))
    engine.wait_for_all()
    assert seen == [1, *["write"] * 3, 1]


def test_an_operation_must_not_write_what_it_holds_for_reading(engine: Engine) -> None:
    read, done, log = engine.new_variable(), engine.new_variable(), []

    def run(_: object) -> None:
        with nested():
            engine.run_inline(log.append, ("written",), CTX, (), (read,), "writer")

    engine.push_sync(run, CTX, (read,), (done,))
    with pytest.raises(BlockingInOperatorError, match="writer inside an operation writes an array that the"):
        engine.wait_for_var(done)
    assert log == []


def test_what_an_operation_overwrites_has_a_value_once_it_has_written_it(engine: Engine) -> None:
    written, log = without_value(engine), []

    def run(_: object) -> None:
        with nested():
            with pytest.raises(ZeroDivisionError, match="before"):
                engine.run_inline(log.append, ("too early",), CTX, (written,), (), None)
            engine.run_inline(log.append, ("write",), CTX, (), (written,), None)
            engine.run_inline(log.append, ("read",), CTX, (written,), (), None)

    engine.push_sync(run, CTX, (), (written,))
    engine.wait_for_var(written)
    assert log == ["write", "read"]


def test_an_error_on_what_an_operation_holds_is_raised_at_once_and_leaves_it_held(engine: Engine) -> None:
    written, seen = engine.new_variable(), []

    def fail() -> None:
        raise ZeroDivisionError("inner")

    def run(_: object) -> None:
        with nested():
            with pytest.raises(ZeroDivisionError, match="inner"):
                engine.run_inline(fail, (), CTX, (), (written,), "inner")
            seen.append(written.holders)

    engine.push_sync(run, CTX, (), (written,))
    engine.wait_for_var(written)
    assert seen == [-1]


def test_a_failure_that_pending_work_overwrites_is_not_raised(stepped: SteppedEngine) -> None:
    other, log = without_value(stepped), []
    stepped.push_sync(lambda _: log.append("written"), CTX, (), (other,))
    var = inside(stepped, lambda: stepped.run_inline(log.append, ("read",), CTX, (other,), (), None))
    stepped.runner.step()
    stepped.wait_for_var(var)
    assert log == ["written", "read"]


def test_a_wait_inside_lasts_while_something_is_handed_out_that_no_thread_has_taken(
    stepped: SteppedEngine,
) -> None:
    """A worker that comes late is no deadlock."""
    other, log = stepped.new_variable(), []
    stepped.num_done_in_a_wait = 0

    def body() -> None:
        stepped.push_sync(lambda _: log.append("written"), CTX, (), (other,))
        assert stepped.run_inline(log.append, ("read",), CTX, (other,), (), None)

    def late(is_over: Callable[[], bool], timeout_s: float) -> bool:
        stepped.num_done_in_a_wait = len(stepped.waits) == 3
        return wait(is_over, timeout_s)

    wait = stepped._dispatcher.wait_until
    stepped._dispatcher.wait_until = late  # type: ignore[method-assign]
    var = inside(stepped, body)
    stepped.runner.step()
    stepped.wait_for_var(var)
    assert log == ["written", "read"]
    assert len(stepped.waits) == 4


def test_a_thread_that_waits_inside_an_operation_runs_no_other_one(stepped: SteppedEngine) -> None:
    """It would be outside afterwards."""
    engine, seen = ThreadedEngine(num_threads=1), []
    ready, other = engine.new_variable(), engine.new_variable()

    def body() -> None:
        engine.push_sync(lambda _: seen.append(threading.get_ident()), CTX, (), (other,))
        engine.wait_for_var(other)
        assert local.state.inside == NESTED
        seen.append(threading.get_ident())

    engine.wait_for_var(inside(engine, body))
    engine.wait_for_var(ready)
    engine.stop()
    assert len(set(seen)) == 2


@pytest.mark.parametrize("num_threads", [1, 2, 3])
def test_operations_that_wait_inside_leave_their_places_to_others(num_threads: int) -> None:
    """Random programs: each operation reads results of earlier ones, most of which it does not name."""
    rng = random.Random(20261129 + num_threads)
    engine = ThreadedEngine(num_threads=num_threads)
    for _ in range(20):
        results, expected = push_readers(engine, rng)
        engine.wait_for_all()
        assert results == expected
    engine.stop()  # a worker that has told of the last operation may not have release its place yet
    assert engine.budget.running == []


def push_readers(engine: Engine, rng: random.Random) -> tuple[list[int], list[int]]:
    """The results of 12 operations, and what they are to be."""
    variables = [engine.new_variable() for _ in range(12)]
    results, expected = [0] * 12, []

    def run(number: int, read: list[int]) -> None:
        with nested():
            for index in read:
                engine.wait_for_var(variables[index])
        results[number] = 1 + number + sum(results[index] for index in read)

    for number, var in enumerate(variables):
        read = rng.sample(range(number), min(number, rng.randrange(4)))
        expected.append(1 + number + sum(expected[index] for index in read))
        named = [variables[index] for index in read if rng.random() < 0.3]
        call = partial(run, number, read)
        # The later, the sooner: all places are taken by operations that wait.
        engine.push_sync(lambda _, call=call: call(), CTX, named, (var,), priority=number)
    return results, expected


def test_nothing_is_waited_for_where_no_operation_is_known(stepped: SteppedEngine) -> None:
    var, log = stepped.new_variable(), []
    stepped.push_sync(log.append, CTX, (), (var,))
    with nested(), pytest.raises(BlockingInOperatorError):
        stepped.run_inline(log.append, ("nested",), CTX, (var,), (), None)
    assert (log, stepped.waits) == ([], [])


def test_a_wait_inside_an_operation_leaves_what_it_overwrites_without_a_value(engine: Engine) -> None:
    written, seen = without_value(engine), []

    def run(_: object) -> None:
        with nested():
            engine.wait_to_write(written)
            seen.append(written.failure is not None)

    engine.push_sync(run, CTX, (), (written,))
    engine.wait_for_var(written)
    assert seen == [True]

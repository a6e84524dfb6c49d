"""Programs in which something ends, fails, or is called by what runs: deletions, stops, finalizers, forks."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress

import operad as od
from operad import engine, errors, nd
from operad.engine import Engine
from tests.reliability.laboratory.exploring import HUNG_STATUS, Violation
from tests.reliability.laboratory.programs.program import CTX, Cell, Parts, expect, program


@program(is_small=True)
def delete_variable() -> Parts:
    """A variable is deleted while another thread pushes a reader of it."""
    current, cell = engine.get(), Cell("one")
    accepted: list[str] = []

    def delete() -> None:
        cell.push("a")
        current.delete_variable(lambda _: cell.ran.append("deleted"), CTX, cell.var)

    def read() -> None:
        try:
            current.push_sync(lambda _: cell.ran.append("b"), CTX, (cell.var,), ())
        except errors.EngineError:
            return
        accepted.append("b")

    def check() -> None:
        current.wait_for_all()
        expect(sorted(cell.ran), sorted(["a", "deleted", *accepted]))
        expect(cell.ran[-1], "deleted")

    return [delete, read], check


@program(is_small=True)
def delete_operator() -> Parts:
    """An operator is deleted while another thread pushes it."""
    current, cell = engine.get(), Cell("one")
    opr = current.new_operator(lambda _: cell.ran.append("a"), (), (cell.var,))
    accepted: list[str] = []

    def delete() -> None:
        current.push(opr, CTX)
        current.delete_operator(opr)

    def push() -> None:
        try:
            current.push(opr, CTX)
        except errors.EngineError:
            return
        accepted.append("a")
        cell.wait()

    def check() -> None:
        cell.wait()
        expect(cell.ran, ["a", *accepted])

    return [delete, push], check


@program()
def stop() -> Parts:
    """The engine stops while another thread pushes and waits."""
    current, cell = engine.get(), Cell("one")
    accepted: list[str] = []

    def work() -> None:
        for tag in "ab":
            try:
                cell.push(tag, current)
            except errors.EngineStoppedError:
                return
            accepted.append(tag)
            current.wait_for_var(cell.var)
            expect(cell.ran, list(accepted))

    return [work, engine.stop], lambda: expect(cell.ran, accepted)


class _PlannedError(Exception):
    """What a pushed function raises."""


def _fail(_: object) -> None:
    raise _PlannedError


@program()
def failure_and_overwrite() -> Parts:
    """A failure, what reads it, and a write that ends it; another thread reads at some moment between."""
    current, cell, first, second = engine.get(), Cell("one"), Cell("first"), Cell("second")
    raised: list[str] = []

    def copy(target: Cell) -> None:
        def run(_: object) -> None:
            target.ran[:] = cell.ran

        current.push_sync(run, CTX, (cell.var,), (target.var,), name=f"copy to {target.var.name}")

    def fail() -> None:
        current.push_sync(_fail, CTX, (), (cell.var,), name="fails")
        copy(first)
        cell.push("a")
        current.wait_for_var(cell.var)  # a later write has succeeded
        try:
            current.wait_for_var(first.var)
        except _PlannedError:
            raised.append("first")

    def read() -> None:
        copy(second)
        try:
            current.wait_for_var(second.var)
        except _PlannedError:
            raised.append("second")
        else:
            expect(second.ran, [], ["a"])

    def check() -> None:
        expect("first" in raised, True, verdict="lost")
        expect(first.ran, [])
        expect(cell.ran, ["a"])
        current.wait_for_all()  # the failure was raised, and is not raised again

    return [fail, read], check


@program()
def failures_at_a_wait_for_all() -> Parts:
    """Two threads fail and wait for everything: each failure is raised once, at one wait or the other."""
    current, cells = engine.get(), [Cell("one"), Cell("other")]
    raised: list[BaseException] = []

    def work(cell: Cell) -> None:
        current.push_sync(_fail, CTX, (), (cell.var,), name=cell.var.name)
        try:
            current.wait_for_all()
        except _PlannedError as error:
            raised.append(error)
        except ExceptionGroup as group:
            raised.extend(group.exceptions)

    def check() -> None:
        expect(len(raised), 2, verdict="lost")

    return [lambda: work(cells[0]), lambda: work(cells[1])], check


@program()
def operations_that_push() -> Parts:
    """An operation pushes another one to a variable that a second thread writes."""
    current, one, other = engine.get(), Cell("one"), Cell("other")

    def run(_: object) -> None:
        one.ran.append("a")
        other.push("b", current)

    def push() -> None:
        current.push_sync(run, CTX, (), (one.var,))
        one.wait("a")
        other.wait("b")

    def work() -> None:
        other.push("c", current)
        other.wait("c")

    return [push, work], lambda: expect(sorted(other.ran), ["b", "c"])


@program("engine imperative storage")
def nested_calls() -> Parts:
    """An operation calls operators, which run at once, beside a thread that calls them itself."""
    current, x, cell = engine.get(), nd.ones((4,)), Cell("one")
    x.asnumpy()

    def run(_: object) -> None:
        with engine.nested():
            cell.ran.append(str((x + 1.0).asnumpy().tolist()))

    def push() -> None:
        current.push_sync(run, CTX, (), (cell.var,))
        cell.wait()

    def work() -> None:
        expect((x * 3.0).asnumpy().tolist(), [3.0] * 4)

    return [push, work], lambda: expect(cell.ran, [str([2.0] * 4)])


@program(num_threads=2)
def nested_on_what_is_held() -> Parts:
    """An operation calls functions on what it holds, and a second thread pushes to that beside it."""
    current, read, written = engine.get(), Cell("read"), Cell("written")

    def run(_: object) -> None:
        with engine.nested():
            seen = len(read.ran)
            for tag in "ab":
                current.run_inline(written.ran.append, (tag,), CTX, (read.var,), (written.var,), tag)
            current.wait_for_var(written.var)
            expect(len(read.ran), seen)
            expect(written.ran[-2:], ["a", "b"])

    def push() -> None:
        current.push_sync(run, CTX, (read.var,), (written.var,), name="operation")
        written.push("c")
        written.wait(*"abc")

    def write() -> None:
        read.push("x")
        written.push("y")

    def check() -> None:
        current.wait_for_all()
        expect(read.ran, ["x"])
        expect([tag for tag in written.ran if tag != "y"], list("abc"))

    return [push, write], check


@program(num_threads=2)
def nested_on_what_others_write() -> Parts:
    """An operation writes what it does not hold, beside what another thread completes and pushes.

    It waits for these, unless nothing seems to run for a second, which some schedules let pass.
    """
    current, done, other = engine.get(), Cell("done"), Cell("other")
    begun = threading.Lock()
    begun.acquire()
    completions: list[Callable[[], object]] = []

    def run(_: object) -> None:
        with engine.nested(), suppress(errors.BlockingInOperatorError):
            current.run_inline(other.write_in_parts, ("a",), CTX, (), (other.var,), "nested")
        done.ran.append("operation")

    def begin(_: object, on_complete: Callable[[], object]) -> None:
        completions.append(on_complete)
        begun.release()

    def push() -> None:
        current.push_async(begin, CTX, (), (other.var,))
        current.push_sync(run, CTX, (), (done.var,), name="operation")
        done.wait("operation")

    def complete() -> None:
        begun.acquire()
        other.write_in_parts("c")
        completions.pop()()
        current.push_sync(lambda _: other.write_in_parts("d"), CTX, (), (other.var,), name="d")
        other.wait("d")

    return [push, complete], lambda: expect(other.written_in_parts(), "cad", "cda", "cd")


class _Dying:
    """What pushes when it dies: its finalizer is a function of Python, where threads may be switched."""

    def __init__(self, cell: Cell, tag: str) -> None:
        self._cell, self._tag = cell, tag

    def __del__(self) -> None:
        self._cell.push(self._tag)


def _finalizers() -> Parts:
    current, log, one, other = engine.get(), Cell("log"), Cell("one"), Cell("other")

    def push(cell: Cell, tag: str) -> None:
        dying = _Dying(log, tag)

        def run(_: object) -> None:
            dying  # noqa: B018 - the operation alone keeps it
            cell.ran.append(tag)

        current.push_sync(run, CTX, (), (cell.var,), name=tag)

    def work(cell: Cell, tags: str) -> None:
        for tag in tags:
            push(cell, tag)
        cell.wait(*tags)

    def check() -> None:
        current.wait_for_all()
        expect(one.ran, ["a", "b"])
        expect(other.ran, ["c", "d"])

    return [lambda: work(one, "ab"), lambda: work(other, "cd")], check


@program(num_threads=2)
def finalizers() -> Parts:
    """Operations that alone keep objects whose finalizers push, on two workers."""
    return _finalizers()


@program(engine="naive")
def naive_finalizers() -> Parts:
    """The same on the naive engine, whose operations run where they are pushed."""
    return _finalizers()


@program()
def asynchronous() -> Parts:
    """An asynchronous operation that another thread completes."""
    current, cell = engine.get(), Cell("one")
    begun = threading.Lock()
    begun.acquire()
    completions: list[Callable[[], object]] = []

    def run(_: object, on_complete: Callable[[], object]) -> None:
        completions.append(on_complete)
        begun.release()

    def push() -> None:
        current.push_async(run, CTX, (), (cell.var,))
        cell.push("b")
        cell.wait("b")

    def complete() -> None:
        begun.acquire()
        cell.ran.append("a")
        completions.pop()()

    return [push, complete], lambda: expect(cell.ran, ["a", "b"])


@program(max_pending=2)
def many_pending() -> Parts:
    """Two threads push more than may be pending."""
    one, other = Cell("one"), Cell("other")

    def push(cell: Cell, tags: str) -> None:
        for tag in tags:
            cell.push(tag)

    def check() -> None:
        one.wait(*"abc")
        other.wait("d")
        expect(one.ran, list("abc"))
        expect(other.ran, ["d"])

    return [lambda: push(one, "abc"), lambda: push(other, "d")], check


@program()
def fork() -> Parts:
    """A thread forks beside one that pushes; the child computes, and the parent goes on."""
    current, one, other = engine.get(), Cell("one"), Cell("other")

    def fork_and_push() -> None:
        one.push("a")
        pid = os.fork()
        if not pid:
            _compute_and_exit(current, one)
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code:
            raise Violation("hang" if code == HUNG_STATUS else "wrong", f"the child ended with {code}")
        one.wait("a")

    def push() -> None:
        other.push("b")
        other.wait("b")

    def check() -> None:
        expect(one.ran, ["a"])
        expect(other.ran, ["b"])

    return [fork_and_push, push], check


def _compute_and_exit(current: Engine, cell: Cell) -> None:
    code = 1
    try:
        fresh = Cell("fresh")
        fresh.push("c", current)
        fresh.wait("c")
        code = 0
    finally:
        os._exit(code)


@program("executor engine", is_small=True)
def one_executor() -> Parts:
    """Two threads run one executor with inputs of their own: one after the other, or one is refused."""
    left, right = od.sym.Variable("left"), od.sym.Variable("right")
    executor = (left * 10.0 + right).simple_bind(CTX, left=(2,), right=(2,))
    inputs = {value: nd.full((2,), value) for value in (1.0, 2.0)}

    def work(value: float) -> None:
        try:
            (output,) = executor.forward(left=inputs[value], right=inputs[value])
            found = output.asnumpy().tolist()
        except errors.ExecutorBusyError:
            return
        expect(found, [11.0] * 2, [22.0] * 2)

    def check() -> None:
        value = executor.arg_dict["left"].asnumpy()[0].item()
        expect(executor.arg_dict["right"].asnumpy().tolist(), [value] * 2)
        expect(executor.outputs[0].asnumpy().tolist(), [11.0 * value] * 2)

    return [lambda: work(1.0), lambda: work(2.0)], check

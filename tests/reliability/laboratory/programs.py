"""Programs of two or three threads, and what each must give: what some serial order of its pushes gives."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, final

import operad as od
from operad import engine, errors, nd
from operad.engine import Engine, Var
from tests.reliability.laboratory.exploring import HUNG_STATUS, Violation

CTX: Final = od.cpu()

Parts = tuple[list[Callable[[], object]], Callable[[], object]]
"""What the threads do, and what is looked at when all have ended."""


@final
@dataclass(frozen=True, slots=True)
class Program:
    """A program to explore.

    Attributes:
        name: What the command line and the tables call it.
        begin: Makes a world; nothing of it is explored yet.
        settings: `OPERAD_*` settings of its process.
        packages: Packages of operad whose code has points.
        is_small: Whether all its schedules with two preemptions can be tried, in some minutes.
    """

    name: str
    begin: Callable[[], Parts]
    settings: Mapping[str, object]
    packages: tuple[str, ...]
    is_small: bool


PROGRAMS: Final[dict[str, Program]] = {}


def program(
    packages: str = "engine", *, is_small: bool = False, **settings: object
) -> Callable[[Callable[[], Parts]], Callable[[], Parts]]:
    """Enter a program under its function's name."""

    def enter(begin: Callable[[], Parts]) -> Callable[[], Parts]:
        name = begin.__name__
        known = {"num_threads": 1, **settings}
        PROGRAMS[name] = Program(name, begin, known, tuple(packages.split()), is_small)
        return begin

    return enter


def expect(found: object, *wanted: object, verdict: str = "wrong") -> None:
    """One of `wanted` was found."""
    if found not in wanted:
        raise Violation(verdict, f"found {found!r}, expected {' or '.join(map(repr, wanted))}")


@final
class Cell:
    """A variable of the engine, and the writes to it that have run."""

    def __init__(self, name: str) -> None:
        self.var: Var = engine.get().new_variable(name)
        self.ran: list[str] = []

    def push(self, tag: str, on: Engine | None = None) -> None:
        """Push a write."""
        (on or engine.get()).push_sync(lambda _: self.ran.append(tag), CTX, (), (self.var,), name=tag)

    def wait(self, *tags: str) -> None:
        """Wait for all writes pushed so far, which `tags` are among."""
        engine.get().wait_for_var(self.var)
        missing = [tag for tag in tags if tag not in self.ran]
        if missing:
            raise Violation("wrong", f"a wait for {self.var!r} returned before {missing} ran: {self.ran}")


@program(is_small=True)
def push_and_wait() -> Parts:
    """Two threads that share nothing but the engine."""
    one, other = Cell("one"), Cell("other")

    def work(cell: Cell, tag: str) -> None:
        cell.push(tag)
        cell.wait(tag)

    def check() -> None:
        expect(one.ran, ["a"])
        expect(other.ran, ["b"])

    return [lambda: work(one, "a"), lambda: work(other, "b")], check


@program(num_threads=2)
def push_and_wait_for_one_variable() -> Parts:
    """Two threads that write one variable."""
    cell = Cell("shared")

    def work(tag: str) -> None:
        cell.push(tag)
        cell.wait(tag)

    return [lambda: work("a"), lambda: work("b")], lambda: expect(cell.ran, ["a", "b"], ["b", "a"])


@program(is_small=True, engine="naive")
def naive_push_and_wait() -> Parts:
    """Two threads that write one variable on the naive engine."""
    return push_and_wait_for_one_variable()


@program(num_threads=2)
def three_threads() -> Parts:
    """One writes a variable, one writes two of them at once, and one reads both."""
    current, one, other = engine.get(), Cell("one"), Cell("other")
    seen: list[tuple[bool, bool]] = []

    def write_both() -> None:
        def run(_: object) -> None:
            one.ran.append("b")
            other.ran.append("b")

        current.push_sync(run, CTX, (), (one.var, other.var))

    def read() -> None:
        def run(_: object) -> None:
            seen.append(("b" in one.ran, "b" in other.ran))

        current.push_sync(run, CTX, (one.var, other.var), ())

    def check() -> None:
        current.wait_for_all()
        expect(seen, [(True, True)], [(False, False)])
        expect(one.ran, ["a", "b"], ["b", "a"])
        expect(other.ran, ["b"])

    return [lambda: one.push("a"), write_both, read], check


@program()
def row_of_pushes() -> Parts:
    """A row of pushes beside another thread's."""
    one, other = Cell("one"), Cell("other")

    def push_row() -> None:
        for tag in "abc":
            one.push(tag)
        one.wait(*"abc")

    def push() -> None:
        other.push("d")
        one.push("e")
        other.wait("d")

    def check() -> None:
        one.wait("e")
        expect([tag for tag in one.ran if tag != "e"], ["a", "b", "c"])
        expect(other.ran, ["d"])

    return [push_row, push], check


@program("engine imperative storage", is_small=True)
def inline_and_read() -> Parts:
    """Products that run in the calling thread, and reads of them."""
    x = nd.ones((8, 8))
    x.asnumpy()

    def work() -> None:
        expect(nd.dot(x, x).asnumpy()[7, 7].item(), 8.0)

    return [work, work], lambda: None


@program("engine imperative storage", inline_us=0)
def pushed_and_read() -> Parts:
    """Products that workers compute, and reads of them."""
    return inline_and_read()


@program("engine imperative storage", is_small=True)
def small_calls() -> Parts:
    """Small calls on one array while another thread writes it."""
    x = nd.ones((4,))
    x.asnumpy()

    def read() -> None:
        expect((x + 1.0).asnumpy().tolist(), [2.0] * 4, [4.0] * 4)

    def write() -> None:
        x[:] = 3.0

    def check() -> None:
        expect(x.asnumpy().tolist(), [3.0] * 4)

    return [read, write], check


@program("engine imperative storage")
def recycle_and_push() -> Parts:
    """Memory that dies while operations use it, taken again by another thread."""
    x = nd.ones((4,))
    (x * 9.0 + 9.0).asnumpy()  # the operators remember their last scalar
    current = engine.get()

    def work(value: float) -> None:
        first = x * value
        var = first._chunk.var
        seen: list[list[float]] = []
        data = first._data
        current.push_sync(lambda _: seen.append(data.tolist()), CTX, (var,), ())
        del first
        second = x + value
        expect(second.asnumpy().tolist(), [1.0 + value] * 4)
        current.wait_for_all()
        expect(seen, [[value] * 4])

    return [lambda: work(2.0), lambda: work(3.0)], lambda: None


@program()
def set_engine() -> Parts:
    """The engine changes while another thread pushes and waits."""
    cell = Cell("one")

    def work() -> None:
        cell.push("a")
        cell.push("b")
        cell.wait("a", "b")

    return [work, lambda: engine.set("naive")], lambda: expect(cell.ran, ["a", "b"])


@program()
def groups() -> Parts:
    """A thread groups its pushes while another writes the same variable."""
    one, other = Cell("one"), Cell("other")

    def group() -> None:
        with engine.bulk(3):
            one.push("a")
            other.push("b")
            one.push("c")
            one.push("d")
        one.wait("a", "c", "d")

    def push() -> None:
        one.push("e")
        one.wait("e")

    def check() -> None:
        other.wait("b")
        expect([tag for tag in one.ran if tag != "e"], ["a", "c", "d"])
        expect(other.ran, ["b"])
        expect(one.ran.count("e"), 1)

    return [group, push], check


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

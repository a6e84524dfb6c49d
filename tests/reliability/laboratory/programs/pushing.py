"""Programs that push, wait, run inline, read, recycle and group."""

from __future__ import annotations

from collections.abc import Callable

from operad import engine, nd
from operad.engine import Engine, bulk
from tests.reliability.laboratory.programs.program import CTX, Cell, Parts, expect, program


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
        with bulk(3):
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


def _earn(current: Engine) -> None:
    """Do so many operations that a small function may wait."""
    for _ in range(20):
        current.run_inline(int, (), CTX, (), (current.new_variable(),), None)


def _write(cell: Cell, tag: str) -> None:
    """Push a write in two parts."""
    engine.get().push_sync(lambda _: cell.write_in_parts(tag), CTX, (), (cell.var,), name=tag)


def _write_soon(cell: Cell, tag: str) -> None:
    """Write here, if need be after a wait, or push the write."""
    current, call = engine.get(), (cell.write_in_parts, (tag,), CTX, (), (cell.var,), tag)
    if not current.run_inline(*call) and not current.run_inline_soon(*call):
        _write(cell, tag)


@program()
def small_functions_behind_a_push() -> Parts:
    """Two threads push to one variable, and each then has a small function that writes it, too."""
    current, cell = engine.get(), Cell("shared")
    _earn(current)

    def work(tags: str) -> None:
        _write(cell, tags[0])
        _write_soon(cell, tags[1])
        cell.wait(*tags)

    def check() -> None:
        expect(cell.written_in_parts(), "abcd", "acbd", "acdb", "cabd", "cadb", "cdab")

    return [lambda: work("ab"), lambda: work("cd")], check


@program(num_threads=2)
def small_functions_behind_a_row() -> Parts:
    """A row of pushes and small functions beside a thread that pushes to both of its variables."""
    current, one, other = engine.get(), Cell("one"), Cell("other")
    _earn(current)

    def work() -> None:
        for tag in "ac":
            _write(one, tag)
            _write_soon(one, tag.upper())
            _write_soon(other, tag)
        one.wait(*"aAcC")

    def push() -> None:
        _write(other, "x")
        _write(one, "x")

    def check() -> None:
        current.wait_for_all()
        for cell, row in ((one, "aAcC"), (other, "ac")):
            expect(cell.written_in_parts(), *[f"{row[:at]}x{row[at:]}" for at in range(len(row) + 1)])

    return [work, push], check


@program("engine imperative storage", inline_us=0)
def small_calls_behind_a_push() -> Parts:
    """Small calls that recycle memory, on an array that a worker writes, beside another thread's."""
    current, x = engine.get(), nd.ones((4,))
    (x + 1.0).asnumpy()
    _earn(current)

    def write() -> None:
        current.push_sync(lambda _: x._data.fill(3.0), CTX, (), (x._chunk.var,))
        expect((x + 1.0).asnumpy().tolist(), [4.0] * 4)

    def read() -> None:
        expect((x + 1.0).asnumpy().tolist(), [2.0] * 4, [4.0] * 4)

    return [write, read], lambda: None


@program(max_pending=2)
def many_pending_in_vain() -> Parts:
    """A thread pushes more than may be pending behind what only another thread completes."""
    current, cell = engine.get(), Cell("one")
    completions: list[Callable[[], object]] = []
    current.push_async(lambda _, done: completions.append(done), CTX, (), (cell.var,))

    def push() -> None:
        for tag in "abcd":
            cell.push(tag)
        cell.wait(*"abcd")

    def complete() -> None:
        while not completions:
            current.wait_for_var(current.new_variable())
        completions.pop()()

    return [push, complete], lambda: expect(cell.ran, list("abcd"))

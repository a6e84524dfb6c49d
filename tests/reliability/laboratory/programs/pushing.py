"""Programs that push, wait, run inline, read, recycle and group."""

from __future__ import annotations

from operad import engine, nd
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

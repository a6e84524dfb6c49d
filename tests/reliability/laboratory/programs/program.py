"""What a program of two or three threads is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, final

import operad as od
from operad import engine
from operad.engine import Engine, Var
from tests.reliability.laboratory.exploring import Violation

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
        is_fresh: Whether each schedule needs a process of its own, since what the program makes once is
            made under some schedules alone, and would be there already for those after them.
    """

    name: str
    begin: Callable[[], Parts]
    settings: Mapping[str, object]
    packages: tuple[str, ...]
    is_small: bool
    is_fresh: bool


PROGRAMS: Final[dict[str, Program]] = {}


def program(
    packages: str = "engine", *, is_small: bool = False, is_fresh: bool = False, **settings: object
) -> Callable[[Callable[[], Parts]], Callable[[], Parts]]:
    """Enter a program under its function's name."""

    def enter(begin: Callable[[], Parts]) -> Callable[[], Parts]:
        name = begin.__name__
        known = {"num_threads": 1, **settings}
        PROGRAMS[name] = Program(name, begin, known, tuple(packages.split()), is_small, is_fresh)
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

    def write_in_parts(self, tag: str) -> None:
        """Write twice, and between the two be where threads may be switched."""
        self.ran.append(tag)
        engine.get().is_idle(self.var)
        self.ran.append(tag)

    def written_in_parts(self) -> str:
        """The tags of `write_in_parts`, none of which came between the two parts of another."""
        expect(self.ran[::2], self.ran[1::2])
        return "".join(self.ran[::2])

    def wait(self, *tags: str) -> None:
        """Wait for all writes pushed so far, which `tags` are among."""
        engine.get().wait_for_var(self.var)
        missing = [tag for tag in tags if tag not in self.ran]
        if missing:
            raise Violation("wrong", f"a wait for {self.var!r} returned before {missing} ran: {self.ran}")

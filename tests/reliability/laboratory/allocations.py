"""A failed allocation at every n, and an exhausted stack at every headroom.

`_testcapi.set_nomemory(n, n + 1)` lets the nth allocation of Python from now on fail, and only that: SQLite's
loop over its allocations, for a run of each subject. It ends where a run needs fewer allocations than n.
With `stack` instead, a subject runs with k frames left below the limit of recursion, for each k.

The error may come out of the call, or be the failure of an operation that it hit, which a wait raises; or
Python did without the memory. Then everything has to work.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

from tests.reliability.laboratory.subjects import (
    SUBJECTS,
    Subject,
    Unraisable,
    caused_by,
    judge,
    traced,
)
from tests.reliability.laboratory.trials import BROKEN, PYTHON, Fault, conduct, options_of

WARM_UP: Final = 12
MOST_HEADROOM: Final = 60
UNHURT: Final = "without error"
OF_C: Final = "returned a result with an exception set"
"""What the interpreter says of itself, and no code of Python can do; seen on 3.13.0."""
MOST_ALLOCATIONS: Final = 4_000
"""More than any subject needs."""

_MORE: Final = 40
"""Allocations beyond the last that failed, after which a run is taken to need no more."""


class Trial:
    """One subject in this process, and what fails in it."""

    def __init__(self, what: str) -> None:
        self._fails: Callable[[int, Subject], BaseException | None] = (
            fail_allocation if what == "memory" else exhaust_stack
        )
        self._kind: type[Exception] = MemoryError if what == "memory" else RecursionError
        # C code that does not look at what it was not given ends without saying why.
        self._kinds = (MemoryError, SystemError) if what == "memory" else (RecursionError,)
        self._is_memory = what == "memory"
        self._subjects: dict[str, Subject] = {}
        self._unraisable = Unraisable()
        self._idle = 0

    def keys(self, name: str, step: int) -> Iterator[str]:
        """Each `step`th place to fail at."""
        subject = self._subjects[name] = SUBJECTS[name]()
        for _ in range(WARM_UP):
            subject.act()
            subject.check(None)
        if not self._is_memory:
            yield from (f"{name} {headroom}" for headroom in range(1, MOST_HEADROOM + 1, step))
            return
        self._idle = 0
        for number in range(0, MOST_ALLOCATIONS, step):
            yield f"{name} {number}"
            if self._idle > _MORE // step:
                return

    def attempt(self, key: str) -> str:
        """Fail at one place, and look what became of it."""
        name, number = key.split()
        subject = self._subjects[name]
        hit = self._fails(int(number), subject)
        self._idle = 0 if hit is not None else self._idle + 1
        if hit is not None and not any(caused_by(hit, kind()) for kind in self._kinds):
            raise Fault(BROKEN, traced(hit))
        hit = subject.settle(self._kinds) or hit
        try:
            judge(subject, hit, self._kind)
        except Fault as fault:
            if OF_C in str(fault):
                return PYTHON
            raise
        self._unraisable.take()  # Python itself says so of what it could not raise
        return UNHURT if hit is None else ""


def fail_allocation(number: int, subject: Subject) -> BaseException | None:
    """Run with the allocation of that number failing; the error that came out."""
    import _testcapi

    act = subject.act
    try:
        _testcapi.set_nomemory(number, number + 1)
        try:
            act()
        finally:
            _testcapi.remove_mem_hooks()
    except BaseException as error:  # noqa: BLE001 - judged by the caller
        return error
    return None


def exhaust_stack(headroom: int, subject: Subject) -> BaseException | None:
    """Run with so many frames left; the error that came out."""
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back  # type: ignore[assignment]
    try:
        _deep(sys.getrecursionlimit() - depth - headroom - 1, subject.act)
    except BaseException as error:  # noqa: BLE001 - judged by the caller
        return error.with_traceback(None)
    return None


def _deep(frames: int, act: Callable[[], Any]) -> Any:
    return _deep(frames - 1, act) if frames > 0 else act()


def main() -> None:
    """Try some subjects in this process; with `--report` in others, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("memory", "stack"))
    parser.add_argument("subjects", nargs="*", default=list(SUBJECTS))
    parser.add_argument("--step", type=int, default=1)
    options = options_of(parser, __spec__.name)
    trial = Trial(options.what)
    gc.set_threshold(0)
    conduct(options.subjects, lambda name: trial.keys(name, options.step), trial.attempt)


if __name__ == "__main__":
    main()

"""Checks several operators at once, each in a process that checks nothing else meanwhile.

Threads would share one engine, whose failures and settings the checks change. Processes are started
afresh rather than forked: a fork would copy an engine without its threads. A process that dies or hangs
is one operator's result; another one takes its place for the operators that are left.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from signal import Signals
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Final, final

from operad import config

Found = dict[str, Any] | str
"""A report as plain data, or why there is none."""
Told = Callable[[str], None]
"""Called with the id of each check that is done."""
Check = Callable[[str, str | None, Told], Found]

LIMITS_S: Final = {"dev": 600.0, "ci": 3600.0, "nightly": 12 * 3600.0}
"""Seconds that one operator may take, by profile."""

_START_S: Final = 60.0
"""Time in which a process gets from its start to its first operator."""
_GRACE_S: Final = 2.0
"""Time in which a process that is over its limit writes down where it is."""
_CONTEXT: Final = multiprocessing.get_context("spawn")


def checked(
    names: Sequence[str], profile: str | None, jobs: int, check: Check, limit_s: float | None = None
) -> Iterator[tuple[str, Found]]:
    """What `check` finds of each operator, in the order in which that is known.

    Args:
        names: Of the operators.
        profile: How much to try.
        jobs: How many processes at once; with 1 everything runs in this one, and nothing stops it.
        check: A function at the top of a module, called with a name, the profile, and what it tells
            of its progress.
        limit_s: Seconds that one operator may take; None: what is usual for the profile.
    """
    if jobs == 1 or len(names) < 2:
        for name in names:
            yield name, check(name, profile, lambda _: None)
        return
    left = deque(names)
    threads = max(1, config.settings().num_threads // jobs)
    limit = limit_s or LIMITS_S.get(profile or os.environ.get("HYPOTHESIS_PROFILE", ""), LIMITS_S["dev"])
    with TemporaryDirectory(prefix="operad-check-") as folder:
        workers = [_Worker(check, profile, threads, limit, folder) for _ in range(min(jobs, len(names)))]
        try:
            for worker in workers:
                worker.give(left.popleft())
            while workers:
                first = min(worker.deadline for worker in workers) + _GRACE_S
                wait([worker.connection for worker in workers], max(0.0, first - monotonic()))
                for place, worker in enumerate(list(workers)):
                    result = worker.result()
                    if result is None:
                        continue
                    yield worker.name, result
                    if left and not worker.is_alive:
                        workers[place] = worker = _Worker(check, profile, threads, limit, folder)
                    if left:
                        worker.give(left.popleft())
                    else:
                        worker.stop()
                workers = [worker for worker in workers if worker.is_alive]
        finally:
            for worker in workers:
                worker.stop()


@final
class _Worker:
    """A process that checks one operator after another.

    Attributes:
        connection: Ready for reading where there is something to tell, or the process is dead.
        name: The operator it is at.
        deadline: When that one is to be done.
        is_alive: Whether it takes another one.
    """

    def __init__(self, check: Check, profile: str | None, threads: int, limit_s: float, folder: str) -> None:
        self.connection, other = _CONTEXT.Pipe()
        self._limit_s = limit_s
        self._process = _CONTEXT.Process(
            target=_serve, args=(other, check, profile, threads, limit_s, folder), daemon=True
        )
        self._process.start()
        other.close()  # else a dead process would not end the connection
        self._trace = Path(folder) / f"{self._process.pid}.txt"
        self.name = ""
        self.deadline = 0.0
        self.is_alive = True
        self._last = ""

    def give(self, name: str) -> None:
        """Have it check one more operator."""
        self.name, self._last = name, ""
        self.deadline = monotonic() + _START_S + self._limit_s
        with suppress(OSError):  # a process that is dead already; its result says so
            self.connection.send(name)

    def result(self) -> Found | None:
        """What it found; None while it is at it."""
        try:
            while self.connection.poll():
                kind, value = self.connection.recv()
                if kind == "found":
                    found: Found = value
                    return found
                if kind == "begun":
                    self.deadline = monotonic() + self._limit_s
                else:
                    self._last = value
        except (EOFError, OSError):
            self._process.join()
            return self._lost(f"died of {_cause(self._process.exitcode)}")
        if monotonic() < self.deadline + _GRACE_S:
            return None
        return self._lost(f"was stopped after {self._limit_s:g} s")

    def stop(self) -> None:
        """End the process."""
        self.is_alive = False
        self._process.kill()
        self._process.join()
        self.connection.close()

    def _lost(self, how: str) -> str:
        self.stop()
        when = f"after check {self._last}" if self._last else "before any check was done"
        trace = self._trace.read_text(errors="replace").strip() if self._trace.exists() else ""
        where = f"\n{trace}" if trace else ""
        return f"the process that checked it {how}, {when}; operad check {self.name} does it alone{where}"


def _cause(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        return Signals(-exit_code).name
    return f"an exit with code {exit_code}"


def _serve(
    connection: Connection, check: Check, profile: str | None, threads: int, limit_s: float, folder: str
) -> None:
    # The processes share the cores that one would have.
    os.environ["OPERAD_NUM_THREADS"] = str(threads)
    config.reload()
    with (Path(folder) / f"{os.getpid()}.txt").open("w") as trace:
        faulthandler.enable(trace)
        while True:
            try:
                name = connection.recv()
            except (EOFError, KeyboardInterrupt):
                return
            connection.send(("begun", name))
            faulthandler.dump_traceback_later(limit_s, file=trace)
            try:
                found = check(name, profile, lambda id: connection.send(("done", id)))
            except Exception:  # noqa: BLE001 - the other operators are checked all the same
                found = traceback.format_exc()
            faulthandler.cancel_dump_traceback_later()
            connection.send(("found", found))

"""Checks of operators, each in a process of its own.

What one operator does to its process (a crash, an exit, a setting, a thread that never ends, what it
prints) is a finding about it, and must not reach the next one. So every operator gets a fresh process, which
a fork server makes: it has imported the harness and nothing else, and started no thread, so that a fork of it
is sound and takes milliseconds. A process tells what each check found as soon as that is known: where
it dies or is stopped, what it told before stays, and its end is one more outcome.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import re
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from signal import Signals
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Final, final

from operad import config
from operad.cli import progress

Told = Callable[[Any], None]
"""Called with what each check found, as plain data with the key `check_id`."""
Check = Callable[[str, str | None, Told], Any]

LIMITS_S: Final = {"dev": 600.0, "ci": 3600.0, "nightly": 12 * 3600.0}
"""Seconds that one operator may take, by profile."""

_START_S: Final = 60.0
"""Time in which a process gets from its start to its operator."""
_GRACE_S: Final = 2.0
"""Time in which a process that is over its limit writes down where it is."""
_STALE_S: Final = 0.3
"""Time between two questions whether what is checked is still of interest."""
_MOST_PRINTED: Final = 4000
"""Characters kept of what an operator prints."""
_HAS_FORK_SERVER: Final = "forkserver" in multiprocessing.get_all_start_methods()
_CONTEXT: Final[Any] = multiprocessing.get_context("forkserver" if _HAS_FORK_SERVER else "spawn")
if _HAS_FORK_SERVER:
    _CONTEXT.set_forkserver_preload(["operad_check.running.runner", "msgspec"])


@final
@dataclass(slots=True)
class Found:
    """Outcome of the checks of one operator.

    Attributes:
        name: Of the operator.
        report: What `check` returned; None: the process ended before.
        told: What it told before that.
        end: How the process ended too early; empty: it did not.
        printed: What it printed, the end of it.
    """

    name: str
    report: Any = None
    told: list[Any] = field(default_factory=list)
    end: str = ""
    printed: str = ""


def checked(
    names: Sequence[str],
    profile: str | None,
    jobs: int,
    check: Check,
    limit_s: float | None = None,
    is_stale: Callable[[], bool] | None = None,
) -> Iterator[Found]:
    """Check operators in processes of their own, and yield each outcome as soon as it is known.

    Args:
        names: Of the operators.
        profile: How much to try.
        jobs: How many processes at once.
        check: A function at the top of a module, called with a name, the profile, and what it tells
            of its progress.
        limit_s: Seconds that one operator may take; None: what is usual for the profile.
        is_stale: Asked now and then; once it says yes, the processes that are left are stopped.
    """
    left = deque(names)
    threads = max(1, config.settings().num_threads // min(jobs, len(names) or 1))
    limit = limit_s or LIMITS_S.get(profile or os.environ.get("HYPOTHESIS_PROFILE", ""), LIMITS_S["dev"])
    workers: list[_Worker] = []
    with TemporaryDirectory(prefix="operad-check-") as folder:
        try:
            while left or workers:
                while left and len(workers) < jobs:
                    workers.append(_Worker(check, left.popleft(), profile, threads, limit, folder))
                first = min(worker.deadline for worker in workers) + _GRACE_S
                timeout_s = max(0.0, first - monotonic())
                if is_stale is not None:
                    timeout_s = min(timeout_s, _STALE_S)
                wait([worker.connection for worker in workers], timeout_s)
                if is_stale is not None and is_stale():
                    return
                for worker in list(workers):
                    if worker.is_done():
                        workers.remove(worker)
                        yield worker.found
        finally:
            for worker in workers:
                worker.stop()


def shown(title: str, names: Sequence[str], *how: Any) -> Iterator[Found]:
    """As `checked`, with a line that shows how far it is."""
    with progress(title, len(names)) as advance:
        for found in checked(names, *how):
            yield found
            advance(found.name)


@final
class _Worker:
    """A process that checks one operator.

    Attributes:
        connection: Ready for reading where there is something to tell, or the process is dead.
        found: What is known so far.
        deadline: When it is to be done.
    """

    def __init__(
        self, check: Check, name: str, profile: str | None, threads: int, limit_s: float, folder: str
    ) -> None:
        self.connection, other = _CONTEXT.Pipe()
        self.found = Found(name)
        self._limit_s = limit_s
        self._stem = Path(folder) / f"{id(self)}"
        self._process = _CONTEXT.Process(
            target=_serve,
            args=(other, check, name, profile, threads, limit_s, str(self._stem)),
            daemon=True,
        )
        self._process.start()
        other.close()  # else a dead process would not end the connection
        self.deadline = monotonic() + _START_S + limit_s

    def is_done(self) -> bool:
        """Read what the process has sent; return whether `found` is complete."""
        try:
            while self.connection.poll():
                kind, value = self.connection.recv()
                if kind == "found":
                    self.found.report = value
                    self._read_printed()
                    self.stop()
                    return True
                if kind == "begun":
                    self.deadline = monotonic() + self._limit_s
                else:
                    self.found.told.append(value)
        except (EOFError, OSError):
            self._process.join()
            return self._lost(f"ended with {_cause(self._process.exitcode)}")
        if monotonic() < self.deadline + _GRACE_S:
            return False
        return self._lost(f"was stopped after {self._limit_s:g} s")

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self.connection.close()

    def _lost(self, how: str) -> bool:
        self.stop()
        self._read_printed()
        told = self.found.told
        when = f"after check {told[-1]['check_id']}" if told else "before any check was done"
        trace = _without_harness(self._file("trace")).strip()
        self.found.end = f"the process that checked it {how}, {when}" + (f"\n{trace}" if trace else "")
        return True

    def _read_printed(self) -> None:
        self.found.printed = self._file("printed")[-_MOST_PRINTED:]

    def _file(self, ending: str) -> str:
        path = self._stem.with_suffix(f".{ending}")
        return path.read_text(errors="replace") if path.exists() else ""


def _without_harness(trace: str) -> str:
    """A trace of `faulthandler` without the frames of the harness and of what runs it."""
    lines = trace.splitlines()
    return "\n".join(line for line in lines if not (line.startswith("  File ") and _HARNESS.search(line)))


_HARNESS: Final = re.compile(r"[/\\](operad_check|operad_sdk|hypothesis|multiprocessing)[/\\]|importlib")


def _cause(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        return Signals(-exit_code).name
    return f"exit code {exit_code}"


def _serve(
    connection: Connection,
    check: Check,
    name: str,
    profile: str | None,
    threads: int,
    limit_s: float,
    stem: str,
) -> None:
    # The processes share the cores that one would have.
    os.environ["OPERAD_NUM_THREADS"] = str(threads)
    config.reload()
    with Path(f"{stem}.trace").open("w") as trace, Path(f"{stem}.printed").open("w") as printed:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                os.dup2(printed.fileno(), stream.fileno())
        faulthandler.enable(trace)
        faulthandler.dump_traceback_later(limit_s, file=trace)
        try:
            connection.send(("begun", name))
            found = check(name, profile, lambda told: connection.send(("told", told)))
        except KeyboardInterrupt:
            return
        except Exception:  # noqa: BLE001 - whatever it is, it is the result
            found = traceback.format_exc()
        faulthandler.cancel_dump_traceback_later()
        sys.stdout.flush()
        connection.send(("found", found))

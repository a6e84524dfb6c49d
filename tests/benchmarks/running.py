"""A run of rows with one number of threads, in new processes; others' load before, during and after it."""

from __future__ import annotations

import datetime as dt
import os
import time
from collections.abc import Sequence
from contextlib import ExitStack

from tests.benchmarks import load
from tests.benchmarks.driver import Measured, Process, measure
from tests.benchmarks.page import SHOWN, Run, compared, cores, shown
from tests.benchmarks.rows import Row


def run(
    rows: Sequence[Row], pythons: dict[str, str], threads: int, rounds: int, versions: dict[str, str]
) -> Run:
    """Measure the rows in new processes; puts the libraries' versions in `versions`."""
    begun, before = time.perf_counter(), load.idle_load(cores())
    print(f"\n{threads} thread(s); others' load per core before: {before or 0:.2f}", flush=True)
    measured = []
    with ExitStack() as stack:
        workers = [stack.enter_context(Process(name, python, threads)) for name, python in pythons.items()]
        versions.update({worker.library: worker.ask("about")["version"] for worker in workers})
        pids = [os.getpid(), *[worker.pid for worker in workers]]
        first = load.read(pids)
        for row in rows:
            measured.append(measure(row, workers, rounds))
            print(_line(measured[-1]), flush=True)
        during = load.between(first, load.read(pids), cores())
    found = load.Load(before, during, load.idle_load(cores()))
    seconds = time.perf_counter() - begun
    print(
        f"others' load during: {during or 0:.2f}, after: {found.after or 0:.2f}; {seconds:.0f} s", flush=True
    )
    return Run(threads, seconds, found, measured)


def _line(one: Measured) -> str:
    words = [f"{SHOWN[library]} {value:.3g}" for library, value in one.values.items()]
    words += [f"{SHOWN[lib]} {way} {shown(one.row, f)}".replace("  ", " ")
              for (lib, way), f in one.figures().items()]  # fmt: skip
    words += [f"{SHOWN[library]} {note}" for library, note in one.notes.items()]
    compares = compared(one, "minimum")
    ending = "" if compares is None else f"; ratio {compares:.2f}"
    return f"{one.row.name} [{one.row.unit}]: {', '.join(words)}{ending}"


def today() -> str:
    """As "23 November 2026"."""
    now = dt.datetime.now(tz=dt.UTC)
    return f"{now.day} {now:%B %Y}"

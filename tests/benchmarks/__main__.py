"""Time operad: `python -m tests.benchmarks`, or `make bench`; beside its peers with `--peers`.

Every library runs in a process of its own, and they take turns; see `tests.benchmarks.driver`. PyTorch takes
part where this environment has it. With `--peers`, environments for PyTorch, JAX and MXNet are made under
`build/peers`. Times are seconds on the wall and of processors.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import re
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.benchmarks import environments, load
from tests.benchmarks.driver import ROUNDS, Measured, Process, measure
from tests.benchmarks.page import SHOWN, About, Run, compared, cores, page, record, shown
from tests.benchmarks.rows import ROWS, Row


def main() -> int:
    """Measure, print and write the chosen rows."""
    options = _options()
    rows = chosen(options.rows, options.peers)
    if not rows:
        print(f"no row matches {options.rows!r}; names are in tests/benchmarks/rows.py", file=sys.stderr)
        return 2
    pythons, missing = environments.peers() if options.peers else (environments.installed(), {})
    versions: dict[str, str] = {}
    runs = [run(rows, pythons, threads, options.rounds, versions) for threads in options.threads]
    about = About(_today(), versions, missing, _command(options), options.rounds)
    if options.json:
        _write(options.json, json.dumps(record(about, runs), indent=1))
    if options.page and options.rows:
        print("the page is of all rows, so with --rows none is written", file=sys.stderr)
    elif options.page:
        _write(options.page, page(about, runs))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--peers", action="store_true", help="beside PyTorch, JAX and MXNet")
    parser.add_argument("--rows", metavar="PATTERN", help="only rows whose group and name match, as `re`")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="for each row (default %(default)s)")
    parser.add_argument("--threads", type=int, nargs="+", help="one run for each (default: 1 and 2, or 1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every round")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the page, as Markdown")
    options = parser.parse_args()
    options.threads = options.threads or ([1, 2] if options.peers else [1])
    return options


def chosen(pattern: str | None, peers: bool) -> list[Row]:
    """The rows that match; without a pattern all, but beside peers not those that operad alone has."""
    if pattern is None:
        return [row for row in ROWS if not (peers and row.own)]
    wanted = re.compile(pattern)
    return [row for row in ROWS if wanted.search(f"{row.group}: {row.name}")]


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


def _today() -> str:
    now = dt.datetime.now(tz=dt.UTC)
    return f"{now.day} {now:%B %Y}"


def _command(options: Any) -> str:
    words = ["python -m tests.benchmarks", "--peers" if options.peers else ""]
    return " ".join([*filter(None, words), "--threads", *map(str, options.threads)])


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


if __name__ == "__main__":
    sys.exit(main())

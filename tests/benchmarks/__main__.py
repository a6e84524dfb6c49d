"""Time operad: `python -m tests.benchmarks`, or `make bench`; beside its peers with `--peers`.

Every library runs in a process of its own, and they take turns; see `tests.benchmarks.driver`. PyTorch takes
part where this environment has it. With `--standard`, operad without numba is the only other one, as
`operad-standard` installs it. With `--peers`, environments for PyTorch, JAX and MXNet are made under
`build/peers`. Times are seconds on the wall and of processors.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from tests.benchmarks import environments
from tests.benchmarks.driver import ROUNDS
from tests.benchmarks.page import About, page, record
from tests.benchmarks.rows import ROWS, Row
from tests.benchmarks.running import run, today


def main() -> int:
    """Measure, print and write the chosen rows."""
    options = _options()
    rows = chosen(options.rows, options.peers)
    if not rows:
        print(f"no row matches {options.rows!r}; names are in tests/benchmarks/rows.py", file=sys.stderr)
        return 2
    pythons, missing = environments.peers() if options.peers else (environments.installed(), {})
    if options.standard:
        pythons = dict.fromkeys(("operad", "standard"), sys.executable)
    versions: dict[str, str] = {}
    runs = [run(rows, pythons, threads, options.rounds, versions) for threads in options.threads]
    about = About(today(), versions, missing, _command(options), options.rounds)
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
    parser.add_argument("--standard", action="store_true", help="beside operad without numba")
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


def _command(options: Any) -> str:
    words = [
        "python -m tests.benchmarks",
        *(f"--{name}" for name in ("peers", "standard") if getattr(options, name)),
    ]
    return " ".join([*filter(None, words), "--threads", *map(str, options.threads)])


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


if __name__ == "__main__":
    sys.exit(main())

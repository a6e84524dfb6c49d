"""Measure what costs are fitted to: `python -m tests.benchmarks.scaling.measuring`, on a quiet machine.

Writes `measured.json`. `python -m tests.benchmarks.scaling --validate` shows then what becomes of it.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import sys
from pathlib import Path
from typing import Final

from tests.benchmarks.distributed import measure, no_rounds, record
from tests.benchmarks.distributed_worker import BARRIER
from tests.benchmarks.scaling.costs import MEASURED

_CASES: Final = ("16 KB", "4.2 MB", "104.9 MB", "161 arrays", BARRIER)
RUNS: Final = (
    (("mpi", "ray"), 1, _CASES),
    (("ray, SGD",), 1, ("104.9 MB", BARRIER)),
    (("mpi", "mpi, TCP", "ray"), 2, _CASES),
    (("ray, asynchronous SGD",), 2, ("104.9 MB", "161 arrays", BARRIER)),
    (("mpi", "mpi, TCP", "ray"), 3, _CASES),
)
"""Columns, workers and cases that take turns."""


def main() -> int:
    """Run all, and write the file."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.scaling.measuring",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--rounds", type=int, default=15, help="of each column and case (default %(default)s)"
    )
    parser.add_argument("--json", type=Path, default=MEASURED, help="the file (default %(default)s)")
    options = parser.parse_args()
    rounds, begun, loads = no_rounds(), dt.datetime.now(tz=dt.UTC), [os.getloadavg()[0]]
    for columns, workers, cases in RUNS:
        measure(rounds, loads, columns, workers, cases, options.rounds)
        print(f"{', '.join(columns)}, {workers} workers: done; load {loads[-1]:.1f}", flush=True)
    options.json.write_text(record(rounds, begun, loads))
    return 0


if __name__ == "__main__":
    sys.exit(main())

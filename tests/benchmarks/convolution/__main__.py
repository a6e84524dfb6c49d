"""Time layers of convolution networks, pass by pass: `python -m tests.benchmarks.convolution`.

Beside PyTorch and MXNet, alternately, with errors against float64, shares of what the processor does at most,
and the time that first calls take with and without kernels on the disk.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from tests.benchmarks import environments
from tests.benchmarks.convolution import first, peak
from tests.benchmarks.convolution.layers import rows
from tests.benchmarks.convolution.page import LayerRun, page
from tests.benchmarks.driver import ROUNDS
from tests.benchmarks.page import About
from tests.benchmarks.running import run, today


def main() -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.convolution", description=__doc__)
    parser.add_argument("--rows", metavar="PATTERN", default="", help="only rows whose name matches, as `re`")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="for each row (default %(default)s)")
    parser.add_argument(
        "--threads", type=int, nargs="+", default=[1, 2], help="one run for each (default: 1 and 2)"
    )
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the page, as Markdown")
    options = parser.parse_args()
    chosen = [row for row in rows() if re.search(options.rows, row.name)]
    pythons, missing = environments.peers()
    for given in (pythons, missing):
        given.pop("jax", None)
    runs, versions = [], dict[str, str]()
    for threads in options.threads:
        # Errors do not change with the number of threads.
        timed = [row for row in chosen if not runs or row.maker == "layer"]
        most = peak.gflops(threads)
        runs.append(LayerRun(run(timed, pythons, threads, options.rounds, versions), most))
    command = f"python -m tests.benchmarks.convolution --threads {' '.join(map(str, options.threads))}"
    about = About(today(), versions, missing, command, options.rounds)
    text = page(about, runs, first.twice(options.threads[0]))
    if options.page and options.rows:
        print("the page is of all rows, so with --rows none is written", file=sys.stderr)
    elif options.page:
        options.page.write_text(text)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

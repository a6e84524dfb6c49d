"""Time operad: `python -m tests.benchmarks [WORD ...]`, or `make bench`.

Runs the cases of every `bench_*.py` beside this file (with words: of the modules they name, or else
those whose module or name holds one of them), prints a table as it goes and writes the figures to
`build/bench.json`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from tests.benchmarks.case import Case
from tests.benchmarks.timing import ROUNDS, Result, measure

HERE = Path(__file__).resolve().parent
OUTPUT = HERE.parents[1] / "build" / "bench.json"
_ROW = "{:<52} {:>12} {:>24} {:>12} {:>7}"


def cases(words: list[str]) -> Iterator[tuple[str, Case]]:
    """Each case that matches `words`, with the name of its module less `bench_`."""
    groups = [file.stem.removeprefix("bench_") for file in sorted(HERE.glob("bench_*.py"))]
    named = [group for group in groups if group in words]
    for group in named or groups:
        module = importlib.import_module(f"tests.benchmarks.bench_{group}")
        for case in module.cases():
            if named or not words or any(word in f"{group} {case.name}" for word in words):
                yield group, case


def main() -> int:
    """Measure, print and write every chosen case."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("words", nargs="*", help="run only cases whose module or name holds one of these")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds a case (default %(default)s)")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="where the JSON goes")
    parser.add_argument(
        "--processor-time", action="store_true", help="count the processors' work, not the time on the wall"
    )
    arguments = parser.parse_args()
    clock = time.process_time if arguments.processor_time else time.perf_counter
    print(_ROW.format("median of interleaved rounds", "operad", "(range)", "peer", "ratio"))
    results: dict[str, list[Result]] = {}
    for group, case in cases(arguments.words):
        if group not in results:
            print(f"\n{group}")
        result = measure(case, arguments.rounds, clock=clock)
        results.setdefault(group, []).append(result)
        print(_row(result), flush=True)
    _write(arguments.output, results)
    return 0 if results else 1


def _row(result: Result) -> str:
    low, high = result.ours_range
    return _ROW.format(
        f"  {result.name}",
        f"{_number(result.ours)} {result.unit}",
        f"({_number(low)} .. {_number(high)})",
        "-" if result.peer is None else f"{_number(result.peer)} {result.peer_name}",
        "-" if result.ratio is None else f"{result.ratio:.2f}",
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _write(output: Path, results: dict[str, list[Result]]) -> None:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    record = {
        "machine": {"platform": platform.platform(), "python": platform.python_version(), "cores": cores},
        "results": {group: [asdict(result) for result in found] for group, found in results.items()},
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(record, indent=1))


if __name__ == "__main__":
    sys.exit(main())

"""Functions with and without the kernels that follow from them: what was found, printed and as a page."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from operad_sdk import Shape
from operad_sdk.form_kernels import ELEMENTS_FROM_SIZE

MOST_BYTES: Final = 16 << 30
"""Memory of the process, as addresses: a function may make arrays that nobody asked it for."""
_SLOWER, _FASTER = 1.1, 0.8
"""Ratios of times from which a kernel was taken wrongly, and below which one was left wrongly."""
_MOST_REASONS: Final = 40
_MOST_LEFT: Final = 15
PAGE: Final = Path("docs/measurements/automatic-kernels.md")
_KEPT_FROM: Final = "## Functions with run-time parameters"
"""Heading from which the page stays as it is."""
_HEAD: Final = f"""\
# Kernels without a word

Each function of every operator, by made-up parameters, in float32, at some 4,000, 65,000 and a million
elements of the first argument: as its author wrote it, and by the kernel or
[program](../decisions/0052-functions-that-are-programs.md) that follows from it, alternately, on the same
plain arrays. Times are the least of 25 rounds, in microseconds: of one thread its processor's. What needs
more than {MOST_BYTES >> 30} GiB is left out. To measure again, on a machine that does nothing else:

    export OPERAD_POOL_LIMIT_BYTES=0
    for n in 1 2; do for i in 1 2 3; do
        python -m tests.benchmarks.automatic --threads $n --json build/automatic-$n-$i.json
    done; done
    python -m tests.benchmarks.automatic --from build/automatic-*.json --page "quiet"
"""


class Row(NamedTuple):
    """One function of an operator at one size.

    Attributes:
        operator: Its name.
        parts: What the function computes.
        shapes: Of the arguments.
        size: Elements of the largest array.
        reason: Why its kernel is not taken, or "".
        has_kernel: Whether there is one, for any size.
        own_us: Microseconds as the author wrote it; None: it was not run.
        vector_us: By its kernel, taken or not.
        compiled_s: What making the kernel took.
    """

    operator: str
    parts: tuple[str, ...]
    shapes: list[Shape]
    size: int
    reason: str
    has_kernel: bool
    own_us: float | None = None
    vector_us: float | None = None
    compiled_s: float = 0.0

    @property
    def is_taken(self) -> bool:
        """Return whether the kernel computes the part."""
        return not self.reason

    @property
    def ratio(self) -> float:
        """Time by the kernel over that of the author's function."""
        assert self.own_us is not None
        assert self.vector_us is not None
        return self.vector_us / self.own_us


def merged(runs: Sequence[Sequence[Row]]) -> list[Row]:
    """Rows with the median of their ratios over several runs, and the times that belong to it."""
    found = []
    for same in zip(*runs, strict=True):
        timed = sorted((row for row in same if row.own_us is not None), key=lambda row: row.ratio)
        found.append(timed[len(timed) // 2] if timed else same[0])
    return found


class Summary(NamedTuple):
    """Rows, sorted by their ratios.

    Attributes:
        parts: For each part whether it has a kernel.
        taken: Those of which one is taken at some size.
        reasons: Against kernels, with the number of functions.
        timed: Rows with times.
        chosen: Of these, those that the rule takes.
        slower: Those taken wrongly.
        faster: Those left wrongly, of sizes for which functions of elements are compiled.
    """

    parts: dict[tuple[str, str], bool]
    taken: set[tuple[str, str]]
    reasons: Counter[str]
    timed: list[Row]
    chosen: list[Row]
    slower: list[Row]
    faster: list[Row]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Summary:
        """The summary of a run."""
        parts: dict[tuple[str, str], bool] = {}
        for row in rows:
            parts |= {
                (row.operator, p): parts.get((row.operator, p), False) or row.has_kernel for p in row.parts
            }
        without = [row for row in rows if not any(parts[row.operator, p] for p in row.parts)]
        functions = {(row.operator, row.parts): row for row in without}
        timed = sorted((row for row in rows if row.own_us is not None), key=lambda row: row.ratio)
        chosen = [row for row in timed if row.is_taken]
        left = [row for row in timed if not row.is_taken and row.size >= ELEMENTS_FROM_SIZE]
        return cls(
            parts,
            {(row.operator, part) for row in rows if row.is_taken for part in row.parts},
            Counter(row.reason.split(", at ")[0] for row in functions.values()),
            timed,
            chosen,
            [row for row in chosen if row.ratio > _SLOWER],
            [row for row in left if row.ratio < _FASTER],
        )


def show(rows: Sequence[Row]) -> None:
    """Print what was found."""
    parts, taken, reasons, timed, chosen, slower, faster = Summary.of(rows)
    print(f"{len(parts)} parts, {sum(parts.values())} with vector code, {len(taken)} taken at some size")
    for reason, count in reasons.most_common(_MOST_REASONS):
        print(f"{count:5} {reason}")
    print(
        f"\n{len(timed)} timed, {len(chosen)} taken, {len(slower)} of them more than {_SLOWER} times slower"
    )
    print(f"compiled in {sum(row.compiled_s for row in timed):.1f} s")
    for title, found in (
        ("gain most", chosen[:30]),
        ("taken and slower", slower),
        ("left and faster", faster),
    ):
        print(f"\n{title}")
        for row in found:
            call = f"{row.operator:34}{' '.join(row.parts):28}{row.shapes[0]!s:>20}"
            print(f"{call}{row.own_us:10.1f}{row.vector_us:10.1f}{row.ratio:7.2f}  {row.reason[:80]}")


def page_of(runs: dict[int, list[list[Row]]], state: str) -> Iterator[str]:
    """The measured part of the page.

    Args:
        runs: By number of threads.
        state: Of the machine.
    """
    found = {threads: Summary.of(merged(each)) for threads, each in sorted(runs.items())}
    first = next(iter(found.values()))
    count = min(map(len, runs.values()))
    yield (
        f"{date.today():%-d %B %Y}, {platform.machine()} with {os.cpu_count()} processors, "
        f"NumPy {np.__version__}, llvmlite {version('llvmlite')}, {state}; "
        f"{'one run' if count == 1 else f'the medians of ratios of {count} runs'} for each number of threads."
    )
    yield "\n## Parts with a kernel\n\n| | parts |\n|---|---|"
    yield f"| all parts of {len({operator for operator, _ in first.parts})} operators | {len(first.parts)} |"
    yield f"| with a kernel of a form or a program | {sum(first.parts.values())} |"
    yield f"| of these, taken by the cost rule at one of the three sizes | {len(first.taken)} |"
    yield "\nReasons of functions without one, those of three functions and more:\n"
    yield "| reason | functions |\n|---|---|"
    yield from (f"| {reason} | {n} |" for reason, n in first.reasons.most_common() if n > 2)
    yield "\n## Gains\n"
    yield f"{len(first.timed):,} functions and sizes were timed on one thread, {len(first.chosen)} of them"
    yield "taken. The twenty that gain most:"
    yield from _table(first.chosen[:20])
    for threads, (*_, chosen, slower, faster) in found.items():
        numbers = [len(few) or "none" for few in (slower, faster)]
        yield f"\n## Losses on {threads} thread{'s' * (threads > 1)}\n"
        yield f"Of {len(chosen)} taken, more than {_SLOWER} times slower: {numbers[0]}."
        yield from _table(slower)
        yield f"\nLeft though they would take less than {_FASTER} of the time, of {ELEMENTS_FROM_SIZE:,}"
        yield f"elements and more: {numbers[1]}{', of which these gain most' * (len(faster) > _MOST_LEFT)}."
        yield from _table(faster[:_MOST_LEFT], has_reasons=True)
    compiled_s = sum(row.compiled_s for row in first.timed)
    yield f"\nKernels of all were made in {compiled_s:.1f} s, of which another process had compiled some.\n"


def _table(rows: Sequence[Row], *, has_reasons: bool = False) -> Iterator[str]:
    if rows:
        yield f"\n| function | shape | NumPy | kernel | ratio |{' reason against it |' * has_reasons}"
        yield "|---" * (5 + has_reasons) + "|"
    for row in rows:
        what = f"{row.operator}, {' '.join(row.parts)} | {tuple(row.shapes[0])}"
        reason = f" {row.reason[:90]} |" * has_reasons
        yield f"| {what} | {row.own_us:.1f} | {row.vector_us:.1f} | {row.ratio:.2f} |{reason}"


def write_page(runs: dict[int, list[list[Row]]], state: str) -> None:
    """Write the page of the runs of each number of threads; `state` is the machine's."""
    before = PAGE.read_text(encoding="utf-8")
    made = "\n".join([_HEAD, *page_of(runs, state), before[before.index(_KEPT_FROM) :]])
    PAGE.write_text(made, encoding="utf-8")

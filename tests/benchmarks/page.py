"""The page and the record of a run."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, final

from tests.benchmarks.driver import ENOUGH, ROW_S, Contestant, Measured
from tests.benchmarks.figures import WORDS, Basis, Figures, basis, ratio
from tests.benchmarks.load import QUIET_BELOW, Load
from tests.benchmarks.rows import Row

SHOWN: Final = {
    "operad": "operad", "standard": "operad-standard", "torch": "PyTorch", "jax": "JAX", "mxnet": "MXNet",
}  # fmt: skip
_OVERSUBSCRIBED: Final = 1.15
_LEVEL: Final = 1.05
_SMALL: Final = 0.03
_METHOD: Final = f"""\
One process per library, of which one works at a time; in each round all take turns. A row that lasts longer
than {ROW_S:.0f} s ends after {ENOUGH} rounds. Everything is float32. A step is forward, backward and the SGD
update, with gradients of the parameters alone and the same first weights; PyTorch runs in eager mode, JAX as
one compiled function that takes over its parameters' memory. Before a row is timed, libraries must agree with
operad within a hundredth on how far a step moves each parameter, or on results and gradients: rows with ✓
were compared so in every library.
"""
_CELLS: Final = """\
A cell has the median of time on the wall (the minimum; the median of processor time, of all threads). The
last columns are the ratio to the best peer, below 1 where operad is faster, and operad's spread: the distance
of the quartiles over the median. *Otherwise* are other ways of the same work, or yardsticks.
"""


@final
@dataclass(frozen=True, slots=True)
class Run:
    """All rows with one number of threads.

    Attributes:
        threads: Of every library.
        seconds: That the run took.
        load: Of others.
        measured: The rows.
    """

    threads: int
    seconds: float
    load: Load
    measured: list[Measured]

    @property
    def basis(self) -> Basis:
        """Basis of ratios; see `figures.basis`."""
        return basis(self.load.is_quiet, self.threads)


@final
@dataclass(frozen=True, slots=True)
class About:
    """Date, libraries and command of a measurement.

    Attributes:
        date: As "23 November 2026".
        versions: By library.
        missing: Why a library was not run.
        command: How to do it again.
        rounds: Of each row.
    """

    date: str
    versions: dict[str, str]
    missing: dict[str, str]
    command: str
    rounds: int


def processor() -> str:
    """The processor's name, where the system says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except FileNotFoundError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def compared(measured: Measured, by: Basis) -> float | None:
    """operad's figure over the best of the other libraries, in seconds: below 1 operad is faster."""
    if measured.values:
        others = [value for library, value in measured.values.items() if library != "operad"]
        return ratio(measured.values["operad"], others) if "operad" in measured.values else None
    found = measured.figures()
    if ("operad", "") not in found:
        return None
    others = [figures.of(by) for (library, _), figures in found.items() if library != "operad"]
    return ratio(found["operad", ""].of(by), others)


def page(about: About, runs: Sequence[Run]) -> str:
    """The whole page, as Markdown."""
    lines = ["# operad beside its peers, on a CPU", "", *setting(about), "", _METHOD, _CELLS]
    for run in runs:
        lines += _of_run(run, list(about.versions))
    return "\n".join(lines).rstrip() + "\n"


def setting(about: About) -> Iterator[str]:
    versions = ", ".join(f"{SHOWN[name]} {version}" for name, version in about.versions.items())
    machine = f"{processor()}, {cores()} cores, {platform.machine()}; Python {platform.python_version()}"
    yield "This page is written by the benchmark: change that, not the page."
    yield ""
    yield f"{about.date}; {machine}. {versions}. `{about.command}`, {about.rounds} rounds per row."
    for library, reason in about.missing.items():
        yield f"{SHOWN[library]}: not run, because {reason}."


def _of_run(run: Run, libraries: list[str]) -> list[str]:
    lines = [f"## {_counted(run.threads, 'thread')}", "", load_words(run), ""]
    behind = [(value, one.row) for one in run.measured if (value := compared(one, run.basis) or 0) > _LEVEL]
    if behind:
        worst = sorted(behind, key=lambda pair: -pair[0])
        lines += [
            "operad is behind by more than a twentieth in: "
            + "; ".join(f"{row.name} ({v:.2f})" for v, row in worst)
            + ".",
            "",
        ]
    lines += _explained(run)
    for group in dict.fromkeys(one.row.group for one in run.measured):
        lines += _table(group, [one for one in run.measured if one.row.group == group], libraries, run.basis)
    lines += _remarks(run)
    return lines


def _explained(run: Run) -> list[str]:
    """Lines on where operad's time goes, in the rows in which it is behind."""
    lines = []
    for one in run.measured:
        behind = compared(one, run.basis) or 0
        if behind > _LEVEL and one.shares:
            largest = [f"{name} {share:.0%}" for name, share in one.shares.items() if share >= _SMALL]
            lines.append(f"| {one.row.name} | {behind:.2f} | {', '.join(largest)} |")
    if not lines:
        return []
    head = [
        "Where operad's time goes there, by its profiler, which itself takes some of what lasts microseconds:"
    ]
    return [*head, "", "| work | ratio | share of the threads' time |", "|---|---|---|", *lines, ""]


def load_words(run: Run) -> str:
    load = run.load
    shown = [f"{value:.2f}" if value is not None else "unknown" for value in asdict(load).values()]
    begin = "Others' load per core before, during and after: {}, {} and {}.".format(*shown)
    if load.is_quiet:
        return f"{begin} Quiet (below {QUIET_BELOW}): ratios are of {WORDS[run.basis]}."
    held = f"ratios are of {WORDS[run.basis]}, which others disturb least"
    return f"{begin} **Not a quiet run** (quiet is below {QUIET_BELOW}): {held}."


def _table(group: str, rows: list[Measured], libraries: list[str], by: Basis) -> list[str]:
    head = ["work", "unit", *[SHOWN[name] for name in libraries], "otherwise", "ratio", "spread"]
    present = [one for one in rows if one.rounds or one.values or one.notes]
    cells = [_cells(one, libraries, by) for one in present]
    lines = ["| " + " | ".join(line) + " |" for line in [head, *cells]]
    return [f"### {group.capitalize()}", "", lines[0], "|" + "---|" * len(head), *lines[1:], ""]


def _cells(one: Measured, libraries: list[str], by: Basis) -> list[str]:
    found, compares = one.figures(), compared(one, by)
    agreed = len(one.checked) > 1 and set(one.checked) == {library for library, _ in found}
    ours = found.get(("operad", ""))
    return [
        one.row.name.replace("|", "\\|") + (" ✓" if agreed else ""),
        one.row.unit,
        *[_cell(one, library, found) for library in libraries],
        "; ".join(f"{_way(key)} {shown(one.row, figures)}" for key, figures in found.items() if key[1]),
        "" if compares is None else f"{compares:.2f}",
        "" if ours is None else f"{ours.spread:.0%}",
    ]


def _way(contestant: Contestant) -> str:
    library, way = contestant
    return f"`{way}`" if library == "operad" else f"{SHOWN[library]} `{way}`"


def _cell(one: Measured, library: str, found: dict[Contestant, Figures]) -> str:
    if library in one.values:
        return number(one.values[library])
    if library in one.notes:
        return "failed, see below"
    figures = found.get((library, ""))
    return "" if figures is None else shown(one.row, figures)


def shown(row: Row, found: Figures) -> str:
    """A cell's figures: median (minimum; processor time); for a rate, from the same times."""
    seconds = (found.median, found.minimum, found.cpu_median)
    return "{} ({}; {})".format(*[number(row.figure(value)) for value in seconds])


def number(value: float) -> str:
    """Three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _remarks(run: Run) -> list[str]:
    notes: dict[str, list[str]] = {}
    for one in run.measured:
        for library, note in one.notes.items():
            notes.setdefault(f"{SHOWN[library]} {note}", []).append(one.row.name)
    lines = [f"* {note}: {', '.join(rows)}." for note, rows in notes.items()]
    greedy = list(_greedy(run))
    if greedy:
        lines.append(
            f"* More processor time than {_counted(run.threads, 'thread')} could take: {', '.join(greedy)}."
        )
    return [*lines, ""] if lines else []


def _greedy(run: Run) -> Iterator[str]:
    for one in run.measured:
        for contestant, figures in one.figures().items():
            if figures.cpu_median > _OVERSUBSCRIBED * run.threads * figures.median:
                yield f"{SHOWN[contestant[0]]} {contestant[1]} in {one.row.name}".replace("  ", " ")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count > 1 else ''}"


def record(about: About, runs: Sequence[Run]) -> dict[str, Any]:
    """Every round, for `--json`."""
    return {
        "about": asdict(about),
        "machine": {"processor": processor(), "cores": cores(), "python": platform.python_version()},
        "runs": [
            {
                "threads": run.threads,
                "seconds": run.seconds,
                "load": asdict(run.load),
                "is_quiet": run.load.is_quiet,
                "basis": run.basis,
                "rows": [_recorded(one, run.basis) for one in run.measured],
            }
            for run in runs
        ],
    }


def _recorded(one: Measured, by: Basis) -> dict[str, Any]:
    contestants = [
        {"library": library, "way": way, **asdict(figures), "wall": one.rounds[library, way][0],
         "cpu": one.rounds[library, way][1]}
        for (library, way), figures in one.figures().items()
    ]  # fmt: skip
    return {
        "name": one.row.name, "group": one.row.group, "unit": one.row.unit, "ratio": compared(one, by),
        "values": one.values, "notes": one.notes, "checked": one.checked, "contestants": contestants,
        "shares": one.shares,
    }  # fmt: skip

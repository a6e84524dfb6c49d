"""Rows of a launcher's terminal: a worker's state, and what its output says of its training."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple, final

import click

_REPORT: Final = re.compile(
    r"(?:Epoch|Iter)\[(?P<epoch>\d+)\]"
    r"(?: Batch ?\[(?:\d+-)?(?P<batch>\d+(?:/\d+)?)\])?"
    r"(?:.*?(?P<speed>[\d.]+ (?:samples|batches)/sec))?"
)


@final
class WorkerStatus(NamedTuple):
    """State of a worker, and its newest report.

    Attributes:
        state: Of its process.
        report: Epoch, batch and speed of its newest line that tells them.
        is_running: Whether it may still say something.
    """

    state: str
    report: str
    is_running: bool


Watch = Callable[[Sequence[WorkerStatus]], None]
"""Called every few hundredths of a second with the workers, by rank."""


def report_of(line: str) -> str:
    """Epoch, batch and speed in a line of `Speedometer`, `ProgressBar` or `fit`; empty in any other."""
    if (found := _REPORT.search(line)) is None:
        return ""
    named = (f"{name} {found[name]}" for name in ("epoch", "batch") if found[name])
    return ", ".join([*named, *filter(None, [found["speed"]])])


@contextmanager
def watching(count: int) -> Iterator[tuple[Callable[[str], None], Watch | None]]:
    """Show a row per worker below the lines of output while the block runs, if output is a terminal.

    Rows need the terminal of the lines themselves: those of a pipe (`| tee`) may end on it, too.

    Yields:
        What prints a line, and what takes the workers; None where no terminal shows rows.
    """
    if not sys.stdout.isatty():
        yield click.echo, None
        return
    from rich.console import Console  # noqa: PLC0415 - 40 ms that a pipe need not pay
    from rich.progress import Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    columns = (TextColumn("{task.description}"), TimeElapsedColumn(), TextColumn("{task.fields[report]}"))
    with Progress(*columns, console=Console(), transient=True) as rows:
        tasks = [rows.add_task(f"rank {rank}: starting", total=None, report="") for rank in range(count)]

        def echo(line: str) -> None:
            # A worker's own movements of the cursor would tear the rows; its colours stay.
            rows.console.print(Text.from_ansi(line), soft_wrap=True)

        def watch(workers: Sequence[WorkerStatus]) -> None:
            for rank, (task, worker) in enumerate(zip(tasks, workers, strict=True)):
                rows.update(task, description=f"rank {rank}: {worker.state}", report=worker.report)
                if not worker.is_running:
                    rows.stop_task(task)

        yield echo, watch

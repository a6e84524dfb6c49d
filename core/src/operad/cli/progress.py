"""A progress bar on standard error, where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from operad.cli.page import visible

Advance = Callable[[str], None]
"""Called after each step with what was done."""


@contextmanager
def progress(label: str, steps: int) -> Iterator[Advance]:
    """Show a bar of `steps` steps while the block runs; nothing where no terminal shows it.

    Args:
        label: What is being done.
        steps: How often the block will call what it is given.
    """
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console  # noqa: PLC0415 - 40 ms that a pipe need not pay
    from rich.progress import (  # noqa: PLC0415 - as above
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[done]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=steps, done="")
        yield lambda done: bar.update(task, advance=1, done=visible(done))

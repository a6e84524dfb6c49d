"""A bar of an epoch's batches: drawn on a terminal, plain lines elsewhere.

Source: ProgressBar, python/mxnet/callback.py. Differs: a terminal gets a bar that stays in its line, with
batches per second and the time left (by `rich`, where that is installed); a pipe or file gets one line
per tenth of the epoch.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Final, final

import operad as od
from operad_module.checkpoint import BatchEndParam
from operad_module.pipeline import Pipeline

_logger: Final = logging.getLogger()
_LINES_PER_EPOCH: Final = 10

Callbacks = Callable[..., Any] | Sequence[Callable[..., Any]] | None


@final
class ProgressBar:
    """Shows how much of an epoch is done, and at its end what bounded the speed; for `batch_end_callback`.

    Lets the stages of pipelines be counted (`od.profiler.count_stages`).

    Args:
        total: Batches per epoch; None: not known, which a pipe shows nothing of.
        length: Width of the bar in characters.
    """

    def __init__(self, total: int | None, length: int = 80) -> None:
        self.total, self.bar_len = total, length
        self._title = "Epoch[{}]"
        self._epoch: int | None = None
        self._begun_s = time.perf_counter()
        self._shown = 0
        self._bar: Any = None
        self._task: Any = None
        self._counted = Pipeline({})

    def __call__(self, param: BatchEndParam) -> None:
        """Count a batch."""
        if param.epoch != self._epoch:
            self._begin(param.epoch)
        done = param.nbatch + 1
        if self._bar is not None:
            self._bar.update(self._task, completed=done)
            if self.total is not None and done >= self.total:
                self._end()
                self._conclude()
            return
        if self.total is None:
            return
        tenth = done * _LINES_PER_EPOCH // self.total
        if tenth > self._shown:
            self._shown = tenth
            # The first batch's end is what is known of the epoch's beginning.
            speed = (done - 1) / max(time.perf_counter() - self._begun_s, 1e-9)
            _logger.info(
                "Epoch[%d] Batch [%d/%d] %d%%\t%.1f batches/sec",
                param.epoch, done, self.total, 100 * done // self.total, speed,
            )  # fmt: skip
        if done == self.total:
            self._conclude()

    def _begin(self, epoch: int) -> None:
        self._end()
        # state change: from here on, this epoch is shown.
        self._epoch, self._begun_s, self._shown = epoch, time.perf_counter(), 0
        od.profiler.count_stages()
        self._counted = Pipeline.so_far()
        if sys.stderr.isatty() and (bar := _terminal_bar(self.bar_len)) is not None:
            self._bar, self._task = bar, bar.add_task(self._title.format(epoch), total=self.total)
            bar.start()

    def _conclude(self) -> None:
        found = Pipeline.so_far().since(self._counted)
        if found.stages:
            _logger.info("Epoch[%d] %s", self._epoch, found.conclusion())

    def _end(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


@contextmanager
def watched(given: Callbacks, total: int | None, title: str = "Epoch[{}]") -> Iterator[Callbacks]:
    """The callbacks of a loop over batches, where there are none, a bar on a terminal; nothing elsewhere.

    Args:
        given: The loop's `batch_end_callback`.
        total: Number of batches, if it is known.
        title: Stands before the bar, with the number of the epoch.
    """
    is_watched = sys.stderr is not None and sys.stderr.isatty() and find_spec("rich") is not None
    if given is not None or not is_watched:
        yield given
        return
    bar = ProgressBar(total)
    bar._title = title
    try:
        yield bar
    finally:
        bar._end()


@contextmanager
def logged(logger: Any) -> Iterator[None]:
    """A loop whose messages go to stderr where the program has not set up logging, and are lost otherwise.

    Logging is set up once the root logger has a handler or another level, or where `logger` is the program's.
    """
    root = logging.getLogger()
    if logger not in (logging, root) or root.handlers or root.level != logging.WARNING:
        yield
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    # Other libraries have loggers of their own, which nobody has asked to hear.
    handler.addFilter(lambda record: record.name == root.name or record.levelno >= logging.WARNING)
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(logging.WARNING)


def _terminal_bar(width: int) -> Any:
    try:
        from rich.console import Console  # noqa: PLC0415 - optional, and 40 ms that a pipe need not pay
        from rich.progress import (  # noqa: PLC0415 - as above
            BarColumn,
            MofNCompleteColumn,
            Progress,
            ProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )
    except ImportError:
        return None

    class Speed(ProgressColumn):
        """Batches per second."""

        def render(self, task: Any) -> str:
            return f"{task.speed or 0.0:.1f} batches/sec"

    columns = (
        TextColumn("{task.description}"),
        BarColumn(width),
        MofNCompleteColumn(),
        Speed(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True))

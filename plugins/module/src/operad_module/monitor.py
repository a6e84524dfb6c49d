"""Monitors: a statistic of every array that a graph computes, every few batches.

Source: Monitor, python/mxnet/monitor.py.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any, Final, final

from operad import Executor, NDArray

Statistic = Callable[[NDArray], Any]
Row = tuple[int, str, str]

_logger: Final = logging.getLogger()


def mean_size(array: NDArray) -> NDArray:
    """The root of the mean square."""
    found: NDArray = array.norm() / array.size**0.5
    return found


@final
class Monitor:
    """Watches executors: `tic` before a batch, `toc` after it.

    Args:
        interval: Watches one batch, then leaves out `interval - 1`.
        stat_func: Statistic of an array, an array or a list of arrays; None for `mean_size`.
        pattern: Regular expression that the names of the arrays watched begin with.
        sort: Whether rows are sorted by name.
        monitor_all: Whether the inputs of every node are watched as well.

    Attributes:
        exes: The executors.
        activated: Whether the batch is watched.
        step: Number of batches begun.
    """

    def __init__(
        self,
        interval: int,
        stat_func: Statistic | None = None,
        pattern: str = ".*",
        sort: bool = False,
        monitor_all: bool = False,
    ) -> None:
        self.interval, self.stat_func, self.sort = interval, stat_func or mean_size, sort
        self.monitor_all = monitor_all
        self.re_prog = re.compile(pattern)
        self.exes: list[Executor] = []
        self.activated, self.step = False, 0
        self.queue: list[tuple[int, str, Any]] = []

    def install(self, exe: Executor) -> None:
        """Watch an executor; its nodes run one by one while a batch is watched."""
        self.exes.append(exe)
        exe.set_monitor_callback(self.stat_helper, self.monitor_all)

    def stat_helper(self, name: str, array: NDArray) -> None:
        """Take the statistic of an array, if the batch is watched and the name matches."""
        if self.activated and self.re_prog.match(name):
            self.queue.append((self.step, str(name), self.stat_func(array)))

    def tic(self) -> None:
        """Begin a batch."""
        if self.step % self.interval == 0:
            self.queue, self.activated = [], True
        self.step += 1

    def toc(self) -> list[Row]:
        """End a batch: number, name and statistic of what was computed, and of all arguments and states."""
        if not self.activated:
            return []
        for exe in self.exes:
            for name, array in [*exe.arg_dict.items(), *exe.aux_dict.items()]:
                self.stat_helper(name, array)
        self.activated = False
        rows = [(step, name, _text(found)) for step, name, found in self.queue]
        self.queue = []
        return sorted(rows, key=lambda row: row[1]) if self.sort else rows

    def toc_print(self) -> None:
        """End a batch, and log what `toc` gives."""
        for step, name, text in self.toc():
            _logger.info("Batch: %7d %30s %s", step, name, text)


def _text(found: Any) -> str:
    return "".join(f"{_value(one)!s}\t" for one in (found if isinstance(found, list) else [found]))


def _value(one: Any) -> Any:
    if not isinstance(one, NDArray):
        return one
    return one.asscalar() if one.size == 1 else one.asnumpy()

"""Load by other programs: the work of the machine's processors, less that of the benchmark's processes.

Linux only: elsewhere the load is not known, and no run is called quiet.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

QUIET_BELOW: Final = 0.2
WINDOW_S: Final = 3.0
_STAT: Final = Path("/proc/stat")


@final
@dataclass(frozen=True, slots=True)
class Clocks:
    """Seconds: on the wall, of all processors at work, and of the processes of ours among those."""

    wall: float
    busy: float
    own: float


@final
@dataclass(frozen=True, slots=True)
class Load:
    """Processors that others kept busy, for each one that there is; None where that is not known.

    Attributes:
        before: While nothing of the benchmark ran.
        during: All the while that it ran.
        after: As `before`.
    """

    before: float | None
    during: float | None
    after: float | None

    @property
    def is_quiet(self) -> bool:
        """True if other programs hardly used the machine at any time."""
        known = (self.before, self.during, self.after)
        return all(value is not None and value < QUIET_BELOW for value in known)


def read(pids: Iterable[int]) -> Clocks | None:
    """The clocks now; `pids` are the processes of ours, whose ended children count too."""
    if not _STAT.exists():
        return None
    return Clocks(time.perf_counter(), busy_s(_STAT.read_text()), sum(map(own_s, pids)))


def between(first: Clocks | None, last: Clocks | None, cores: int) -> float | None:
    """The others' share of each core between two readings."""
    if first is None or last is None:
        return None
    others = (last.busy - first.busy) - (last.own - first.own)
    return max(0.0, others / (last.wall - first.wall) / cores)


def busy_s(stat: str) -> float:
    """Seconds of all processors at work, out of the text of `/proc/stat`.

    What other guests of the host took (steal) is load, too; guests' time is within that of users.
    """
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, stat.split("\n", 1)[0].split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own_s(pid: int) -> float:
    """Processor seconds of a process and of its children that have ended; 0 of one that is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return 0.0
    return process_s(text)


def process_s(stat: str) -> float:
    """Processor seconds out of the text of `/proc/PID/stat`, with children that have ended."""
    # The name in brackets may hold anything, so the numbers begin after the last bracket.
    fields = stat.rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def idle_load(cores: int, wait: Callable[[float], None] = time.sleep) -> float | None:
    """The others' share of each core for a while in which the benchmark does nothing."""
    pids = [os.getpid()]
    first = read(pids)
    wait(WINDOW_S)
    return between(first, read(pids), cores)

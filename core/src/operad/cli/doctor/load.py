"""Load of the machine: where others want its processors, times say little and threads wait for each other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, final

from operad.cli.doctor.finding import Finding, advice
from operad.system import CPU_PRESSURE, kernel_text, load_average

_HEAVY_PERCENT: Final = 20.0
"""Share of time from which a machine counts as busy."""


@final
@dataclass(frozen=True, slots=True)
class Load:
    """Use of the machine's processors by all programs.

    Attributes:
        processors: Processors of the machine, whether or not this process may use them.
        average: Threads that ran or were ready to run, the mean of about a minute; null where unknown.
        waiting_percent: Share of the last 10 seconds in which some thread waited for a processor; null
            where the system does not say (Linux does, with pressure stall information).
    """

    processors: int
    average: float | None
    waiting_percent: float | None

    @property
    def is_heavy(self) -> bool:
        """True if threads wait for processors; told by the load average where nothing better is known."""
        if self.waiting_percent is not None:
            return self.waiting_percent >= _HEAVY_PERCENT
        return self.average is not None and self.average > self.processors

    def text(self) -> str:
        """The figures that are known."""
        known = []
        if self.average is not None:
            known.append(f"load average {self.average:.1f} on {self.processors} processors")
        if self.waiting_percent is not None:
            known.append(f"threads waited in {self.waiting_percent:.0f} % of the last 10 s")
        return "; ".join(known) or "unknown"


def current_load() -> Load:
    """The load now."""
    return Load(os.cpu_count() or 1, load_average(), _waiting_percent())


def load_findings(found: Load) -> Iterator[Finding]:
    """A machine that is busy with something else."""
    if found.is_heavy:
        yield advice(
            "load",
            f"the machine is busy: {found.text()}",
            "measure nothing now, and set OPERAD_NUM_THREADS=1 where it stays so",
        )


def _waiting_percent() -> float | None:
    """`some avg10=1.23 avg60=...` of the first line."""
    for word in kernel_text(CPU_PRESSURE).split():  # none where the kernel keeps no such account
        name, _, value = word.partition("=")
        if name == "avg10":
            try:
                return float(value)
            except ValueError:
                return None
    return None

"""Bound of the speed of training, found from the stages that were counted.

A trainer alternates between waiting for data and computing. Where it hardly waits, computing is what a faster
program must improve; else it is the stage of the loader whose threads are the busiest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Self, final

import operad as od
from operad.profiler import StageFigures

_TRAINERS: Final = ("wait", "compute")
_HARDLY: Final = 0.1
"""The share of waiting below which data is not what is slow."""


@final
@dataclass(frozen=True, slots=True)
class Pipeline:
    """Figures of stages by name."""

    stages: Mapping[str, StageFigures]

    @classmethod
    def so_far(cls) -> Self:
        """Stages counted in this process."""
        return cls(od.profiler.stages())

    def since(self, before: Pipeline) -> Pipeline:
        """Stages counted after `before`."""
        found = {}
        for name, now in self.stages.items():
            then = before.stages.get(name, StageFigures(0, 0.0, 0))
            if now.runs > then.runs:
                found[name] = StageFigures(now.runs - then.runs, now.total_s - then.total_s, now.threads)
        return Pipeline(found)

    @property
    def waiting(self) -> float:
        """The part of the trainer's time in which it waited for data, from 0 to 1."""
        waited, computed = (self.stages[name].total_s if name in self.stages else 0.0 for name in _TRAINERS)
        return waited / (waited + computed) if waited else 0.0

    @property
    def slow_stage(self) -> str | None:
        """Stage that a faster program must improve; None where no stage was counted."""
        if "compute" in self.stages and self.waiting < _HARDLY:
            return "compute"
        busy = {name: one.total_s / one.threads for name, one in self.stages.items() if name not in _TRAINERS}
        return max(busy, key=busy.__getitem__) if busy else None

    def conclusion(self) -> str:
        """One sentence."""
        slow = self.slow_stage
        named = "the loader, which counts no stages" if slow is None else f"{slow!r}"
        if not any(name in self.stages for name in _TRAINERS):
            return f"slow stage: {named}; no trainer counted how long it waited for data"
        return f"waited for data {self.waiting:.0%} of the time; slow stage: {named}"

    def table(self) -> Iterator[str]:
        """Lines: for each stage how often, how long in all, by how many threads at once, how long each."""
        yield f"{'stage':<12}{'runs':>10}{'seconds':>12}{'threads':>10}{'s/thread':>12}{'ms/run':>12}"
        for name, one in sorted(self.stages.items(), key=lambda item: -item[1].total_s):
            yield (
                f"{name:<12}{one.runs:>10}{one.total_s:>12.3f}{one.threads:>10}"
                f"{one.total_s / one.threads:>12.3f}{one.total_s / one.runs * 1e3:>12.3f}"
            )

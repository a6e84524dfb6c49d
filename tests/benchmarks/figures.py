"""Figures of interleaved rounds: median, minimum, spread, and the basis of ratios."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, final

Basis = Literal["median", "cpu", "minimum"]
WORDS: Final[dict[Basis, str]] = {
    "median": "medians of time on the wall",
    "cpu": "minima of processor time",
    "minimum": "minima of time on the wall",
}


@final
@dataclass(frozen=True, slots=True)
class Figures:
    """Of one contestant in one row; seconds of one operation.

    Attributes:
        median: Of time on the wall.
        minimum: Likewise.
        spread: Distance of the quartiles over the median.
        cpu_median: Of processor time, of all threads.
        cpu_minimum: Likewise.
    """

    median: float
    minimum: float
    spread: float
    cpu_median: float
    cpu_minimum: float

    def of(self, basis: Basis) -> float:
        """The figure that is compared, by basis."""
        return {"median": self.median, "cpu": self.cpu_minimum, "minimum": self.minimum}[basis]


def figures(wall: Sequence[float], cpu: Sequence[float]) -> Figures:
    """The figures of rounds, given as seconds of one operation.

    Raises:
        ValueError: There are no rounds.
    """
    if not wall:
        raise ValueError("figures: no rounds were measured")
    median = statistics.median(wall)
    quartiles = statistics.quantiles(wall, n=4, method="inclusive") if len(wall) > 1 else [median] * 3
    return Figures(
        median, min(wall), (quartiles[2] - quartiles[0]) / median, statistics.median(cpu), min(cpu)
    )


def basis(is_quiet: bool, threads: int) -> Basis:
    """Basis of ratios on this machine: medians where it is quiet, else the least disturbed figure.

    For one thread that is processor time. With several threads processor time does not tell how long a
    step takes, so the fastest round is used.
    """
    if is_quiet:
        return "median"
    return "cpu" if threads == 1 else "minimum"


def ratio(ours: float, others: Iterable[float]) -> float | None:
    """Ours over the smallest of the others, or None where that is none or nothing: below 1 we are faster."""
    smallest = min(others, default=None)
    return ours / smallest if smallest else None

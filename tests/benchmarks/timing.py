"""Timing that holds on a shared machine: interleaved rounds and medians.

Ours and the peer's run alternate, so that a slow spell of the machine falls on both and the ratio
of the medians stands. A round repeats the callable until it has lasted long enough for the clock.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

from tests.benchmarks.case import Case

Clock = Callable[[], float]

ROUNDS: Final = 9
ROUND_S: Final = 0.05


@final
@dataclass(frozen=True, slots=True)
class Result:
    """What was measured of one case; figures are in its unit.

    Attributes:
        ours: Median over the rounds.
        ours_range: Smallest and largest over the rounds.
        peer: The peer's median, or None.
        ratio: Seconds of ours over seconds of the peer's (below 1: we are faster), or None.
    """

    name: str
    unit: str
    ours: float
    ours_range: tuple[float, float]
    peer_name: str | None
    peer: float | None
    ratio: float | None


def measure(
    case: Case, rounds: int = ROUNDS, round_s: float = ROUND_S, clock: Clock = time.perf_counter
) -> Result:
    """Time `case`, in `rounds` rounds of at least `round_s` seconds for each side.

    Args:
        clock: Seconds since some moment; `time.process_time` counts the processors' work alone, of all
            threads, which other processes hardly disturb.
    """
    sides = [case.run] if case.peer is None else [case.run, case.peer]
    repeats = [_repeats(run, round_s, clock) for run in sides]
    seconds: list[list[float]] = [[] for _ in sides]
    for _ in range(rounds):
        for run, count, found in zip(sides, repeats, seconds, strict=True):
            found.append(_seconds(run, count, clock))
    ours = [case.figure(value) for value in seconds[0]]
    medians = [statistics.median(values) for values in seconds]
    has_peer = len(sides) > 1
    return Result(
        case.name,
        case.unit,
        statistics.median(ours),
        (min(ours), max(ours)),
        case.peer_name if has_peer else None,
        case.figure(medians[1]) if has_peer else None,
        medians[0] / medians[1] if has_peer else None,
    )


def _repeats(run: Callable[[], object], round_s: float, clock: Clock) -> int:
    run()  # the first run pays for imports, inference and compilation
    count = 1
    while (spent := _seconds(run, count, clock) * count) < round_s:
        count = max(2 * count, int(count * round_s / max(spent, 1e-9)))
    return count


def _seconds(run: Callable[[], object], count: int, clock: Clock) -> float:
    """Seconds of one run, averaged over `count` in a row with the garbage collector off."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        start = clock()
        for _ in range(count):
            run()
        return (clock() - start) / count
    finally:
        if was_enabled:
            gc.enable()

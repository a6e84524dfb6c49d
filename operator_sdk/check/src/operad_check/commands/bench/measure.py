"""Times that hold on a shared machine: interleaved rounds and medians.

All contestants take turns within each round, so a slow spell of the machine falls on all of them. A
turn repeats its function until it has lasted long enough for the clock.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from typing import Final

ROUNDS: Final = 9
TURN_S: Final = 0.02

Advance = Callable[[str], object]


def interleaved(
    runs: Mapping[str, Callable[[], object]],
    advance: Advance,
    rounds: int = ROUNDS,
    turn_s: float = TURN_S,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Seconds of one call of each of `runs`, once per round.

    Args:
        runs: The functions to time, by name.
        advance: Called after each round.
        rounds: How many times each is measured.
        turn_s: The least that one measurement lasts.
        clock: Seconds that only grow.
    """
    counts = {name: _repeats(run, turn_s, clock) for name, run in runs.items()}
    found: dict[str, list[float]] = {name: [] for name in runs}
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        for turn in range(rounds):
            for name, run in runs.items():
                found[name].append(_seconds(run, counts[name], clock))
            advance(f"round {turn + 1}")
    finally:
        if was_enabled:
            gc.enable()
    return found


def _repeats(run: Callable[[], object], turn_s: float, clock: Callable[[], float]) -> int:
    run()  # the first call pays for imports, inference and compilation
    count = 1
    while (spent := _seconds(run, count, clock) * count) < turn_s:
        count = max(2 * count, int(count * turn_s / max(spent, 1e-9)))
    return count


def _seconds(run: Callable[[], object], count: int, clock: Callable[[], float]) -> float:
    begin = clock()
    for _ in range(count):
        run()
    return (clock() - begin) / count

"""Processor time of a process that should be at rest."""

from __future__ import annotations

import time

WINDOWS = 50
ENOUGH = 0.02


def least_share() -> float:
    """Processor time of the process by time, the least of some windows: others may only make it smaller."""
    least = 1.0
    for _ in range(WINDOWS):
        begun, used = time.monotonic(), time.process_time()
        time.sleep(0.1)
        least = min(least, (time.process_time() - used) / (time.monotonic() - begun))
        if least < ENOUGH:
            break
    return least

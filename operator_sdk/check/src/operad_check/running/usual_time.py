"""Time that cases take, for checks that stop by it."""

from __future__ import annotations

from collections.abc import Collection


def usual_time(times: Collection[float]) -> float:
    """Sum of times without the longest eighth of them, in seconds.

    The first case of a type, or of a size, imports a library or compiles. That takes seconds in one run and
    nothing in the next, which finds it in a cache, and must not decide how many cases are seen.
    """
    return sum(sorted(times)[: len(times) - (len(times) + 7) // 8])

"""A mapper with a branch and a constant, for tests of what is made of mappers."""

from __future__ import annotations

from operad_sdk.mapper import mapper


@mapper
def huber(a, sigma):
    """Square near zero, straight beyond 1 / sigma ** 2."""
    s2 = sigma * sigma
    if abs(a) > 1 / s2:
        return abs(a) - 0.5 / s2
    return 0.5 * s2 * a * a

"""Mode `memory`: a plan within a budget, or the smallest that is found."""

from __future__ import annotations

import warnings
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from operad.graph import planned_bytes
from operad_recompute.choice import Rules, Stretch
from operad_recompute.outcome import Facts, Outcome, microseconds, outcome
from operad_recompute.settings import BYTES
from operad_recompute.values import Values

PEAKS: Final = 48
"""Number of peaks that are tried between nothing and what is kept now."""
BUILT: Final = 4
"""Of how many choices the graph is built to find the smallest plan: those of which arithmetic says least."""


def within(values: Values, facts: Facts, budget_bytes: int | None) -> Outcome | None:
    """The plan that computes least again within a budget, or the smallest; None where nothing gets smaller.

    Warns:
        RuntimeWarning: No plan that was found is within the budget.
    """
    before = planned_bytes(values.graph, facts)
    if budget_bytes is not None and before <= budget_bytes and not values.forced:
        return None
    choices = _choices(values)
    if budget_bytes is not None:
        found = _cheapest(values, facts, choices, budget_bytes)
        if found is not None:
            return found
    built = [outcome(values, facts, stretches) for stretches in choices[:BUILT]]
    best = min(built, key=lambda found: (found.planned_bytes, found.us), default=None)
    if best is not None and best.planned_bytes >= before and not values.forced:
        best = None
    if budget_bytes is not None:
        least = before if best is None else best.planned_bytes
        warnings.warn(
            f"recompute: {BYTES.variable} is {budget_bytes}, but a plan needs {least} bytes at least; "
            "it takes these",
            RuntimeWarning,
            stacklevel=2,
        )
    return best


def _choices(values: Values) -> list[Sequence[Stretch]]:
    """Values that may be computed again: the least memory first, then the cheapest."""
    rules = Rules(values, None, is_careful=False)
    peaks = [values.kept_bytes * part // PEAKS for part in range(1, PEAKS + 1)]
    found = {tuple(rules.stretches(peak)): None for peak in peaks}
    return sorted(filter(None, found), key=lambda one: (rules.peak_bytes(one), microseconds(values, one)))


def _cheapest(
    values: Values, facts: Facts, choices: Sequence[Sequence[Stretch]], budget_bytes: int
) -> Outcome | None:
    """The cheapest choice within a budget.

    Where arithmetic says more plans need more, with few exceptions: the largest that fits is found by
    halving, and the cheapest is among what it says less of.
    """
    built: dict[int, Outcome] = {}

    def plan(place: int) -> Outcome:
        if place not in built:
            built[place] = outcome(values, facts, choices[place])
        return built[place]

    def is_beyond(place: int) -> bool:
        return plan(place).planned_bytes > budget_bytes

    fitting = bisect_left(range(len(choices)), True, key=is_beyond)
    for place in sorted(range(fitting), key=lambda place: microseconds(values, choices[place])):
        if not is_beyond(place):
            return plan(place)
    return None

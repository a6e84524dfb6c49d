"""Mode `memory`: a plan within a budget, or the smallest that is found."""

from __future__ import annotations

import warnings
from typing import Final

from operad.graph import planned_bytes
from operad_recompute.choice import Rules
from operad_recompute.outcome import Facts, Outcome, outcome
from operad_recompute.settings import BYTES
from operad_recompute.values import Values

PEAKS: Final = 48
"""How many peaks are tried between nothing and what is kept now."""


def within(values: Values, facts: Facts, budget_bytes: int | None) -> Outcome | None:
    """The plan that computes least again within a budget, or the smallest; None where nothing gets smaller.

    Warns:
        RuntimeWarning: No plan that was found is within the budget.
    """
    before = planned_bytes(values.graph, facts)
    if budget_bytes is not None and before <= budget_bytes and not values.forced:
        return None
    rules = Rules(values, None, is_careful=False)
    peaks = [values.kept_bytes * part // PEAKS for part in range(1, PEAKS + 1)]
    choices = {tuple(rules.stretches(peak)): None for peak in peaks}
    tried = [outcome(values, facts, stretches) for stretches in choices if stretches]
    if budget_bytes is not None:
        fitting = [found for found in tried if found.planned_bytes <= budget_bytes]
        if fitting:
            return min(fitting, key=lambda found: (found.us, found.planned_bytes))
    best = min(tried, key=lambda found: (found.planned_bytes, found.us), default=None)
    if best is not None and best.planned_bytes >= before and not values.forced:
        best = None
    if budget_bytes is not None:
        least = before if best is None else best.planned_bytes
        warnings.warn(
            f"recompute: {BYTES} is {budget_bytes}, but a plan needs {least} bytes at least; it takes these",
            RuntimeWarning,
            stacklevel=2,
        )
    return best

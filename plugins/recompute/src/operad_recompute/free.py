"""Mode `free`: what is computed again takes a small share of a step, and the plan gets smaller."""

from __future__ import annotations

from typing import Final

from operad.graph import estimated, planned_bytes
from operad_recompute.choice import Rules, Stretch
from operad_recompute.outcome import Facts, Outcome, outcome
from operad_recompute.values import Values

FREE_SHARE: Final = 0.015
"""The part of a step that may be spent, by the costs that operators state.

These are right within a factor of two (a backward is taken for two forwards; that of `tanh` is half of one),
so it is half of what a step may really take longer.
"""
WORTH_BYTES: Final = 1 << 20
"""Graphs that keep less are left alone: that much fits into a cache, and binding stays quick."""
WORTH_SHARE: Final = 0.04
"""And so are those of which so small a part of what is kept could go."""


def freely(values: Values, facts: Facts) -> Outcome | None:
    """Values that cost next to nothing; None where nothing is to be had for that.

    Products are never computed again, unless the user says so.
    """
    steps = range(values.end)
    forced = values.forced
    budget = FREE_SHARE * estimated(facts["costs"]).us
    cheap = {step for step in steps if values.microseconds(step) <= budget and not values.is_product(step)}
    rules = Rules(values, cheap | forced, is_careful=True)
    chosen = rules.stretches(None)
    for whole in chosen:
        affordable = forced | _affordable(values, whole, budget)
        if not whole.steps <= affordable:
            rules = rules.within(affordable)
            chosen = rules.stretches(None)
    freed = sum(whole.freed_bytes(values, whole.steps) for whole in chosen)
    if freed < WORTH_SHARE * values.kept_bytes and not forced:
        return None
    # A plan holds all that is kept when backward begins; only one that is no smaller has to be compared.
    before: int | None = None
    tried: list[list[Stretch]] = []
    for peak in (None, values.kept_bytes // 2, values.kept_bytes // 4):
        choice = chosen if peak is None else rules.stretches(peak)
        if choice in tried:
            continue
        tried.append(choice)
        found = outcome(values, facts, choice)
        if forced or found.planned_bytes < values.kept_bytes:
            return found
        before = planned_bytes(values.graph, facts) if before is None else before
        if found.planned_bytes < before:
            return found
    return None


def _affordable(values: Values, whole: Stretch, budget_us: float) -> set[int]:
    """The steps of a choice that fit into a budget, those first that free most bytes for their time."""
    groups = [(steps, sum(map(values.microseconds, steps))) for steps in whole.groups(values)]
    groups.sort(key=lambda group: whole.freed_bytes(values, group[0]) / (1 + group[1]), reverse=True)
    found: set[int] = set()
    for steps, us in groups:
        if us <= budget_us and whole.freed_bytes(values, steps) > 0:
            budget_us -= us
            found |= steps
        elif us > budget_us:
            # The first of them follow from what is kept without the others, and are kept longest.
            for step in sorted(steps):
                budget_us -= values.microseconds(step)
                if budget_us < 0:
                    return found
                found.add(step)
    return found

"""The dynamic programme of each sample, compiled by numba on its first use; imported only where that is."""

from __future__ import annotations

from math import exp, inf, log
from typing import Any

from operad_sdk import loop


@loop
def _log_sum(first: float, second: float, third: float) -> float:
    """log(e^first + e^second + e^third), and NaN if any of them is."""
    largest = max(first, second, third)
    if largest == -inf:
        return first + second + third
    return largest + log(exp(first - largest) + exp(second - largest) + exp(third - largest))


@loop
def align(log_probs: Any, states: Any, blank: int, scores: Any, expected: Any) -> Any:
    """The logarithm of the labels' probability, and how often each class is expected at each step.

    Args:
        log_probs: (T, A), the sample's steps alone, at least one.
        states: (S,), the sample's states alone.
        scores: (T, S), scratch memory.
        expected: (T, A), zeros.
    """
    steps, count = len(log_probs), len(states)
    for t in range(steps):
        for s in range(count):
            if t == 0:
                score = 0.0 if s < 2 else -inf
            else:
                one = scores[t - 1, s - 1] if s > 0 else -inf
                two = -inf
                if s > 1 and states[s] != blank and states[s] != states[s - 2]:
                    two = scores[t - 1, s - 2]
                score = _log_sum(scores[t - 1, s], one, two)
            scores[t, s] = score + log_probs[t, states[s]]
    total = _log_sum(scores[steps - 1, count - 1], scores[steps - 1, count - 2] if count > 1 else -inf, -inf)
    shift = 0.0 if total == -inf else total
    ends = [0.0 if s >= count - 2 else -inf for s in range(count)]
    for t in range(steps - 1, -1, -1):
        if t < steps - 1:
            for s in range(count):
                ends[s] += log_probs[t + 1, states[s]]
            for s in range(count):  # from the front: what follows a state is not yet overwritten
                one = ends[s + 1] if s + 1 < count else -inf
                two = -inf
                if s + 2 < count and states[s + 2] != blank and states[s] != states[s + 2]:
                    two = ends[s + 2]
                ends[s] = _log_sum(ends[s], one, two)
        for s in range(count):
            expected[t, states[s]] += exp(scores[t, s] + ends[s] - shift)
    return total


@loop
def align_samples(
    log_probs: Any, states: Any, steps: Any, lengths: Any, blank: int, scores: Any, expected: Any, total: Any
) -> None:
    """`align` of every sample that has steps, into `expected`, (T, N, A), and `total`, (N,)."""
    for sample in range(len(steps)):
        count = steps[sample]
        if count > 0:
            own = states[sample, : 2 * lengths[sample] + 1]
            total[sample] = align(log_probs[:count, sample], own, blank, scores, expected[:, sample])

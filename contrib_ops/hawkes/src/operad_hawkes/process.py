"""The state of Hawkes processes, event by event; all sequences of a batch at a time.

Of each mark only two numbers count: when it came last, and the memory it left then, a sum of exponentials
that decay alike. So an event touches its own mark alone, and the intensity between two events of a mark is
integrated when the second one comes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from operad_sdk import Array, blocked_sum


class Process(NamedTuple):
    """Parameters: arrays of a number per sequence and mark, or per mark."""

    lda: Array
    alpha: Array
    beta: Array


class Step(NamedTuple):
    """One event of each sequence that has one.

    Attributes:
        where: Sequences, and their marks: an index of arrays (N, K).
        mark: The marks alone, an index of arrays (K,).
        lag: Time since the last event of that mark.
        decay: What is left of the memory after that time.
        memory: The memory as the last event left it.
    """

    where: tuple[Array, Array]
    mark: Array
    lag: Array
    decay: Array
    memory: Array

    def intensity(self, of: Process) -> Array:
        """The rate at which such events come now."""
        excited = of.alpha[self.mark] * of.beta[self.mark] * self.memory * self.decay
        return of.lda[self.where] + excited


class End(NamedTuple):
    """State at the end: time since the last event of each mark, decay and memory; (N, K) each."""

    lag: Array
    decay: Array
    memory: Array


def run(
    xp: Any, of: Process, state: Array, lags: Array, marks: Array, valid_length: Array, max_time: Array
) -> tuple[list[Step], End]:
    """All steps in order, and the end."""
    memory, last, now = state.copy(), xp.zeros_like(state), xp.zeros_like(max_time)
    steps = []
    for number in range(lags.shape[1]):
        (rows,) = xp.nonzero(valid_length > number)
        if not len(rows):
            break
        now[rows] += lags[rows, number]
        mark = marks[rows, number]
        where = (rows, mark)
        lag = now[rows] - last[where]
        step = Step(where, mark, lag, np.exp(-of.beta[mark] * lag), memory[where])
        steps.append(step)
        memory[where] = 1 + step.memory * step.decay
        last[where] = now[rows]
    lag = max_time[:, None] - last
    return steps, End(lag, np.exp(-of.beta * lag), memory)


def expected(of: Process, end: End) -> Array:
    """The number of events that the intensity since the last one gives, its integral."""
    return of.lda * end.lag + of.alpha * end.memory * (1 - end.decay)


def likelihood(of: Process, steps: list[Step], end: End) -> Array:
    """Logarithm of each sequence's likelihood."""
    found = -expected(of, end).sum(axis=1)
    for step in steps:
        rows = step.where[0]
        passed = of.lda[step.where] * step.lag + of.alpha[step.mark] * step.memory * (1 - step.decay)
        found[rows] += np.log(step.intensity(of)) - passed
    return found


def gradients(
    xp: Any, of: Process, steps: list[Step], end: End, head: Array, state_head: Array, shape: tuple[int, ...]
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Gradients of `lda`, `alpha`, `beta`, the state, lags and `max_time`, from the last event to the first.

    Args:
        head: Gradients of the likelihoods, (N,), and, `state_head`, of the states at the end, (N, K).
        shape: That of the lags.
    """
    each = head[:, None]
    lda = -each * end.lag
    alpha = blocked_sum(-each * end.memory * (1 - end.decay), 0).astype(np.float64)
    of_decay = (state_head + each * of.alpha) * end.memory
    beta = blocked_sum(-of_decay * end.lag * end.decay, 0).astype(np.float64)
    memory = state_head * end.decay - each * of.alpha * (1 - end.decay)
    # A lag between two events of a mark is the difference of their times, of which `last` is the earlier.
    last = each * of.lda + of_decay * of.beta * end.decay
    max_time = -last.sum(axis=1)
    times = xp.zeros(shape, head.dtype)
    for number, step in reversed(list(enumerate(steps))):
        rows, mark = step.where
        a, b, own = of.alpha[mark], of.beta[mark], head[rows]
        rate = own / step.intensity(of)
        after = memory[step.where]
        of_decay = (rate * a * b + own * a + after) * step.memory
        lda[step.where] += rate - own * step.lag
        xp.add.at(alpha, mark, rate * b * step.memory * step.decay - own * step.memory * (1 - step.decay))
        xp.add.at(beta, mark, rate * a * step.memory * step.decay - of_decay * step.lag * step.decay)
        of_lag = -of_decay * b * step.decay - own * of.lda[step.where]
        times[rows, number] = last[step.where] + of_lag
        last[step.where] = -of_lag
        memory[step.where] = (after + rate * a * b) * step.decay - own * a * (1 - step.decay)
    # A time is the sum of all lags up to it.
    lags = np.flip(np.cumsum(np.flip(times, 1), axis=1), 1)
    return lda, alpha, beta, memory, lags, max_time

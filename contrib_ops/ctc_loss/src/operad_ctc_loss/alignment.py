"""All alignments of labels with steps of data, by dynamic programming.

An alignment gives each step a state: the blanks and labels of a sample in turn. It starts at the first
blank or label, ends at the last ones, and stays, or goes one state on, or skips a blank between different
labels. Its probability is the product of what the steps give to the states' classes, and that of the labels
is the sum over all alignments. Sums over the beginnings and over the ends of alignments are carried along
the steps, so the work is steps times states.

They are kept as logarithms in double precision: thousands of steps neither underflow nor lose the digits
of the difference between two large logarithms. A rescaled sum of probabilities would be faster by the
exponentials, and would need a scale of its own wherever some states are hopeless.

On the host compiled code walks through each sample where numba is installed and there is much to do: a
tenth of the time of NumPy's functions, which walk through all samples at once elsewhere.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_ctc_loss.labels import Labels
from operad_sdk import Array, CompiledLoops

LOOPS: Final = CompiledLoops("operad_ctc_loss.compiled")


def aligned(xp: Any, log_probs: Array, labels: Labels) -> tuple[Array, Array]:
    """The logarithm of the labels' probability, and how often each class is expected at each step.

    Args:
        log_probs: Logarithms of the classes' probabilities; (T, N, A), float64.

    Returns:
        For each sample, and (T, N, A), which is 0 after the sample's last step and sums to 1 before, or to
        0 where there is no alignment.
    """
    states = labels.states(xp)
    may_skip = (states[:, 2:] != states[:, :-2]) & (states[:, 2:] != labels.blank)
    scores = _beginnings(xp, log_probs, states, may_skip)
    total = _total(xp, scores, labels)
    _add_ends(xp, log_probs, states, may_skip, labels, scores)
    scores -= xp.where(total == -np.inf, 0, total)[:, None]
    np.exp(scores, out=scores)
    expected = xp.zeros_like(log_probs)
    expected[:, :, labels.blank] = scores[:, :, 0::2].sum(axis=2)
    sample = xp.arange(len(states))
    for state in range(1, states.shape[1], 2):
        expected[:, sample, states[:, state]] += scores[:, :, state]
    return total, expected


def aligned_by_loop(xp: Any, log_probs: Array, labels: Labels) -> tuple[Array, Array]:
    """The same, one sample after the other, its own steps and states alone, by compiled code."""
    states = labels.states(xp)
    expected = np.zeros_like(log_probs)
    total = np.where(labels.lengths == 0, 0.0, -np.inf)
    scores = np.empty((len(log_probs), states.shape[1]))
    given = log_probs, states, labels.steps, labels.lengths, labels.blank
    LOOPS.align_samples(*given, scores, expected, total)
    return total, expected


def _beginnings(xp: Any, log_probs: Array, states: Array, may_skip: Array) -> Array:
    """Sums over the alignments of the steps up to each, by the state they end in; (T, N, S)."""
    scores = xp.empty((len(log_probs), *states.shape), log_probs.dtype)
    before = xp.full(states.shape, -np.inf)
    before[:, :2] = 0
    for step, given in enumerate(log_probs):
        score = scores[step]
        score[...] = before
        if step:
            np.logaddexp(score[:, 1:], before[:, :-1], out=score[:, 1:])
            skipped = xp.where(may_skip, before[:, :-2], -np.inf)
            np.logaddexp(score[:, 2:], skipped, out=score[:, 2:])
        score += xp.take_along_axis(given, states, axis=1)
        before = score
    return scores


def _total(xp: Any, scores: Array, labels: Labels) -> Array:
    """The sum over all alignments, which end in the last label or the blank behind it."""
    if not len(scores):
        return xp.where(labels.lengths == 0, 0.0, -np.inf)
    sample, last = xp.arange(scores.shape[1]), 2 * labels.lengths
    step = np.maximum(labels.steps - 1, 0)
    in_label = xp.where(labels.lengths > 0, scores[step, sample, np.maximum(last - 1, 0)], -np.inf)
    total = np.logaddexp(scores[step, sample, last], in_label)
    return xp.where(labels.steps > 0, total, xp.where(labels.lengths == 0, 0.0, -np.inf))


def _add_ends(
    xp: Any, log_probs: Array, states: Array, may_skip: Array, labels: Labels, scores: Array
) -> None:
    """Add the sums over the alignments of the steps after each, by the state they come from."""
    number, last = xp.arange(states.shape[1]), 2 * labels.lengths[:, None]
    is_last = (number == last) | (number == last - 1)
    ends = xp.full(states.shape, -np.inf)
    for step in range(len(log_probs) - 1, -1, -1):
        if step + 1 < len(log_probs):
            after = ends + xp.take_along_axis(log_probs[step + 1], states, axis=1)
            ends = after.copy()
            np.logaddexp(ends[:, :-1], after[:, 1:], out=ends[:, :-1])
            np.logaddexp(ends[:, :-2], xp.where(may_skip, after[:, 2:], -np.inf), out=ends[:, :-2])
        ends[is_last & (labels.steps == step + 1)[:, None]] = 0
        scores[step] += ends

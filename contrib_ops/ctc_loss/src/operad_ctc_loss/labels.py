"""Labels as they are given, and as the dynamic programme walks through them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from operad.errors import IndexOutOfRangeError
from operad_sdk import Array


class Labels(NamedTuple):
    """Labels of a batch.

    Attributes:
        symbols: The class of each label, the blank behind the last one; (N, L).
        lengths: How many labels a sample has; (N,).
        steps: How many steps of data a sample has; (N,).
        blank: The class that stands for no label.
    """

    symbols: Array
    lengths: Array
    steps: Array
    blank: int

    def states(self, xp: Any) -> Array:
        """A blank, then each label and a blank: the classes of an alignment; (N, 2 L + 1)."""
        samples, count = self.symbols.shape
        states = xp.full((samples, 2 * count + 1), self.blank)
        states[:, 1::2] = self.symbols
        return states

    def fit(self) -> Array:
        """Mask of the samples that have an alignment: equal neighbours need a blank between them."""
        repeated = (self.symbols[:, 1:] == self.symbols[:, :-1]) & (self.symbols[:, 1:] != self.blank)
        return self.steps >= self.lengths + repeated.sum(axis=1)


def read_labels(
    xp: Any, data: Array, label: Array, data_lengths: Array | None, label_lengths: Array | None, blank: int
) -> Labels:
    """The labels and lengths of all samples.

    Without lengths, labels end before the first that is padding: 0 where the blank is class 0, else -1.

    Raises:
        IndexOutOfRangeError: A length or a class is out of range.
    """
    steps, samples, classes = data.shape
    most = label.shape[1]
    symbols = label.astype(np.intp)
    if label_lengths is None:
        is_padding = symbols == (0 if blank == 0 else -1)
        lengths = (is_padding.cumsum(axis=1) == 0).sum(axis=1)
    else:
        lengths = label_lengths.astype(np.intp)
        _check("label_lengths", lengths, 0, most)
    if data_lengths is None:
        used = xp.full(samples, steps)
    else:
        used = data_lengths.astype(np.intp)
        _check("data_lengths", used, 0, steps)
    is_label = xp.arange(most) < lengths[:, None]
    first, last = (1, classes - 1) if blank == 0 else (0, classes - 2)
    _check("label", symbols, first, last, is_label)
    return Labels(xp.where(is_label, symbols, blank), lengths, used, blank)


def _check(name: str, values: Array, least: int, most: int, counts: Array | bool = True) -> None:
    is_wrong = counts & ((values < least) | (values > most))
    if is_wrong.any():
        at = tuple(int(where[0]) for where in is_wrong.nonzero())
        raise IndexOutOfRangeError(
            f"CTCLoss: {name}{list(at)} is {int(values[at])}, expected {least} to {most}"
        )

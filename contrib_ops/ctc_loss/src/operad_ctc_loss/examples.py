"""Labels and lengths that the contract checks try `CTCLoss` on, and its definition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import pairwise
from math import exp, inf, log1p
from typing import Any, Final

import numpy as np

from operad_sdk import Array, Shape

PARAMS: Final[Mapping[str, Sequence[Any]]] = {
    "use_data_lengths": (False, True),
    "use_label_lengths": (False, True),
    "blank_label": ("first", "last"),
}

_MOST_LABELS: Final = 40
"""Of an example; the definition takes a step of Python for each step and label."""


def drawn_shapes(prop: Any, choose: Callable[[Sequence[int]], int]) -> list[Shape]:
    """Shapes of an example with at most as many labels as steps."""
    steps, samples, classes = choose((3, 2, 4, 1)), choose((2, 1, 3, 0)), choose((3, 2))
    labels = choose(range(min(steps, _MOST_LABELS) + 1))
    lengths = [(samples,)] * (prop.use_data_lengths + prop.use_label_lengths)
    return [(steps, samples, classes), (samples, labels), *lengths]


def drawn_labels(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Any) -> Array:
    """Classes, and padding where there are no lengths of labels."""
    first = 1 if prop.blank_label == "first" else 0
    symbols = shapes["data"][2] - 1
    least = first if prop.use_label_lengths else first - 1
    return rng.integers(least, max(least, first + symbols - 1), shape, endpoint=True)


def data_lengths(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Any) -> Array:
    """Numbers of steps, from none to all."""
    return rng.integers(0, shapes["data"][0], shape, endpoint=True)


def label_lengths(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Any) -> Array:
    """Numbers of labels, from none to all."""
    return rng.integers(0, shapes["label"][1], shape, endpoint=True)


def definition(
    data: Array,
    label: Array,
    *lengths: Array,
    use_data_lengths: bool,
    use_label_lengths: bool,
    blank_label: str,
) -> Array:
    """-log of the probability, and 0 where there are more labels than fit into the steps."""
    classes = data.shape[2]
    blank, padding = (0, 0) if blank_label == "first" else (classes - 1, -1)
    given = iter(lengths)
    steps = next(given) if use_data_lengths else np.full(len(label), len(data))
    counts = next(given) if use_label_lengths else [[*row, padding].index(padding) for row in label.tolist()]
    losses = []
    for sample, row in enumerate(label.tolist()):
        steps_data = data[: int(steps[sample]), sample]
        log_probs = steps_data - np.logaddexp.reduce(steps_data, axis=1, keepdims=True)
        labels = row[: int(counts[sample])]
        least = len(labels) + sum(
            one == other for one, other in pairwise(labels)
        )  # a blank between equal ones
        losses.append(-log_probability(log_probs, labels, blank) if least <= len(steps_data) else 0.0)
    return np.asarray(losses)


def log_probability(log_probs: Array, labels: list[int], blank: int) -> float:
    """The log of the sum over all sequences of classes, of which those count that leave the labels so far.

    Sequences are distinguished by how many labels they have left and by their last class alone.
    """
    left = {(0, blank): 0.0}
    for step in log_probs.tolist():
        longer: dict[tuple[int, int], float] = defaultdict(lambda: -inf)
        for (count, last), value in left.items():
            for symbol, share in enumerate(step):
                if symbol in (blank, last):
                    longer[count, symbol] = _log_sum(longer[count, symbol], value + share)
                elif count < len(labels) and labels[count] == symbol:
                    longer[count + 1, symbol] = _log_sum(longer[count + 1, symbol], value + share)
        left = longer
    ends = [value for (count, _), value in left.items() if count == len(labels)]
    return reduce(_log_sum, ends, -inf)


def _log_sum(one: float, other: float) -> float:
    """log(e^one + e^other)."""
    low, high = sorted((one, other))
    return high if low == -inf else high + log1p(exp(low - high))

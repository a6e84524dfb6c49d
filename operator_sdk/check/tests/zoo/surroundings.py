"""Faults that show beside the results: in the process, in other processes, in memory, with size."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from operad_sdk import operator, unary
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients

_seen: list[Any] = []


@unary("zoo_sets_error_state", accepts="floating")
def sets_error_state(data):
    """A logarithm that silences the whole process."""
    np.seterr(all="ignore", over="print")
    return np.log1p(np.abs(data))


@unary("zoo_sets_variable", accepts="floating")
def sets_variable(data):
    """A copy that tells the environment."""
    os.environ["ZOO_SETS_VARIABLE"] = str(data.size)
    return data.copy()


@unary("zoo_keeps_inputs", accepts="floating")
def keeps_inputs(data):
    """A copy that keeps what it copied."""
    _seen.append(data)
    return data * 1


@operator("zoo_keeps_last")
class KeepsLast(Floating):
    """A copy that remembers the last array."""

    spec = "data:(N) -> output:(N)"

    def forward(self, data):
        """The copy."""
        self.last = data
        return data * 1


@unary("zoo_sums_a_set", accepts="floating")
def sums_a_set(data):
    """A polynomial whose terms come in the order of a set."""
    total, words = np.zeros_like(data), {"first", "second", "third", "fourth"}
    for word in words:
        total = total / 3 + data * len(word) / 7
    return total


@unary("zoo_hashes_a_word", accepts="floating")
def hashes_a_word(data):
    """A shift by the hash of a name."""
    return data + hash("shift") % 97


@operator("zoo_all_pairs")
class AllPairs(Floating):
    """How many elements are no larger, by comparing all pairs."""

    spec = "data:(N) -> output:(N)"

    def forward(data):
        """The count."""
        return (data[None, :] <= data[:, None]).astype(data.dtype).sum(axis=1)


@operator("zoo_bubbles")
class Bubbles(Floating):
    """The sorted elements, by exchanging neighbours."""

    spec = "data:(N) -> output:(N); N <= 1200"  # four times the longest axis of M410

    def forward(data, output):
        """One element after another goes to its place."""
        output[...] = data
        for last in range(len(output) - 1, 0, -1):
            _pass_over(output, last)


def _pass_over(values: Any, last: int) -> None:
    for i in range(last):
        _exchange(values, i)


def _exchange(values: Any, i: int) -> None:
    if values[i] > values[i + 1]:
        values[i], values[i + 1] = values[i + 1].item(), values[i].item()


@unary("zoo_counts_by_value", accepts="floating")
def counts_by_value(data):
    """A copy; how often each sum was seen is counted."""
    _counts[float(np.sum(data, dtype=np.float64))] = len(_counts)
    return data * 1


_counts: dict[float, int] = {}


@operator("zoo_logs_shapes")
class LogsShapes(Floating):
    """A copy that logs in a list of its own, without end."""

    spec = "data:(*S) -> output:(*S)"
    log: list[str] = []

    def forward(self, data):
        """The copy."""
        self.log.append(f"{len(self.log)}: {data.shape}")
        return data * 1


ZOO = without_gradients(
    [
        Fault("R507", sets_error_state, "NumPy's error state stays changed"),
        Fault("R507", sets_variable, "a variable of the environment stays set"),
        Fault("R508 M411 R501", keeps_inputs, "a module keeps every input"),
        Fault("R508", KeepsLast, "a property keeps its last input"),
        Fault("R509", sums_a_set, "terms are added in the order of a set"),
        Fault("R509", hashes_a_word, "a result holds the hash of a word"),
        Fault("M410", AllPairs, "a temporary array of all pairs"),
        Fault("M410", Bubbles, "calls grow with the square of the size"),
        Fault("M411", counts_by_value, "a dictionary grows with each value"),
        Fault("M411", LogsShapes, "a list grows with each call"),
    ]
)

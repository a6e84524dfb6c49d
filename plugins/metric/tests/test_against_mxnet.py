"""Values that MXNet 1.9.1 gave once to the same updates.

Three batches; after the second, both values are read and the local one is reset; after the third, both again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od

_random = np.random.RandomState(7)


def _classified(size: int) -> list[Any]:
    return [(_random.randint(0, size, 6), _random.dirichlet(np.ones(size), 6)) for _ in range(3)]


THREE, TWO = _classified(3), _classified(2)
PAIRS = [(_random.randn(5, 2), _random.randn(5, 2)) for _ in range(3)]
FLAT = [(label[:, 0], pred[:, 0]) for label, pred in PAIRS]

CASES: list[tuple[str, dict[str, Any], list[Any], list[float]]] = [
    ("acc", {}, THREE, [0.41666667, 0.41666667, 0.33333333, 0.38888889]),
    ("accuracy", {"axis": 1}, THREE, [0.41666667, 0.41666667, 0.33333333, 0.38888889]),
    ("top_k_accuracy", {"top_k": 2}, THREE, [0.83333333, 0.83333333, 0.83333333, 0.83333333]),
    ("f1", {}, TWO, [0.25, 0.25, 0.28571429, 0.26190476]),
    ("f1", {"average": "micro"}, TWO, [0.36363636, 0.36363636, 0.28571429, 0.33333333]),
    ("mcc", {}, TWO, [-0.25, -0.25, -0.70710678, -0.40236893]),
    ("mcc", {"average": "micro"}, TWO, [-0.11952286, -0.11952286, -0.70710678, -0.2987013]),
    ("perplexity", {"ignore_label": None}, THREE, [3.0376723, 3.0376723, 3.392584, 3.1516464]),
    ("perplexity", {"ignore_label": 1}, THREE, [2.5179695, 2.5179695, 4.6766232, 2.6787899]),
    ("mae", {}, PAIRS, [1.0406082, 1.0406082, 1.4794871, 1.1869011]),
    ("mse", {}, PAIRS, [2.2588412, 2.2588412, 2.9777758, 2.498486]),
    ("rmse", {}, PAIRS, [1.4904282, 1.4904282, 1.7256234, 1.5688266]),
    ("mae", {}, FLAT, [0.42525601, 0.42525601, 1.5943239, 0.8149453]),
    ("mse", {}, FLAT, [0.38820911, 0.38820911, 3.1984441, 1.3249541]),
    ("rmse", {}, FLAT, [0.59447488, 0.59447488, 1.7884195, 0.99245642]),
    ("ce", {}, THREE, [1.1110915, 1.1110915, 1.2215919, 1.147925]),
    ("nll_loss", {}, THREE, [1.1110915, 1.1110915, 1.2215919, 1.147925]),
    ("pearsonr", {}, FLAT, [0.66488684, 0.66488684, -0.37432634, 0.31848245]),
    ("pcc", {}, THREE, [0.11702128, 0.11702128, -0.067419986, 0.1]),
    ("pcc", {}, TWO, [-0.11952286, -0.11952286, -0.70710678, -0.2987013]),
    ("loss", {}, PAIRS, [0.036354907, 0.036354907, 0.041976786, 0.038228866]),
    ("torch", {}, PAIRS, [0.036354907, 0.036354907, 0.041976786, 0.038228866]),
    ("caffe", {}, PAIRS, [0.036354907, 0.036354907, 0.041976786, 0.038228866]),
]


@pytest.mark.parametrize(("name", "arguments", "batches", "expected"), CASES)
def test_values_are_those_of_mxnet(
    name: str, arguments: dict[str, Any], batches: list[Any], expected: list[float]
) -> None:
    metric = od.metric.create(name, **arguments)
    values = []
    for number, (label, pred) in enumerate(batches):
        metric.update([od.nd.array(label)], [od.nd.array(pred)])
        if number == 1:
            values += [metric.get()[1], metric.get_global()[1]]
            metric.reset_local()
    values += [metric.get()[1], metric.get_global()[1]]
    np.testing.assert_allclose(values, expected, rtol=2e-6)

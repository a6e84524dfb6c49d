"""Results in few numbers, and the distance of two of them. Needs NumPy alone, of any version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tests.conformance.models.compute import Computed
from tests.conformance.models.model import Array

_KEPT: Final = 128
"""An array of more elements is kept as so many of them, evenly spread, and its norm."""


@dataclass(frozen=True)
class Summary:
    """An array, or a sample of it.

    Attributes:
        shape: Of the array.
        norm: Its Euclidean norm, in float64.
        sample: Its elements, in C order.
    """

    shape: tuple[int, ...]
    norm: float
    sample: Array


@dataclass(frozen=True)
class Results:
    """`Computed` in few numbers.

    Attributes:
        predicted: Outputs in prediction, by name; `trained` those in training, `states` the auxiliary
            states after the step.
        gradients: Norms of the parameters' gradients.
    """

    predicted: dict[str, Summary]
    trained: dict[str, Summary]
    states: dict[str, Summary]
    gradients: dict[str, float]


@dataclass(frozen=True)
class Distance:
    """Largest relative differences.

    Attributes:
        outputs: Of outputs, in prediction and training: the largest difference of two elements beside the
            array's largest element, or that of the norms.
        gradients: Of the norms of gradients.
        states: Of auxiliary states, as of outputs.
    """

    outputs: float
    gradients: float
    states: float


def summary(array: Array) -> Summary:
    """An array in few numbers."""
    flat = np.ascontiguousarray(array).ravel()
    places = np.linspace(0, max(flat.size - 1, 0), num_kept(flat.size)).round().astype(int)
    return Summary(tuple(array.shape), _norm(array), flat[places])


def num_kept(size: int) -> int:
    """Number of elements kept of an array of `size`."""
    return min(size, _KEPT)


def results(computed: Computed) -> Results:
    """Results of a computation, in few numbers."""
    return Results(
        _summaries(computed.predicted),
        _summaries(computed.trained),
        _summaries(computed.states),
        {name: _norm(array) for name, array in computed.gradients.items()},
    )


def distance(found: Results, expected: Results) -> Distance:
    """Largest differences of two results of one model; infinite where names or shapes differ."""
    outputs = [_apart(found.predicted, expected.predicted), _apart(found.trained, expected.trained)]
    gradients = _pairs(found.gradients, expected.gradients)
    return Distance(
        max(outputs),
        float("inf") if gradients is None else _largest(_relative(*pair) for pair in gradients),
        _apart(found.states, expected.states),
    )


def _summaries(arrays: Mapping[str, Array]) -> dict[str, Summary]:
    return {name: summary(array) for name, array in arrays.items()}


def _apart(found: Mapping[str, Summary], expected: Mapping[str, Summary]) -> float:
    pairs = _pairs(found, expected)
    if pairs is None or any(one.shape != other.shape for one, other in pairs):
        return float("inf")
    elements = _largest(_relative(one.sample, other.sample) for one, other in pairs)
    return max(elements, _largest(_relative(one.norm, other.norm) for one, other in pairs))


def _pairs(found: Mapping[str, Any], expected: Mapping[str, Any]) -> list[tuple[Any, Any]] | None:
    if list(found) != list(expected):
        return None
    return [(found[name], expected[name]) for name in expected]


def _relative(found: Any, expected: Any) -> float:
    one, other = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    largest = np.max(np.abs(other), initial=0.0)
    apart = np.max(np.abs(one - other), initial=0.0)
    if not np.isfinite(apart) or (apart and not largest):
        return float("inf")
    return float(apart / largest) if apart else 0.0


def _largest(values: Iterable[float]) -> float:
    return max(values, default=0.0)


def _norm(array: Array) -> float:
    return float(np.linalg.norm(array.astype(np.float64).ravel()))

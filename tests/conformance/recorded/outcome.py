"""Results of a computation, and the equality of two such results. Needs NumPy alone, of any version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from tests.conformance.recorded.case import Array, Case

RTOL: Final = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-10}
ATOL: Final = {"float16": 2e-3, "float32": 1e-6, "float64": 1e-10}


@dataclass(frozen=True)
class Refusal:
    """A computation that was refused.

    Attributes:
        reason: The first line of the error.
        is_fault: Whether the process died or hung instead of refusing.
    """

    reason: str
    is_fault: bool = False


@dataclass(frozen=True)
class Outcome:
    """Results of one way of computing a case.

    Attributes:
        outputs: The visible outputs.
        mutated: New values of the inputs that the call changed, by position.
        gradients: Gradients by position of the input; empty where none were asked for.
    """

    outputs: Sequence[Array] | Refusal
    mutated: Mapping[int, Array] = field(default_factory=dict)
    gradients: Mapping[int, Array] | Refusal = field(default_factory=dict)


def describe(array: Array) -> str:
    """Element type and shape: `float32 (2, 3)`."""
    return f"{array.dtype.name} {tuple(array.shape)}"


def difference(found: Any, expected: Any, case: Case) -> str | None:
    """Difference of results, in words; None if they are equal within the tolerances.

    Args:
        found: An array, a refusal, or a sequence or mapping of arrays.
        expected: What MXNet gave, likewise.
        case: Decides the tolerances, and whether values count.
    """
    if isinstance(found, Refusal) or isinstance(expected, Refusal):
        return _refusal_difference(found, expected)
    if isinstance(expected, Mapping):
        if list(found) != list(expected):
            return f"concerns inputs {list(found)}, expected {list(expected)}"
        pairs = [(f"of input {key}: ", found[key], expected[key]) for key in expected]
    else:
        if len(found) != len(expected):
            return f"{len(found)} arrays, expected {len(expected)}"
        pairs = [(f"{i}: ", *pair) for i, pair in enumerate(zip(found, expected, strict=True))]
    for where, one, other in pairs:
        words = array_difference(one, other, case)
        if words is not None:
            return where + words
    return None


def outcome_difference(found: Outcome, expected: Outcome, case: Case) -> str | None:
    """Difference of outputs, changed inputs, and in training gradients, unless MXNet refuses these."""
    words = difference(found.outputs, expected.outputs, case)
    if words is not None:
        return f"output {words}"
    words = difference(found.mutated, expected.mutated, case)
    if words is not None:
        return f"new value {words}"
    if not case.is_train or isinstance(expected.gradients, Refusal):
        return None
    words = difference(found.gradients, expected.gradients, case)
    return None if words is None else f"gradient {words}"


def _refusal_difference(found: Any, expected: Any) -> str | None:
    if isinstance(found, Refusal) and isinstance(expected, Refusal):
        return None
    if isinstance(found, Refusal):
        return f"refused: {found.reason}"
    return f"computed, expected a refusal: {expected.reason}"


def array_difference(found: Array, expected: Array, case: Case) -> str | None:
    """Difference of an array from the expected one, in words, or None."""
    if describe(found) != describe(expected):
        return f"{describe(found)}, expected {describe(expected)}"
    if case.compare == "shapes" or found.size == 0:
        return None
    equal = _equal(found, expected, case)
    if equal.all():
        return None
    place = tuple(int(i) for i in np.argwhere(~equal)[0])
    return f"{found[place]} at {place}, expected {expected[place]} ({np.sum(~equal)} of {equal.size} differ)"


def _equal(found: Array, expected: Array, case: Case) -> Any:
    if expected.dtype.kind != "f":
        return found == expected
    name = expected.dtype.name
    one, other = found.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(other)
    scale = np.max(np.abs(other[finite]), initial=0.0)
    rtol = RTOL[name] if case.rtol is None else case.rtol
    atol = ATOL[name] * scale if case.atol is None else case.atol
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(one - other) <= atol + rtol * np.abs(other)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    return same | (near & finite)

"""Types of numbers in which a reference is called, and in which its results are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from operad_check.comparison.rounding import WIDE_TYPE
from operad_check.trials.trial import Array
from operad_check.trials.violation import Violation

_LAST_DIGIT: Final = 2.0**-50
"""Part of an integer in float64 that is rounding."""


def floating(arrays: Sequence[Array]) -> list[Array]:
    """Those of some arrays that are of floating-point numbers."""
    return [array for array in arrays if array.dtype.kind == "f"]


def widened(array: Array, floating: Any = WIDE_TYPE) -> Array:
    """Argument of a reference, in a type in which it rounds and overflows as little as possible."""
    wide = {"f": floating, "i": np.int64, "u": np.int64}.get(array.dtype.kind)
    return array if wide is None or array.dtype == np.uint64 else array.astype(wide)


def in_type_of(found: Array, expected: Array) -> Array:
    """Result of the reference in an output's type: infinity, a wrapped or a cut number where it does not fit.

    D607 judges whether the operator may cut numbers.
    """
    if expected.dtype.kind == "b" or expected.shape != found.shape:
        return expected
    with np.errstate(all="ignore"):
        if found.dtype.kind == "f" or expected.dtype.kind != "f":
            return expected.astype(found.dtype)
        if found.dtype.kind == "b":
            # a boolean holds whether there is something, and not its whole part
            return np.asarray(expected != 0)
        whole = np.trunc(expected).astype(found.dtype)
        fits = np.abs(expected) < 2.0 ** (8 * found.dtype.itemsize - 1)
        # beyond 2**53, a reference in float64 has no last digit either
        is_near = np.abs(found.astype(np.float64) - expected) <= _LAST_DIGIT * np.abs(expected)
    return np.where(fits & ~is_near, whole, found)


def as_numbers(name: str, value: Any) -> Array:
    """Result of the reference for one output, as an array.

    Raises:
        Violation: It is no array of numbers.
    """
    try:
        array = np.asarray(value)
    except ValueError:  # lists of several lengths
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise Violation(f"for {name} the reference gives {value!r:.60}, expected an array of numbers")
    return array

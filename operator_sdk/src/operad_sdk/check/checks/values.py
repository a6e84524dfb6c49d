"""Group F: outputs beside those of the author's reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from operad_sdk.check.cases.kinds import BULK, EDGES, EXTREME, LARGE, ORDINARY, SPECIAL
from operad_sdk.check.cases.retype import is_random, retyped
from operad_sdk.check.comparison.closeness import coarsest, expect_close, scale_of, tolerance
from operad_sdk.check.comparison.reference import call_reference
from operad_sdk.check.comparison.rounding import WIDE_TYPE, expect_near, is_at_the_ends
from operad_sdk.check.running.register import Evidence, check
from operad_sdk.check.trials.trial import Array, Trial
from operad_sdk.check.trials.violation import Violation

_ROUNDING: Final = 2.0**-50
_FAR: Final = 64.0
"""Magnitude from which the cost of rounding is measured, and no tolerance assumed."""
_SMALL: Final = 2.0**-8
"""Magnitude below which an absolute tolerance around 1 says nothing."""
_FINEST: Final = 2.0**12
"""Points of the lattice in a unit, on which most values lie, and differences are exact."""
_MANY: Final = 16
"""Length of an axis from which on the cost of rounding a sum is measured, likewise."""
_LONG: Final = 2**31
"""Integers from which on a reference may overflow."""


@check("F213", ORDINARY, EDGES, LARGE, BULK, EXTREME, SPECIAL)
def reference(trial: Trial) -> Evidence:
    """Compare outputs, and states if the reference gives them, with the author's reference function."""
    function = trial.subject.contract.reference
    if function is None:
        return None
    if any(map(_is_long, trial.inputs)):
        return _of_long_integers(trial, function)
    is_far = any(map(_is_far_out, trial.inputs))
    wide = None
    if (is_far or _has_digits(trial)) and coarsest(trial).kind == "f" and not is_random(trial):
        wide = retyped(trial, WIDE_TYPE)
    if wide is not None:
        return _within_rounding(trial, wide, function, is_far=is_far)
    if is_far:
        return None
    try:
        names, found, expected = beside_each_other(trial, function)
    except Violation:
        arrays = [*trial.inputs, *trial.aux]
        is_empty = any(not array.size for array in arrays)
        is_floating = any(array.dtype.kind == "f" for array in arrays)
        if not is_empty and (is_floating or retyped(trial, WIDE_TYPE) is None):
            raise
        return None  # it was written for floating types, in which it is called as well, and for elements
    bounds = tolerance(trial.subject.contract, coarsest(trial))
    try:
        expect_close(names, found, expected, "", bounds, scale_of(trial, trial.inputs, found))
    except Violation:
        if not _is_rounding(trial, function):
            raise
    return {name: 1 for name, one in zip(names, found, strict=True) if one.size} or None


def _is_long(array: Array) -> bool:
    return array.dtype.kind in "iu" and bool((np.abs(array.astype(np.float64)) >= _LONG).any())


def _has_digits(trial: Trial) -> bool:
    """Return whether rounding may cost more than a tolerance of 64 roundings: long sums, lost digits."""
    is_long = any(size > _MANY for shape in trial.in_shapes for size in shape)
    floats = [array.astype(WIDE_TYPE) for array in trial.inputs if array.dtype.kind == "f"]
    return is_long or any((array * _FINEST != np.rint(array * _FINEST)).any() for array in floats)


def _is_far_out(array: Array) -> bool:
    """Return whether an array has numbers of which a formula may overflow, underflow or cancel."""
    if array.dtype.kind != "f" or not array.size:
        return False
    size = np.abs(array)
    return bool((size > _FAR).any() or ((size < _SMALL).all() and size.any()))


def _within_rounding(trial: Trial, wide: Trial, function: Callable[..., Any], *, is_far: bool) -> Evidence:
    """Compare results that overflow, cancel or add up, within the measured cost of rounding."""
    try:
        names, found, wanted = beside_each_other(trial, function)
    except Violation:
        if is_far:  # a reference need not reach as far as the operator
            return None
        raise

    # at the ends a formula in float64 may have no digit right: only its range is compared
    if is_at_the_ends(trial):
        found = [np.where(np.isfinite(one), want, one) for one, want in zip(found, wanted, strict=True)]

    def values(nearby: Trial) -> list[Any]:
        return beside_each_other(nearby, function)[2]

    compared = expect_near(names, found, wide, values, coarsest(trial), is_reference=True)
    if not is_far:  # comparisons of the same numbers come out the same
        exact = [one if one.dtype.kind != "f" else None for one in found]
        compared += expect_close(names, exact, wanted, "", (0.0, 0.0))
    return dict.fromkeys(names, 1) if compared else None


def _is_rounding(trial: Trial, function: Callable[..., Any]) -> bool:
    """Return whether rounding explains a difference, as where a parameter makes a divisor vanish."""
    wide = retyped(trial, WIDE_TYPE) if coarsest(trial).kind == "f" and not is_random(trial) else None
    try:
        return wide is not None and bool(_within_rounding(trial, wide, function, is_far=False))
    except Violation:
        return False


def _of_long_integers(trial: Trial, function: Callable[..., Any]) -> Evidence:
    """Compare whole numbers whose products may overflow, where the reference is certain.

    A reference is certain where it gives nearly the same in int64 and in float64, and so does not overflow.
    """
    if not all(array.dtype.kind in "iub" for array in trial.inputs):
        return None
    try:
        exact = _called(trial, function, [_widened(array) for array in trial.inputs])
        floating = _called(trial, function, [array.astype(WIDE_TYPE) for array in trial.inputs])
    except Violation:
        return None
    compared = {}
    names, results = [*trial.outputs, *trial.states], [*trial.result.outputs, *trial.result.aux]
    for name, one, want, other in zip(names, results, exact, floating, strict=False):
        if (
            one.dtype.kind not in "iu"
            or want.dtype.kind not in "iu"
            or not one.shape == want.shape == other.shape
        ):
            continue  # a reference that computes in float64 has no last digit either
        ends = np.iinfo(one.dtype)
        with np.errstate(all="ignore"):
            is_sure = np.abs(want.astype(WIDE_TYPE) - other) <= _ROUNDING * np.abs(other)
            is_sure &= (other > float(ends.min)) & (other < float(ends.max))
        wanted = np.where(is_sure, want, one).astype(one.dtype)
        compared[name] = expect_close([name], [one], [wanted], "", (0.0, 0.0))
    return {name: count for name, count in compared.items() if count} or None


def _called(trial: Trial, function: Callable[..., Any], inputs: list[Array]) -> list[Array]:
    """Results of the reference for such inputs, as arrays."""
    expected = call_reference(function, trial, inputs)
    return [np.asarray(value) for value in (expected if isinstance(expected, (tuple, list)) else [expected])]


def beside_each_other(trial: Trial, function: Callable[..., Any]) -> tuple[list[str], list[Any], list[Any]]:
    """Names of outputs and states, results of the operator, and results of the reference."""
    expected = call_reference(function, trial, [_widened(array) for array in trial.inputs])
    values = list(expected) if isinstance(expected, (tuple, list)) else [expected]
    names = [*trial.outputs, *trial.states]
    if len(values) > len(names):
        raise Violation(
            f"the reference gives {len(values)} arrays, and there are {len(trial.outputs)} outputs"
            + (f" and {len(trial.states)} states" if trial.states else "")
        )
    # the leading outputs; or all outputs, and then states
    found = [*trial.result.outputs, *trial.result.aux][: len(values)]
    pairs = zip(names, values, found, strict=False)
    arrays = [_in_type_of(one, _numbers(name, value)) for name, value, one in pairs]
    for name, one, want in zip(names, found, arrays, strict=False):
        if want.shape != one.shape:
            raise Violation(f"{name} has shape {one.shape}, and the reference gives {want.shape}")
    return names[: len(values)], found, arrays


def _widened(array: Array) -> Array:
    """Argument of a reference, in a type in which it rounds and overflows as little as possible."""
    wide = {"f": np.float64, "i": np.int64, "u": np.int64}.get(array.dtype.kind)
    return array if wide is None or array.dtype == np.uint64 else array.astype(wide)


def _in_type_of(found: Array, expected: Array) -> Array:
    """Result of the reference in an output's type: infinity, a wrapped or a cut number where it does not fit.

    D607 judges whether the operator may cut numbers.
    """
    if expected.dtype.kind == "b" or expected.shape != found.shape:
        return expected
    with np.errstate(all="ignore"):
        if found.dtype.kind == "f" or expected.dtype.kind != "f":
            return expected.astype(found.dtype)
        if found.dtype.kind == "b":
            # a truth value holds whether there is something, and not its whole part
            return np.asarray(expected != 0)
        whole = np.trunc(expected).astype(found.dtype)
        fits = np.abs(expected) < 2.0 ** (8 * found.dtype.itemsize - 1)
        # beyond 2**53, a reference in float64 has no last digit either
        is_near = np.abs(found.astype(np.float64) - expected) <= _ROUNDING * np.abs(expected)
    return np.where(fits & ~is_near, whole, found)


def _numbers(name: str, value: Any) -> Array:
    """Result of the reference for one output, as an array."""
    try:
        array = np.asarray(value)
    except ValueError:  # lists of several lengths
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise Violation(f"for {name} the reference gives {value!r:.60}, expected an array of numbers")
    return array

"""Group F: outputs beside those of the author's reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from operad_sdk.check.closeness import coarsest, expect_close, magnitude, scale_of, tolerance
from operad_sdk.check.kinds import EXTREME, LARGE, ORDINARY, SPECIAL
from operad_sdk.check.reference import call_reference
from operad_sdk.check.register import Evidence, check
from operad_sdk.check.retype import is_random, retyped
from operad_sdk.check.rounding import WIDE_TYPE, expect_near
from operad_sdk.check.trial import Array, Trial
from operad_sdk.check.violation import Violation

_ROUNDING: Final = 2.0**-50
_FAR: Final = 64.0
"""Magnitude from which the cost of rounding is measured, and no tolerance assumed."""
_HUGE: Final = 2.0**12
_TINY: Final = 2.0**-24
"""Magnitudes beyond which a formula in float64 may have no digit right: only its range is compared."""
_LONG: Final = 2**31
"""Integers from which on products of a reference overflow."""


@check("F213", ORDINARY, LARGE, EXTREME, SPECIAL)
def reference(trial: Trial) -> Evidence:
    """Outputs, and states if it gives them, beside those of the author's reference function."""
    function = trial.subject.contract.reference
    if function is None:
        return None
    if any(map(_is_long, trial.inputs)):
        return None
    if any(map(_is_far_out, trial.inputs)) and not is_random(trial):
        return _near_far_out(trial, function)
    try:
        names, found, expected = _beside_each_other(trial, function)
    except Violation:
        if any(array.dtype.kind == "f" for array in trial.inputs) or retyped(trial, WIDE_TYPE) is None:
            raise
        return None  # it was written for floating types, in which it is called as well
    bounds = tolerance(trial.subject.contract, coarsest(trial))
    expect_close(names, found, expected, "", bounds, scale_of(trial, trial.inputs, found))
    return dict.fromkeys(names, 1)


def _is_long(array: Array) -> bool:
    return array.dtype.kind in "iu" and bool((np.abs(array.astype(np.float64)) >= _LONG).any())


def _is_far_out(array: Array) -> bool:
    """Whether it has numbers of which a formula may overflow, underflow or cancel."""
    return _is_tiny(array) or (array.dtype.kind == "f" and bool((np.abs(array) > _FAR).any()))


def _is_tiny(array: Array) -> bool:
    return array.dtype.kind == "f" and bool(((np.abs(array) < _TINY) & (array != 0)).any())


def _near_far_out(trial: Trial, function: Callable[..., Any]) -> Evidence:
    """What overflows and cancels is compared within what rounding costs there, which is measured."""
    dtype = coarsest(trial)
    wide = retyped(trial, WIDE_TYPE)
    if dtype.kind != "f" or wide is None:
        return None
    try:
        names, found, wanted = _beside_each_other(trial, function)
    except Violation:  # a reference need not reach as far as the operator
        return None
    if magnitude(trial.inputs) > _HUGE or any(map(_is_tiny, trial.inputs)):
        found = [np.where(np.isfinite(one), want, one) for one, want in zip(found, wanted, strict=True)]

    def values(nearby: Trial) -> list[Any]:
        return _beside_each_other(nearby, function)[2]

    compared = expect_near(names, found, wide, values, dtype, is_reference=True)
    return dict.fromkeys(names, 1) if compared else None


def _beside_each_other(trial: Trial, function: Callable[..., Any]) -> tuple[list[str], list[Any], list[Any]]:
    """Names of outputs and states, what the operator gives for them, and what the reference gives."""
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
    """The argument of a reference, which is to round and to overflow as little as it can."""
    wide = {"f": np.float64, "i": np.int64, "u": np.int64}.get(array.dtype.kind)
    return array if wide is None or array.dtype == np.uint64 else array.astype(wide)


def _in_type_of(found: Array, expected: Array) -> Array:
    """What an output's type can hold of the reference's result: infinity, a wrapped or a cut number.

    Whether it may cut is D607's to judge.
    """
    if expected.dtype.kind == "b" or expected.shape != found.shape:
        return expected
    with np.errstate(all="ignore"):
        if found.dtype.kind == "f" or expected.dtype.kind != "f":
            return expected.astype(found.dtype)
        whole = np.trunc(expected).astype(found.dtype)
        fits = np.abs(expected) < 2.0 ** (8 * found.dtype.itemsize - 1)
        # beyond 2**53, a reference in float64 has no last digit either
        is_near = np.abs(found.astype(np.float64) - expected) <= _ROUNDING * np.abs(expected)
    return np.where(fits & ~is_near, whole, found)


def _numbers(name: str, value: Any) -> Array:
    """What a reference gives for an output, as an array."""
    try:
        array = np.asarray(value)
    except ValueError:  # lists of several lengths
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise Violation(f"for {name} the reference gives {value!r:.60}, expected an array of numbers")
    return array

"""Group F: outputs beside those of the author's reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from operad_check.cases.kinds import BULK, EDGES, EXTREME, LARGE, LONG, ORDINARY, PARTS, SPECIAL
from operad_check.cases.retype import is_random, retyped
from operad_check.comparison.closeness import coarsest, expect_close, scale_of, tolerance
from operad_check.comparison.number_types import widened
from operad_check.comparison.rounding import WIDE_TYPE, is_at_the_ends
from operad_check.comparison.trusted import beside_each_other, expect_infinities, expect_trusted, expect_whole
from operad_check.register import Evidence, check
from operad_check.trials.reference import call_reference, listed
from operad_check.trials.trial import Array, Trial
from operad_check.trials.violation import Violation

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


@check("F213", ORDINARY, EDGES, LARGE, BULK, EXTREME, SPECIAL, LONG, PARTS)
def reference(trial: Trial) -> Evidence:
    """The result is that of the reference function.

    Only a reference tells a wrong result from a right one of the right shape.

    Broken by:
        Contract(reference=lambda data: data.mean(0))    # and the code divides by n - 1
    Within:
        spec = "data:(N + 2, D) -> output:(D)"
        accepts = "floating"
        def forward(data): return data.sum(0) / (len(data) - 1)
        contract = HERE
    Fix:
        Correct whichever of the two is wrong.
    How:
        Compare outputs, and states if the reference gives them, with the author's reference function.
    """
    function = trial.subject.contract.reference
    if function is None:
        return None
    if any(map(_is_long, trial.inputs)):
        return _of_long_integers(trial, function)
    dtype = coarsest(trial)
    is_measurable = dtype.kind == "f" and not is_random(trial) and retyped(trial, WIDE_TYPE) is not None
    if is_measurable and any(map(_is_far_out, trial.inputs)):
        return _far_out(trial, function, dtype)
    if is_measurable and _has_digits(trial):
        return _named(trial, expect_trusted(trial, function, dtype), function)
    if any(map(_is_far_out, trial.inputs)):
        return None
    try:
        beside = beside_each_other(trial, function)
    except Violation:
        arrays = [*trial.inputs, *trial.aux]
        is_empty = any(not array.size for array in arrays)
        is_floating = any(array.dtype.kind == "f" for array in arrays)
        if not arrays or (not is_empty and (is_floating or retyped(trial, WIDE_TYPE) is None)):
            raise
        return None  # it was written for floating types, in which it is called as well, and for elements
    bounds = tolerance(trial.subject.contract, dtype)
    try:
        scale = scale_of(trial, trial.inputs, beside.found)
        expect_close(beside.names, beside.found, beside.wanted, "", bounds, scale)
    except Violation:
        if is_measurable:  # rounding may explain it, as where a parameter makes a divisor vanish
            if not expect_trusted(trial, function, dtype):
                raise
        elif any(array.dtype.kind == "f" for array in [*trial.inputs, *beside.found]):
            raise
        else:
            expect_whole(trial, function, beside)
    return {name: 1 for name, one in zip(beside.names, beside.found, strict=True) if one.size} or None


def _far_out(trial: Trial, function: Callable[..., Any], dtype: Any) -> Evidence:
    try:
        call_reference(function, trial, [widened(array) for array in trial.inputs])
    except Violation:
        return None  # a reference need not reach as far as the operator
    compared = expect_trusted(trial, function, dtype)
    if not is_at_the_ends(trial):
        compared += expect_infinities(trial, function, dtype)
    return _named(trial, compared, function)


def _named(trial: Trial, compared: int, function: Callable[..., Any]) -> Evidence:
    names = beside_each_other(trial, function).names
    return dict.fromkeys(names, 1) if compared else None


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


def _of_long_integers(trial: Trial, function: Callable[..., Any]) -> Evidence:
    """Compare integers whose products may overflow, where the reference is certain.

    A reference is certain where it gives nearly the same in int64 and in float64, and so does not overflow.
    """
    if not all(array.dtype.kind in "iub" for array in trial.inputs):
        return None
    try:
        exact = _called(trial, function, [widened(array) for array in trial.inputs])
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
    return list(map(np.asarray, listed(call_reference(function, trial, inputs))))

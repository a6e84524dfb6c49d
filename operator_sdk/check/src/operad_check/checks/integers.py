"""Group D: integers."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad.context import cpu
from operad.operator import candidates
from operad_check.cases.kinds import BULK, EXTREME, ORDINARY
from operad_check.cases.retype import is_random, retyped
from operad_check.comparison.closeness import at, first_place
from operad_check.register import Evidence, check
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised, Violation

_WIDE: Final = np.dtype(np.float64)
_WHOLE: Final = np.dtype(np.int32)
_WIDEST: Final = np.dtype(np.int64)
_CLOSE: Final = 1e-9
"""Largest distance from an integer that is no fraction.

Rounding in float64 is a millionth of it. The smallest fraction of small integers, 1 over a product of
some of them, is thousands of times as large.
"""


@check("D607", ORDINARY)
def no_silent_cut(trial: Trial) -> Evidence:
    """Fractions are not truncated silently where arguments are integers.

    An integer output takes 0.5 as 0 without a word, if the assignment casts.

    Broken by:
        def forward(data, output): output[...] = data * 0.5    # 1 becomes 0
    Within:
        spec = "data:(*S) -> output:(*S)"
        HERE
    Fix:
        Accept floating types only (accepts="floating"), let infer_type give a floating output, or say
        that results are rounded towards zero: integers_as="float64".
    How:
        Check that whole arguments give whole results, unless rounding is declared.
    """
    whole = retyped(trial, _WHOLE)
    if whole is None or is_random(trial) or _is_cut_by_declaration(trial.prop):
        return None
    wide = retyped(whole, _WIDE)
    if (
        wide is None
        or not (whole.is_runnable and wide.is_runnable)
        or _own_kernel(whole) != _own_kernel(wide)
    ):
        return None  # a kernel for integers says what they mean
    compared = 0
    for name, one, other in zip(trial.outputs, whole.result.outputs, wide.result.outputs, strict=True):
        if one.dtype.kind not in "iu" or other.dtype.kind != "f":
            continue
        compared += one.size
        has_fraction = np.isfinite(other) & (np.abs(other - np.rint(other)) > _CLOSE * (1 + np.abs(other)))
        if (place := first_place(has_fraction)) is not None:
            raise Violation(
                f"{at(name, place)} is {one[place].item()!r} for whole arguments, and "
                f"{other[place].item()!r} for the same numbers in float64: a fraction is cut off silently"
            )
    return compared or None


def _is_cut_by_declaration(prop: Any) -> bool:
    """Return whether rounding is declared, or a parameter is a fraction and so the user's intent."""
    values = [getattr(prop, name) for name in type(prop).params]
    is_fraction = any(isinstance(value, float) and value != np.rint(value) for value in values)
    return is_fraction or getattr(prop, "integers_as", None) is not None


@check("D608", BULK, EXTREME)
def narrow_types(trial: Trial) -> Evidence:
    """Narrow integer types give what int64 gives, wherever that fits.

    An intermediate result that overflows wraps around, and the mean of 100 and 100 is -28.

    Broken by:
        def forward(lhs, rhs): return (lhs + rhs) // 2    # in int8
    Within:
        spec = "lhs:(*S), rhs:(*S) -> output:(*S)"
        accepts = "integer"
        HERE
    Fix:
        Compute in a wider type, and cast the result.
    How:
        Check that a narrow integer type gives what int64 gives, wherever that fits.
    """
    if not trial.inputs or not all(dtype.kind in "iu" and dtype.itemsize < 8 for dtype in trial.in_types):
        return None
    wide = retyped(trial, _WIDEST)
    if wide is None or is_random(trial) or _own_kernel(wide) != _own_kernel(trial):
        return None
    try:
        pairs = list(zip(trial.outputs, trial.result.outputs, wide.result.outputs, strict=True))
    except OperatorRaised:  # F201 reports it
        return 0
    compared = 0
    for name, one, other in pairs:
        if one.dtype.kind not in "iu" or other.dtype.kind not in "iu":
            continue
        ends = np.iinfo(one.dtype)
        fits = (other >= ends.min) & (other <= ends.max)
        compared += int(fits.sum())
        differs = fits & (one.astype(_WIDEST) != other)
        if (place := first_place(differs)) is not None:
            raise Violation(
                f"{at(name, place)} is {one[place].item()!r} in {one.dtype}, and {other[place].item()!r} in "
                f"int64, which {one.dtype} can hold"
            )
    return compared or None


def _own_kernel(trial: Trial) -> str:
    found = [each.kernel.name for each in _ranked(trial) if each.rejection is None]
    return found[0] if found else ""


def _ranked(trial: Trial) -> Any:
    return candidates(trial.prop, cpu(), trial.in_shapes, trial.in_types)

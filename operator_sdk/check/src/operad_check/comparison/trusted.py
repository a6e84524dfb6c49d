"""Results beside those of an author's reference, within what the reference itself loses.

A reference is called at exactly the arguments of a case: in a wider type, where it says what is right, and
in the type under test. What it loses there - digits that cancel, squares that overflow - an operator may
lose as well, and no more: neither far from 0 nor close to 0, at infinities or at ties. Results may also be
those of arguments that are rounded once, where that moves them little. Integers are right that are the
reference's in their own type or in int64.

In float64 the wider type is that of C's `long double`, where NumPy has one with more digits and the reference
keeps to it (SciPy's functions do not). Elsewhere float64 is compared with itself: then nothing is said of
places where a movement of the arguments by one rounding is seen much enlarged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import process_time
from typing import Any, Final, NamedTuple

import numpy as np

from operad_check.cases.retype import perturbed, retyped
from operad_check.comparison.closeness import ROUNDINGS, at, first_place
from operad_check.comparison.number_types import as_numbers, floating, in_type_of, widened
from operad_check.comparison.rounding import CONDITION, MOVEMENTS, SPREADS, WIDE_TYPE, largest, overflows
from operad_check.trials.reference import call_reference, listed
from operad_check.trials.trial import Array, Trial
from operad_check.trials.violation import Violation

_LONG_DOUBLE: Final = np.dtype(np.longdouble)
_HAS_MORE_DIGITS: Final = bool(np.finfo(_LONG_DOUBLE).eps < np.finfo(WIDE_TYPE).eps)
_LOSSES: Final = 16
"""Allowed multiple of what the reference loses, which sums in another order than the operator may."""
_NEAR: Final = 2.0**-6
"""Part of a result that it may be off by beside infinities and NaN."""
_LEAST_NORMALS: Final = 4
"""Multiples of the smallest normal number that results may be off by: subnormal numbers may be flushed."""

_SLOW_S: Final = 0.25
"""Processor time of a reference from which on one rounding of its arguments is tried, and not several."""

Reference = Callable[..., Any]
Exactly = Callable[[Trial], list[Array]]


class Beside(NamedTuple):
    """Results of an operator, and of its reference in a wider type; and their names."""

    names: list[str]
    found: list[Any]
    wanted: list[Array]


def beside_each_other(trial: Trial, function: Reference) -> Beside:
    """Results of the operator, and of the reference in float64 and int64, in the operator's types.

    Raises:
        Violation: The reference raises, or gives what no result can be compared with.
    """
    names, found, values = _called(trial, function, [widened(array) for array in trial.inputs])
    wanted = [in_type_of(one, value) for one, value in zip(found, values, strict=True)]
    return Beside(names, found, wanted)


def in_own_type(trial: Trial, function: Reference) -> list[Array] | None:
    """Results of the reference for the arguments as they are; None if it was not written for their types."""
    try:
        return _called(trial, function, trial.inputs).wanted
    except Violation:
        return None


def expect_trusted(trial: Trial, function: Reference, dtype: Any) -> int:
    """Compare results within what the reference loses in `dtype`, and return the number of elements compared.

    Raises:
        Violation: An element is further away, or the reference raises.
    """
    exactly = _widest(trial, function, dtype)
    begin = process_time()
    beside = _called(trial, function, exactly(trial))
    salts = range(1 if process_time() - begin > _SLOW_S else MOVEMENTS)
    is_wider = dtype != WIDE_TYPE or any(one.dtype == _LONG_DOUBLE for one in beside.wanted)
    if trial.states and overflows(floating([*beside.wanted, *trial.result.aux]), dtype):
        return 0  # a state that leaves the range takes along what is computed from it
    own = in_own_type(trial, function)
    judged = [
        k for k, one in enumerate(beside.found) if one.dtype == dtype and beside.wanted[k].dtype.kind == "f"
    ]
    bases = {k: _base(beside.wanted[k], dtype, is_wider) for k in judged}
    limits: dict[int, Any] = {k: bases[k] for k in judged}
    if any(_first_beyond(beside, own, k, limits[k], dtype, trial) is not None for k in judged):
        moved = _spread(trial, function, beside, dtype, exactly, salts)
        lost = _lost(trial, function, beside, dtype, exactly, salts) if is_wider and own is not None else None
        limits = {
            k: _limit(beside.wanted[k], bases[k], moved[k], None if lost is None else lost[k], dtype)
            for k in judged
        }
    for k in judged:
        place = _first_beyond(beside, own, k, limits[k], dtype, trial)
        if place is not None:
            _refuse(beside, k, place, limits[k], dtype)
    compared = sum(int(beside.found[k].size) for k in judged)
    return compared + _expect_exact(beside, own)


def expect_infinities(trial: Trial, function: Reference, dtype: Any) -> int:
    """Compare results for a first argument that is infinite, in one element and in a row.

    What infinities do to a computation of several arguments depends on its order: they are no test of those,
    but for integers and booleans, which compare. Of a NaN, results are compared where the author
    says that it need not show.

    Raises:
        Violation: A result is finite where the reference's is not, or is no number where that is one.
    """
    compared, contract = 0, trial.subject.contract
    name, array = trial.arguments[0], trial.inputs[0]
    if contract.undefined or array.dtype != dtype or not array.size or contract.domain(name) is not None:
        return 0
    first: tuple[Any, ...] = (0,) * array.ndim
    row = (*first[:-1], slice(None)) if first else first
    nans = [(first, np.nan)] if contract.nan_policy else []
    for place, value in ((first, np.inf), (first, -np.inf), (row, -np.inf), *nans):
        inputs = [each.copy() for each in trial.inputs]
        inputs[0][place] = value
        words = f"where {name}[{', '.join(str(k) if k == 0 else 'all' for k in place)}] is {value}"
        compared += _expect_kinds(trial, function, inputs, words)
    return compared + _expect_whole_of_equal_infinities(trial, function, dtype)


def _expect_whole_of_equal_infinities(trial: Trial, function: Reference, dtype: Any) -> int:
    """Compare integers and booleans where arguments are equal and begin with infinity."""
    numbers = [
        k
        for k, array in enumerate(trial.inputs)
        if array.size and array.dtype == dtype and trial.subject.contract.domain(trial.arguments[k]) is None
    ]
    if len(numbers) < 2 or all(each.kind == "f" for each in trial.out_types):
        return 0
    inputs = [each.copy() for each in trial.inputs]
    inputs[numbers[0]].flat[0] = np.inf
    for k in numbers[1:]:
        inputs[k].flat[0] = np.inf
        if inputs[k].shape == inputs[numbers[0]].shape:
            np.copyto(inputs[k], inputs[numbers[0]])
    made = trial.with_inputs(inputs)
    try:
        names, found, wanted = _called(made, function, [widened(array) for array in inputs])
    except Violation:
        return 0  # it was not written for infinities
    compared = 0
    for name, one, want in zip(names, found, wanted, strict=True):
        if "f" in (one.dtype.kind, want.dtype.kind):
            continue
        wrong = one != want
        compared += wrong.size
        if (place := first_place(wrong)) is not None:
            words = " and ".join(trial.arguments[k] for k in numbers)
            raise Violation(
                f"{at(name, place)} is {one[place].item()!r} where {words} are equal and begin with inf, "
                f"expected {want[place].item()!r}"
            )
    return compared


def _expect_kinds(trial: Trial, function: Reference, inputs: list[Array], words: str) -> int:
    made = trial.with_inputs(inputs)
    try:
        wide = _called(made, function, [widened(array) for array in inputs])
        own = _called(made, function, inputs).wanted
    except Violation:
        return 0  # it was not written for infinities
    compared = 0
    for name, one, want, other in zip(wide.names, wide.found, wide.wanted, own, strict=True):
        if any(each.dtype.kind != "f" for each in (one, want, other)):
            continue
        if np.isnan(want).any() or np.isnan(other).any():
            continue  # likewise
        most = float(np.finfo(one.dtype).max) / 2
        with np.errstate(all="ignore"):
            is_infinite = np.isinf(want) & (want == other)
            is_finite = (abs(want) <= most) & np.isfinite(other)
            is_right = np.where(
                is_infinite, (np.sign(one) == np.sign(want)) & (abs(one) > most), np.isfinite(one)
            )
            least = _LEAST_NORMALS * float(np.finfo(one.dtype).smallest_normal)
            near = _NEAR * (abs(want) + largest(want)) + least
            is_right &= is_infinite | (abs(one.astype(want.dtype) - want) <= near) | (want != other)
        wrong = (is_infinite | is_finite) & ~is_right
        compared += int((is_infinite | is_finite).sum())
        if (place := first_place(wrong)) is not None:
            raise Violation(
                f"{at(name, place)} is {one[place].item()!r} {words}, expected {float(want[place])!r}"
            )
    return compared


def expect_whole(trial: Trial, function: Reference, beside: Beside) -> int:
    """Compare results for integers with the reference in int64, and in their own type.

    Raises:
        Violation: An element is neither's.
    """
    return _expect_exact(beside, in_own_type(trial, function))


def _expect_exact(beside: Beside, own: Sequence[Array] | None) -> int:
    compared = 0
    for k, (name, one) in enumerate(zip(beside.names, beside.found, strict=True)):
        if one.dtype.kind == "f":
            continue
        wanted = in_type_of(one, beside.wanted[k])
        other = wanted if own is None or own[k].dtype.kind == "f" else own[k].astype(one.dtype)
        wrong = (one != wanted) & (one != other)
        if (place := first_place(wrong)) is not None:
            raise Violation(f"{at(name, place)} is {one[place].item()!r}, expected {wanted[place].item()!r}")
        compared += one.size
    return compared


def _refuse(beside: Beside, k: int, place: tuple[int, ...], limit: Any, dtype: Any) -> None:
    one, want = beside.found[k], beside.wanted[k]
    raise Violation(
        f"{at(beside.names[k], place)} is {one[place].item()!r} in {dtype}, and {float(want[place])!r} by "
        f"the reference in {want.dtype}: apart by {abs(float(one[place]) - float(want[place])):.3g}, "
        f"allowed {float(np.broadcast_to(limit, one.shape)[place]):.3g}"
    )


def _base(wanted: Array, dtype: Any, is_wider: bool) -> float:
    """Distance that is allowed everywhere."""
    precision, least = float(np.finfo(dtype).eps), float(np.finfo(dtype).smallest_normal)
    own = 0.0 if is_wider else ROUNDINGS * float(np.finfo(WIDE_TYPE).eps)  # it rounds as much
    return ROUNDINGS * precision * largest(wanted) + _LEAST_NORMALS * least + own


def _limit(wanted: Array, base: float, moved: Array, lost: Array | None, dtype: Any) -> Array:
    precision, least = float(np.finfo(dtype).eps), float(np.finfo(dtype).smallest_normal)
    with np.errstate(all="ignore"):
        if lost is None:
            is_stable = moved <= CONDITION * precision * np.abs(wanted) + least
            return np.asarray(np.where(is_stable, SPREADS * moved + base, np.inf))
        # a jump is no movement, and what the reference does not lose is not lost
        most = CONDITION * precision * largest(wanted)
        return np.asarray(np.minimum(SPREADS * moved, most) + _LOSSES * lost + base)


def _first_beyond(
    beside: Beside, own: Sequence[Array] | None, k: int, limit: Any, dtype: Any, trial: Trial
) -> tuple[int, ...] | None:
    """First place that is further away than its limit, or finite where the reference is infinite."""
    one, want = beside.found[k], beside.wanted[k]
    most = float(np.finfo(dtype).max) / 2
    declared = trial.subject.contract.tolerances.get(dtype.name)
    with np.errstate(all="ignore"):
        if declared is not None:
            limit = np.maximum(limit, declared.absolute + declared.relative * np.abs(want))
        far = ~(np.abs(one.astype(want.dtype) - want) <= limit)
        far &= np.isfinite(want) & ~np.isinf(limit) & ~(np.abs(want) > most)
        if own is not None and own[k].shape == one.shape and own[k].dtype.kind == "f":
            same = np.isinf(want) & (own[k] == want)
            far |= same & ~((np.sign(one) == np.sign(want)) & (np.abs(one) > most))
    return first_place(far)


def _spread(
    trial: Trial, function: Reference, beside: Beside, dtype: Any, exactly: Exactly, salts: range
) -> list[Any]:
    """Movement of the reference's results where the arguments are rounded once."""
    wide = retyped(trial, WIDE_TYPE)
    spread: list[Any] = [np.zeros(one.shape) for one in beside.wanted]
    if wide is None:
        return spread
    for salt in salts:
        nearby = perturbed(wide, float(np.finfo(dtype).eps), relative=True, salt=salt)
        moved = _called(nearby, function, exactly(nearby), run=False).wanted
        _widen(spread, moved, beside.wanted)
    return spread


def _lost(
    trial: Trial, function: Reference, beside: Beside, dtype: Any, exactly: Exactly, salts: range
) -> list[Any]:
    """Distance of the reference in the type under test from that in the wider one, here and close by."""
    lost: list[Any] = [np.zeros(one.shape) for one in beside.wanted]
    near = [perturbed(trial, float(np.finfo(dtype).eps), relative=True, salt=salt) for salt in salts]
    for each in (trial, *near):
        own = _called(each, function, each.inputs, run=False).wanted
        _widen(lost, own, _called(each, function, exactly(each), run=False).wanted)
    return lost


def _widen(bounds: list[Any], found: Sequence[Array], expected: Sequence[Array]) -> None:
    with np.errstate(all="ignore"):
        for bound, one, other in zip(bounds, found, expected, strict=True):
            if one.dtype.kind != "f" or one.shape != other.shape or one.shape != bound.shape:
                continue
            apart = np.where(one == other, 0.0, np.abs(one.astype(other.dtype) - other)).astype(np.float64)
            np.maximum(bound, np.where(np.isnan(apart), np.inf, apart), out=bound)


def has_more_digits(trial: Trial, function: Reference) -> bool | None:
    """Return whether a reference gives more digits than float64 has; None: it has no such results."""
    wide = retyped(trial, WIDE_TYPE)
    if wide is None or not any(array.dtype == WIDE_TYPE for array in wide.inputs):
        return None
    exactly = _widest(wide, function, WIDE_TYPE)(wide)
    wanted = floating(list(map(np.asarray, listed(call_reference(function, wide, exactly)))))
    return any(one.dtype == _LONG_DOUBLE for one in wanted) and _HAS_MORE_DIGITS if wanted else None


def _widest(trial: Trial, function: Reference, dtype: Any) -> Exactly:
    """Function that gives a trial's arguments in a type of more digits, if the reference takes it."""

    def as_long_double(each: Trial) -> list[Array]:
        return [widened(array, _LONG_DOUBLE) for array in each.inputs]

    if dtype == WIDE_TYPE and _HAS_MORE_DIGITS:
        try:
            _called(trial, function, as_long_double(trial))
        except Violation:
            pass  # as functions of NumPy's linalg do
        else:
            return as_long_double
    return lambda each: [widened(array) for array in each.inputs]


def _called(trial: Trial, function: Reference, inputs: Sequence[Array], *, run: bool = True) -> Beside:
    """Results of the operator and of the reference for these arguments, as it gives them.

    Args:
        run: Whether the operator's own results are asked for; else none.
    """
    expected = call_reference(function, trial, inputs)
    values = listed(expected)
    names = [*trial.outputs, *trial.states]
    if len(values) > len(names):
        raise Violation(
            f"the reference gives {len(values)} arrays, and there are {len(trial.outputs)} outputs"
            + (f" and {len(trial.states)} states" if trial.states else "")
        )
    # the leading outputs; or all outputs, and then states
    names = names[: len(values)]
    types = [*trial.out_types, *(state.dtype for state in trial.aux)]
    arrays = [as_numbers(name, value) for name, value in zip(names, values, strict=True)]
    arrays = [  # a boolean is a number where the operator gives one
        array.astype(WIDE_TYPE) if dtype.kind == "f" != array.dtype.kind else array
        for array, dtype in zip(arrays, types, strict=False)
    ]
    if not run:
        return Beside(names, [], arrays)
    found = [*trial.result.outputs, *trial.result.aux][: len(values)]
    for name, one, want in zip(names, found, arrays, strict=True):
        if want.shape != one.shape:
            raise Violation(f"{name} has shape {one.shape}, and the reference gives {want.shape}")
    return Beside(names, found, arrays)

"""Bounds on the effect of rounding alone on a result, from the result in float64.

What rounding may cost depends on the operator and on the point: the logarithm near 1 loses digits
that no implementation could keep. So the bound is measured. A computation runs in float64, and again on
inputs perturbed by as much as the coarser type rounds them; how far results then move is what rounding
alone costs there. Where that is much more than rounding itself, the point is ill-conditioned, or a
comparison or a rounding function may go either way; nothing is said of it.

A computation rounds on the way as well, so its error may be several of these movements, and takes it to the
other side of a kink or a jump that is not at the arguments themselves: `relu` of a normalised row has one
wherever a number is its mean. There the result moves far more when the inputs are moved by several roundings
than by as many times one, and the error may be as large as that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, Final

import numpy as np

from operad_check.cases.retype import first_copies, lengthened, perturbed
from operad_check.comparison.closeness import ROUNDINGS, at, first_place, magnitude
from operad_check.trials.trial import Array, Trial
from operad_check.trials.violation import OperatorRaised, Verdict, Violation

WIDE_TYPE: Final = np.dtype(np.float64)
MOVEMENTS: Final = 4
SPREADS: Final = 16
"""Allowed multiple of the cost of rounding the inputs."""
_HEADS: Final = 4
"""Roundings of the head gradient that a gradient may be off by: differences of its multiples cancel."""
CONDITION: Final = 4096
"""Largest amplification of a movement of the inputs at a point that counts.

A mean a thousand times as large as the spread has that much of a movement in what is left of it; where a
comparison goes the other way, the result jumps by more.
"""

_SHORT: Final = (8, 2)
"""Lengths of axes up to which a row may hide what rounding costs; the first that the operator takes twice."""
_HARD: Final = 2
"""Multiple of what rounding explains up to which nothing is judged where few digits are left."""
_CANCELLED: Final = 2.0**-9
"""Part of the arguments' magnitude below which a result is what cancellation leaves."""
_TINY: Final = 2.0**-24
_HUGE: Final = 2.0**12
"""Magnitude from which on squares are too large for what they are added to."""
_HUGE_HALF: Final = 2.0**7
"""Magnitude from which on they overflow, in half precision."""

Values = Callable[[Trial], Sequence[Any]]


def without_overflow(
    trial: Trial, values: Values, found: Sequence[Any], expected: Sequence[Any]
) -> list[Any]:
    """`found`, with the expected values where an intermediate result may overflow or underflow.

    Squares overflow on the way to a length, and in any normalisation. So without a reference, results of
    huge arguments are judged only where they stay finite and are others for arguments twice as large, and
    results of tiny ones only for staying finite.

    Args:
        values: What `found` is, of any trial.
    """
    if not is_at_the_ends(trial):
        return list(found)
    is_tiny = any(map(_is_tiny, trial.inputs))
    contract = trial.subject.contract
    doubled = trial.with_inputs(
        [
            array * 2 if array.dtype.kind == "f" and contract.domain(name) is None else array
            for name, array in zip(trial.arguments, trial.inputs, strict=True)
        ]
    )
    beyond = list(found) if is_tiny else values(doubled)
    return [
        one if one is None or one.dtype.kind != "f" else _where_kept(one, want, twice, is_tiny)
        for one, want, twice in zip(found, expected, beyond, strict=True)
    ]


def _where_kept(found: Array, expected: Array, twice: Array, is_tiny: bool) -> Array:
    is_finite = np.isfinite(found)
    # what is divided by infinity is 0, and a sum with it is what else there is, which scale may hardly move
    hardly = ROUNDINGS * float(np.finfo(found.dtype).eps)
    is_same = np.isclose(found, twice, rtol=hardly, atol=0)
    is_judged = ~is_finite if is_tiny else is_finite & (found != 0) & ~is_same
    return np.where(is_judged, found, expected).astype(found.dtype)


def is_at_the_ends(trial: Trial) -> bool:
    """Return whether squares of arguments may overflow or underflow."""
    is_half = any(dtype == np.float16 for dtype in [*trial.in_types, *trial.out_types])
    return magnitude(trial.inputs) > (_HUGE_HALF if is_half else _HUGE) or any(map(_is_tiny, trial.inputs))


def _is_tiny(array: Array) -> bool:
    """Return whether squares of some numbers of the array may underflow."""
    return array.dtype.kind == "f" and bool(((np.abs(array) < _TINY) & (array != 0)).any())


def expect_near(
    names: Sequence[str],
    found: Sequence[Any],
    wide: Trial,
    values: Values,
    dtype: Any,
    *,
    nearby: Sequence[Values] = (),
    are_gradients: bool = False,
) -> int:
    """Compare arrays within the cost of rounding, and return the number of elements compared.

    Args:
        found: What the operator gives in `dtype`.
        wide: The same case in float64, and `values` what is right there.
        nearby: The same for trials whose inputs are perturbed, in turn; none: `values`.
        are_gradients: Whether they are sums of multiples of head gradients.

    Raises:
        Violation: An element is further away than rounding explains.
    """
    expected = values(wide)
    if wide.states and overflows([*expected, *wide.result.aux], dtype):
        return 0  # a state that leaves the range takes along what is computed from it
    declared = wide.subject.contract.tolerances.get(dtype.name)
    judged = [
        (index, name)
        for index, name in enumerate(names)
        if found[index] is not None
        and expected[index] is not None
        and found[index].dtype == dtype
        and expected[index].dtype == WIDE_TYPE
    ]
    for limits in _limits(wide, values, expected, nearby or [values], dtype, are_gradients):
        first = None
        for index, name in judged:
            one, other, limit = found[index], expected[index], limits[index]
            if declared is not None:
                limit = np.maximum(limit, declared.absolute + declared.relative * np.abs(other))
            place = first_beyond(one.astype(WIDE_TYPE), other, np.asarray(limit), dtype)
            if place is not None:
                apart = abs(float(one[place]) - float(other[place]))
                allowed = float(np.broadcast_to(limit, one.shape)[place])
                is_cancelled = abs(other[place]) < _CANCELLED * magnitude(wide.inputs)
                first = Violation(
                    f"{at(name, place)} is {one[place].item()!r} in {dtype}, and {other[place].item()!r} "
                    f"in float64: apart by {apart:.3g}, allowed {allowed:.3g}",
                    verdict=weight(apart, allowed) if is_cancelled or dtype.itemsize == 2 else Verdict.WRONG,
                )
                break
        if first is None:
            return sum(found[index].size for index, _ in judged)
    assert first is not None  # there are limits
    raise first


def weight(apart: float, allowed: float) -> Verdict:
    """Verdict on a distance where few digits are left: hard where it is little more than is allowed."""
    return Verdict.HARD if apart <= _HARD * allowed else Verdict.WRONG


def _limits(
    wide: Trial,
    values: Values,
    expected: Sequence[Any],
    nearby: Sequence[Values],
    dtype: Any,
    are_gradients: bool,
) -> Iterator[list[Any]]:
    """Bounds on the distance of each result from the float64 one: those allowed everywhere, then measured.

    Measuring takes some passes and only widens the bounds before, within which most results are.
    """
    precision = float(np.finfo(dtype).eps)
    tiny = float(np.finfo(dtype).smallest_normal)
    floor = tiny + (cost_of_heads(wide, precision) if are_gradients else 0.0)
    base = [None if one is None else ROUNDINGS * precision * largest(one) + floor for one in expected]
    yield base
    with np.errstate(all="ignore"):
        moved = _movements(wide, expected, nearby, precision)
        limits: list[Any] = []
        for total, other, least in zip(moved, expected, base, strict=True):
            if total is not None:
                is_stable = total <= CONDITION * precision * np.abs(other) + tiny
                total = np.where(is_stable, SPREADS * total + least, np.inf)
            limits.append(total)
        yield limits
        hidden = hidden_movements(wide, values, expected, nearby, precision)
        limits = [
            limit if limit is None else limit + SPREADS * more
            for limit, more in zip(limits, hidden, strict=True)
        ]
        yield limits
        jumps = jumps_within(wide, expected, nearby, precision, limits)
        yield [limit if limit is None else limit + jump for limit, jump in zip(limits, jumps, strict=True)]


def cost_of_heads(trial: Trial, precision: float) -> float:
    """Error that rounding alone may leave where multiples of head gradients cancel."""
    return _HEADS * precision * magnitude(trial.out_grads)


def _movements(
    trial: Trial,
    here: Sequence[Any],
    nearby: Sequence[Values],
    precision: float,
    ways: Sequence[float] = (1.0,),
) -> list[Any]:
    """The largest distance of each result from those of perturbed trials; infinite where that is NaN.

    Args:
        here: Results of the trial.
        nearby: What gives those of perturbed trials, in turn.
        precision: Size of the perturbations, as a part of each number.
        ways: Signs of the perturbations: of those of both signs one moves towards a kink.
    """
    found: list[Any] = [None if array is None else np.zeros(array.shape) for array in here]
    for salt, way in product(range(MOVEMENTS), ways):
        moved = nearby[salt % len(nearby)](perturbed(trial, way * precision, relative=True, salt=salt))
        for total, one, other in zip(found, moved, here, strict=True):
            if total is not None and other.dtype == WIDE_TYPE:
                distance = np.abs(one - other)
                np.maximum(total, np.where(np.isnan(distance), np.inf, distance), out=total)
    return found


def jumps_within(
    trial: Trial, here: Sequence[Any], nearby: Sequence[Values], precision: float, limits: Sequence[Any]
) -> list[Any]:
    """Jumps of results between the inputs and others `SPREADS` roundings away; 0 where results are smooth.

    Args:
        here: Results of the trial; the others are as for `_movements`.
        limits: At least `SPREADS` times the movement by one rounding, and so no less than that of a smooth
            result by `SPREADS`; None where nothing is judged.
    """
    far = _movements(trial, here, nearby, SPREADS * precision, (1.0, -1.0))
    return [
        0.0 if total is None or limit is None else np.where(total > limit, total, 0.0)
        for total, limit in zip(far, limits, strict=True)
    ]


def hidden_movements(
    trial: Trial, values: Values, here: Sequence[Any], nearby: Sequence[Values], precision: float
) -> list[Any]:
    """Movements that short rows hide, as `lengthened` says; 0 where there are none.

    Args:
        values: What gives the results of any trial; `here` are those of this one. The others are as for
            `_movements`.
    """
    none: list[Any] = [0.0] * len(here)
    for longest in _SHORT:  # axes of a fixed length are left as they are
        longer = lengthened(trial, longest)
        if longer is not None:
            break
    else:
        return none
    try:
        there = values(longer)
        moved = _movements(longer, there, nearby, precision)
    except OperatorRaised:
        return none
    found = none
    for k, (total, one, other) in enumerate(zip(moved, here, there, strict=True)):
        if total is not None and one is not None:
            total = np.where(np.isfinite(total), total, 0.0)
            most = largest(total)
            # a product of more numbers is larger, and moves by more
            scale = min(1.0, (largest(one) + most) / (largest(other) + most)) if most else 0.0
            found[k] = scale * first_copies(total, one.shape)
    return found


def overflows(arrays: Sequence[Any], dtype: Any) -> bool:
    """Return whether some results leave the range of a type, or nearly."""
    limit = float(np.finfo(dtype).max) / 2
    floating = [array for array in arrays if array is not None and array.dtype.kind == "f"]
    return any(not (np.abs(array) <= limit).all() for array in floating)


def largest(array: Array) -> float:
    """The largest finite magnitude."""
    finite = np.abs(array[np.isfinite(array)])
    return float(finite.max(initial=0.0))


def first_beyond(found: Array, expected: Array, limit: Array, dtype: Any) -> tuple[int, ...] | None:
    """First place that is further away than its limit and within the type's range."""
    with np.errstate(all="ignore"):
        beyond = ~(np.abs(found - expected) <= limit)
        too_large = np.abs(expected) > float(np.finfo(dtype).max) / 2
        beyond &= np.isfinite(expected) & ~too_large & ~np.isinf(limit)
    return first_place(beyond)

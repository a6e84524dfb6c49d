"""Group D: digits kept and lost.

What rounding may cost depends on the operator and on the point: the logarithm near 1 loses digits
that no implementation could keep. So the bound is measured. The operator runs in float64, and
again on inputs perturbed by as much as the coarser type rounds them; how far results then move is what
rounding alone costs there. Where that is much more than rounding itself, the point is ill-conditioned, or
a comparison or a rounding function may go either way; nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from operad.context import cpu
from operad.operator import Operator
from operad.operator import candidates as kernels_of
from operad_sdk.check.closeness import at, magnitude
from operad_sdk.check.kinds import ORDINARY
from operad_sdk.check.register import Evidence, check
from operad_sdk.check.retype import is_random, perturbed, retyped
from operad_sdk.check.trial import Array, Trial, raising
from operad_sdk.check.violation import Violation

_COARSE: Final = (np.dtype(np.float16), np.dtype(np.float32))
_WIDE: Final = np.dtype(np.float64)
_MOVEMENTS: Final = 4
_SPREADS: Final = 16
"""How many times the cost of rounding the inputs is allowed."""
_ROUNDINGS: Final = 64
"""Roundings of the result itself that are allowed, of the largest one of the array."""
_HEADS: Final = 4
"""Roundings of the head gradient that a gradient may be off by: differences of its multiples cancel."""
_CONDITION: Final = 64
"""How many times a movement of the inputs may show in the result where the point is to count."""

_SLIGHTLY: Final = 2.0**-36
"""A movement that float64 sees and float32 does not."""
_VISIBLY: Final = 2.0**-12
"""A movement that float32 sees."""

Values = Callable[[Trial], Sequence[Any]]


@check("D602", ORDINARY)
def outputs_in_coarse_types(trial: Trial) -> Evidence:
    """Outputs in float16 and float32 beside those in float64."""
    return _in_coarse_types(trial, trial.outputs, _outputs)


@check("D603", ORDINARY)
def gradients_in_coarse_types(trial: Trial) -> Evidence:
    """Gradients in float16 and float32 beside those in float64."""
    if not trial.prop.has_gradient or not any(trial.prop.differentiable_inputs()):
        return None
    return _in_coarse_types(trial, [f"gradient of {name}" for name in trial.arguments], _gradients)


def _outputs(trial: Trial) -> Sequence[Any]:
    return trial.result.outputs


def _gradients(trial: Trial) -> Sequence[Any]:
    return trial.backward()


def _in_coarse_types(trial: Trial, names: Sequence[str], values: Values) -> Evidence:
    if not trial.arguments or is_random(trial) or retyped(trial, _WIDE) is None:
        return None
    compared = None
    for dtype in _COARSE:
        made = retyped(trial, dtype)
        wide = None if made is None else retyped(made, _WIDE)  # whose values are rounded already
        if made is None or wide is None or (values is _outputs and not _share_types(made, wide, dtype)):
            continue
        compared = compared or 0
        if made.is_runnable and wide.is_runnable:  # else D601 reports it
            compared += _expect_near(trial, names, values(made), wide, values, dtype)
    return compared


def _share_types(made: Trial, wide: Trial, dtype: Any) -> bool:
    """Whether some output has the type of the arguments."""
    return (dtype, _WIDE) in zip(made.out_types, wide.out_types, strict=True)


def _expect_near(
    trial: Trial, names: Sequence[str], found: Sequence[Any], wide: Trial, values: Values, dtype: Any
) -> int:
    expected = values(wide)
    limits = _limits(wide, expected, values, dtype)
    declared = trial.subject.contract.tolerances.get(dtype.name)
    compared = 0
    for name, one, other, limit in zip(names, found, expected, limits, strict=True):
        if one is None or other is None or one.dtype != dtype or other.dtype != _WIDE:
            continue
        allowed = limit if declared is None else declared.absolute + declared.relative * np.abs(other)
        compared += one.size
        place = _first_beyond(one.astype(_WIDE), other, np.asarray(allowed), dtype)
        if place is not None:
            raise Violation(
                f"{at(name, place)} is {one[place].item()!r} in {dtype}, and {other[place].item()!r} in "
                f"float64: apart by {abs(float(one[place]) - float(other[place])):.3g}, "
                f"allowed {float(np.broadcast_to(allowed, one.shape)[place]):.3g}"
            )
    return compared


def _limits(wide: Trial, expected: Sequence[Any], values: Values, dtype: Any) -> list[Any]:
    """How far each result may be from the float64 one."""
    precision = float(np.finfo(dtype).eps)
    spread: list[Any] = [None if array is None else np.zeros(array.shape) for array in expected]
    with np.errstate(all="ignore"):
        for salt in range(_MOVEMENTS):
            nearby = values(perturbed(wide, precision, relative=True, salt=salt))
            for total, one, other in zip(spread, nearby, expected, strict=True):
                if total is not None and other.dtype == _WIDE:
                    distance = np.abs(one - other)
                    np.maximum(total, np.where(np.isnan(distance), np.inf, distance), out=total)
        tiny = float(np.finfo(dtype).smallest_normal)
        floor = tiny + (_HEADS * precision * magnitude(wide.out_grads) if values is _gradients else 0.0)
        limits = []
        for total, other in zip(spread, expected, strict=True):
            if total is not None:
                is_stable = total <= _CONDITION * precision * np.abs(other) + tiny
                allowed = _SPREADS * total + _ROUNDINGS * precision * _scale(other) + floor
                total = np.where(is_stable, allowed, np.inf)
            limits.append(total)
        return limits


def _scale(array: Array) -> float:
    finite = np.abs(array[np.isfinite(array)])
    return float(finite.max(initial=0.0))


def _first_beyond(found: Array, expected: Array, limit: Array, dtype: Any) -> tuple[int, ...] | None:
    with np.errstate(all="ignore"):
        beyond = ~(np.abs(found - expected) <= limit)
        too_large = np.abs(expected) > float(np.finfo(dtype).max) / 2
        beyond &= np.isfinite(expected) & ~too_large & ~np.isinf(limit)
    if not beyond.any():
        return None
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(beyond)), found.shape))


@check("D604", ORDINARY)
def float64_throughout(trial: Trial) -> Evidence:
    """A movement of the inputs that float32 cannot represent shows in the results."""
    if is_random(trial) or not any(trial.prop.differentiable_inputs()):
        return None  # what has no gradient need not move at all
    wide = retyped(_without_zeros(trial), _WIDE)
    if wide is None or any(dtype.kind == "f" and dtype != _WIDE for dtype in wide.out_types):
        return None
    if not wide.is_runnable:
        return 0
    steps = [perturbed(wide, distance) for distance in (_SLIGHTLY, _VISIBLY, _VISIBLY / 2)]
    compared = 0
    names = [*trial.outputs, *[f"gradient of {name}" for name in trial.arguments]]
    found = [_everything(each) for each in (wide, *steps)]
    for name, here, there, beyond, halfway in zip(names, *found, strict=True):
        if here is None or here.dtype != _WIDE:
            continue
        with np.errstate(all="ignore"):
            moves = np.abs(beyond - here) / (_scale(here) or 1.0)
            is_step = np.abs(beyond - 2 * halfway + here) > np.abs(beyond - here) / 2
        smooth = (moves > _VISIBLY / 64) & (moves < _VISIBLY * 64) & ~is_step
        compared += int(smooth.sum())
        if smooth.any() and not (there != here)[smooth].any():
            raise Violation(
                f"{name} does not change where the arguments change by {_SLIGHTLY:.2g}, though it follows "
                "larger changes: it passes through a type of fewer digits than float64"
            )
    is_flat = not compared and trial.subject.contract.why_no_numeric_gradient(trial.prop)
    return None if is_flat else compared  # a gradient by declaration need not follow anything


def _without_zeros(trial: Trial) -> Trial:
    """Zero itself may be perturbed by less than any digit; the lattice's neighbours of it may not."""
    return perturbed(trial, 0.0625, salt=1) if any((array == 0).any() for array in trial.inputs) else trial


def _everything(trial: Trial) -> list[Any]:
    gradients = trial.backward(out_grads=trial.out_grads) if any(trial.differentiable()) else []
    padded = gradients or [None] * len(trial.arguments)
    return [*trial.result.outputs, *padded]


@check("D606", ORDINARY)
def kernels_agree(trial: Trial) -> Evidence:
    """Every kernel that applies beside the operator's first."""
    with raising("a kernel's condition"):
        tried = kernels_of(trial.prop, cpu(), trial.in_shapes, trial.in_types)
    usable = [each.kernel for each in tried if each.rejection is None]
    if len(usable) < 2 or is_random(trial):
        return None
    own = min(usable, key=type(trial.prop).kernels.index)
    compared = 0
    for other in usable:
        if other is not own:
            compared += _expect_agreement(trial, own.name, _made(trial, own), other.name, _made(trial, other))
    return compared


def _made(trial: Trial, kernel: Any) -> Operator:
    with raising(f"kernel {kernel.name}"):
        made: Operator = kernel.factory(trial.prop, cpu(), trial.in_shapes, trial.in_types)
    return made


def _expect_agreement(trial: Trial, name: str, own: Operator, other_name: str, other: Operator) -> int:
    names = [*trial.outputs, *[f"gradient of {argument}" for argument in trial.arguments]]

    def values(each: Trial, operator: Operator = own) -> list[Any]:
        result = each.forward(operator=operator).outputs
        if not any(each.differentiable()):
            return [*result, *[None] * len(each.arguments)]
        return [*result, *each.backward(operator=operator, outputs=trial.result.outputs)]

    expected, found = values(trial), values(trial, other)
    compared = 0
    for label, one, want in zip(names, found, expected, strict=True):
        if one is None or want is None:
            continue
        compared += one.size
        dtype = one.dtype if one.dtype.kind == "f" else np.dtype(np.float64)
        limit = _ROUNDINGS * float(np.finfo(dtype).eps) * _scale(want.astype(_WIDE)) * _SPREADS
        place = _first_beyond(one.astype(_WIDE), want.astype(_WIDE), np.full(one.shape, limit), dtype)
        if place is not None:
            raise Violation(
                f"{at(label, place)} is {one[place].item()!r} by kernel {other_name}, and "
                f"{want[place].item()!r} by {name}"
            )
    return compared

"""Group F: finite in, finite out.

An operator may overflow where its function does, and is not defined everywhere; so what is finite is
judged by what is finite beside it: outputs on both sides of a point, the other mode, and what the
operator gives for its defaults.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from operad_sdk.check.closeness import at, coarsest, magnitude
from operad_sdk.check.kinds import EXTREME, ORDINARY
from operad_sdk.check.register import Evidence, check
from operad_sdk.check.retype import perturbed
from operad_sdk.check.trial import Array, Trial
from operad_sdk.check.violation import OperatorRaised, Violation

_NEARBY: Final = 2.0**-10
_SIDES: Final = 4
_SEVERAL: Final = 4
"""Elements from which on results that are all NaN say something."""


@check("F219", ORDINARY, EXTREME)
def finite(trial: Trial) -> Evidence:
    """Outputs, states and gradients for finite arguments, in both modes."""
    if not trial.is_runnable or not any(dtype.kind == "f" for dtype in trial.out_types):
        return None
    compared = _expect_defined(trial) + _expect_finite_states(trial)
    if any(trial.differentiable()) and _are_finite(trial.result.outputs):
        compared += _expect_finite_gradients(trial)
    return compared


def _expect_defined(trial: Trial) -> int:
    """A result that is NaN throughout is no result: in the other mode, or for the defaults, there is one."""
    modes = {mode: trial.forward(is_train=mode).outputs[: trial.visible] for mode in (True, False)}
    for mode, outputs in modes.items():
        for name, array, other in zip(trial.outputs, outputs, modes[not mode], strict=False):
            if array.size < _SEVERAL or array.dtype.kind != "f" or not np.isnan(array).all():
                continue
            words = "training" if mode else "prediction"
            if np.isfinite(other).all():
                raise Violation(f"{name} is NaN throughout in {words}, and finite in the other mode")
            if trial.case.params and _is_finite_by_default(trial):
                given = ", ".join(f"{key}={value!r}" for key, value in trial.case.params.items())
                raise Violation(f"{name} is NaN throughout with {given}, and finite with the defaults")
    return sum(array.size for outputs in modes.values() for array in outputs)


def _is_finite_by_default(trial: Trial) -> bool:
    required = {name: v for name, v in trial.case.params.items() if trial.prop.params[name].is_required}
    if required == trial.case.params or trial.subject.contract.reference is not None:
        return False  # the reference says more
    try:
        usual = Trial(trial.subject, replace(trial.case, params=required))
        return usual.in_shapes == trial.in_shapes and _are_finite(usual.result.outputs)
    except (OperatorRaised, KeyError):
        return False


def _expect_finite_states(trial: Trial) -> int:
    if not trial.states or not _are_finite([*trial.aux, *trial.result.outputs]):
        return 0
    if magnitude(trial.inputs) > float(np.finfo(coarsest(trial)).max) ** 0.5:
        return 0  # a sum of squares is infinite by rights
    for name, state in zip(trial.states, trial.result.aux, strict=True):
        if state.dtype.kind == "f" and not np.isfinite(state).all():
            place = _first(~np.isfinite(state))
            raise Violation(f"state {at(name, place)} becomes {state[place]!r}, and the outputs are finite")
    return sum(state.size for state in trial.result.aux)


def _expect_finite_gradients(trial: Trial) -> int:
    gradients = trial.backward()
    compared = 0
    for name, gradient in zip(trial.arguments, gradients, strict=True):
        if gradient is None:
            continue
        compared += gradient.size
        lost = np.isnan(gradient)
        if lost.any() and _is_defined_around(trial):
            place = _first(lost)
            raise Violation(
                f"gradient of {at(name, place)} is nan, and the outputs are finite there and on all sides"
            )
    return compared


def _is_defined_around(trial: Trial) -> bool:
    sides = [perturbed(trial, _NEARBY, salt=salt) for salt in range(_SIDES)]
    return all(_are_finite(side.result.outputs) for side in sides)


def _are_finite(arrays: Any) -> bool:
    return all(np.isfinite(array).all() for array in arrays if array.dtype.kind == "f")


def _first(flags: Array) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(flags)), flags.shape))

"""Group F: finite in, finite out.

An operator may overflow where its function does, and is not defined everywhere; so what is finite is
judged by what is finite beside it: outputs on both sides of a point, the other mode, and what the
operator gives for its defaults.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from operad_check.cases.kinds import EDGES, EXTREME, ORDINARY
from operad_check.cases.retype import is_random, perturbed
from operad_check.comparison.closeness import at, coarsest, first_place, magnitude
from operad_check.comparison.rounding import is_at_the_ends
from operad_check.comparison.trusted import beside_each_other
from operad_check.register import Evidence, check
from operad_check.trials.trial import Array, Trial
from operad_check.trials.violation import OperatorRaised, Violation
from operad_sdk.domains import Index, Integers

_NEARBY: Final = 2.0**-10
_SIDES: Final = 4
_RANGES: Final = ((0.125, 0.875), (-0.875, -0.125), (1.25, 3.0), (-3.0, 3.0))
"""Intervals of arguments on which functions are defined, or not."""
_SEVERAL: Final = 4
"""Number of elements from which results that are all NaN count as evidence."""


@check("F219", ORDINARY, EDGES, EXTREME)
def finite(trial: Trial) -> Evidence:
    """Finite arguments and states give finite results, gradients and states.

    One NaN ends a training run, and it appears where nobody tests: far from 0, in a row of zeros, at the
    bound of a parameter. The product of two large arguments may be infinite: a NaN in the outputs that
    follows from it in one mode is accepted.

    Broken by:
        def data_grad(output_grad, data, output): return output_grad * data / output    # 0 / 0 at zeros
    Within:
        spec = "data:(*S) -> output:(*S)"
        accepts = "floating"
        def forward(data): return np.abs(data)
        HERE
    Fix:
        Write the limit where the formula is undefined: np.divide(..., where=output != 0).
    How:
        Check that finite arguments give finite outputs, states and gradients, in both modes.
    """
    if not trial.is_runnable or not any(dtype.kind == "f" for dtype in trial.out_types):
        return None
    compared = _expect_defined(trial) + _expect_no_hole(trial) + _expect_finite_states(trial)
    # far from 0 the square of a divisor may overflow, as it may in outputs
    if any(trial.differentiable()) and _are_finite(trial.result.outputs) and not is_at_the_ends(trial):
        compared += _expect_finite_gradients(trial)
    return compared


def _expect_defined(trial: Trial) -> int:
    """Raise Violation if a result is NaN throughout, yet finite in the other mode or with the defaults."""
    modes = {mode: trial.forward(is_train=mode).outputs[: trial.visible] for mode in (True, False)}
    for mode, outputs in modes.items():
        for name, array, other in zip(trial.outputs, outputs, modes[not mode], strict=False):
            if array.size < _SEVERAL or array.dtype.kind != "f" or not np.isnan(array).all():
                continue
            if _has_infinite_product(trial):
                continue  # the mean of infinities is NaN by rights, though the other mode saturates
            words = "training" if mode else "prediction"
            if np.isfinite(other).all() and not trial.subject.contract.undefined:
                raise Violation(f"{name} is NaN throughout in {words}, and finite in the other mode")
            if trial.case.params and _is_finite_by_default(trial):
                given = ", ".join(f"{key}={value!r}" for key, value in trial.case.params.items())
                raise Violation(f"{name} is NaN throughout with {given}, and finite with the defaults")
    return sum(array.size for outputs in modes.values() for array in outputs)


def _has_infinite_product(trial: Trial) -> bool:
    """Return whether the product of two arguments at the ends of their types is infinite.

    The square of one does not count, which a computation can scale.
    """
    if not is_at_the_ends(trial):
        return False
    largest = sorted(magnitude([array]) for array in trial.inputs)[-2:]
    return len(largest) == 2 and largest[0] * largest[1] > float(np.finfo(coarsest(trial)).max)


def _expect_no_hole(trial: Trial) -> int:
    """Raise Violation for a NaN at one point only, as from 0 / 0 or from a mask that admits nothing.

    A function such as a logarithm may be NaN where it is not defined on one side.
    """
    if trial.subject.contract.undefined or is_random(trial) or is_at_the_ends(trial):
        return 0  # at the ends infinity less infinity, on the way
    for name, array in zip(trial.outputs[: trial.visible], trial.result.outputs, strict=False):
        if array.dtype.kind != "f" or not np.isnan(array).any():
            continue
        place = first_place(np.isnan(array))
        if _is_defined_around(trial):
            raise Violation(
                f"{at(name, place)} is nan, and finite on all sides of these arguments", fix=_HOLE
            )
        if _depends_on_whole_numbers_alone(trial):
            raise Violation(f"{at(name, place)} is nan, and finite with other integers", fix=_HOLE)
        lasting = _nan_whatever_the_values(trial, trial.outputs.index(name))
        if lasting.any():
            where = (
                f"{name} is nan throughout" if lasting.all() else f"{at(name, first_place(lasting))} is nan"
            )
            words = f"{where} for arguments of shapes {trial.in_shapes}, whatever their values"
            raise Violation(words, fix=_HOLE)
    return sum(array.size for array in trial.result.outputs[: trial.visible])


_HOLE: Final = (
    "Write the limit, or a number, where the formula has none; or declare that the arguments are others, "
    "Contract(inputs=...), or that it is meant, Contract(undefined=reason)."
)


def _nan_whatever_the_values(trial: Trial, number: int) -> Array:
    """Elements of an output that are NaN for values of every sign and size that are tried, and in domains."""
    shapes = dict(zip(trial.arguments, trial.in_shapes, strict=True))
    lasting: Array = np.isnan(trial.result.outputs[number])
    for salt, (low, high) in enumerate(_RANGES):
        rng = np.random.default_rng([trial.case.seed, _SIDES, salt])

        def drawn(name: str, array: Array, rng: Any = rng, low: float = low, high: float = high) -> Array:
            domain = trial.subject.contract.domain(name)
            if domain is not None:
                values = np.asarray(domain.draw(rng, shapes[name], trial.prop, shapes))
            elif array.dtype.kind == "f":
                values = rng.uniform(low, high, array.shape)
            else:
                values = rng.integers(0, 2, array.shape)
            return np.asarray(values, array.dtype)

        inputs = [drawn(name, array) for name, array in zip(trial.arguments, trial.inputs, strict=True)]
        found = trial.with_inputs(inputs).result.outputs[number]
        lasting = lasting & np.isnan(found) if found.shape == lasting.shape else np.zeros_like(lasting)
        if not lasting.any():
            break
    return lasting


def _depends_on_whole_numbers_alone(trial: Trial) -> bool:
    """Return whether NaN stays with other real arguments, and goes with some other whole arguments."""
    contract = trial.subject.contract
    domains = {name: contract.domain(name) for name in trial.arguments}
    shapes = dict(zip(trial.arguments, trial.in_shapes, strict=True))
    inputs = trial.case.inputs
    mirrored = {n: -a for n, a in inputs.items() if a.dtype.kind == "f" and domains[n] is None}
    if not _has_nan(Trial(trial.subject, replace(trial.case, inputs={**inputs, **mirrored}))):
        return False
    for salt in range(_SIDES):
        rng = np.random.default_rng([trial.case.seed, salt])
        drawn = {
            name: np.asarray(domain.draw(rng, shapes[name], trial.prop, shapes)).astype(inputs[name].dtype)
            for name, domain in domains.items()
            if isinstance(domain, Integers | Index)
        }
        drawn |= {
            name: rng.integers(0, 2, shapes[name]).astype(inputs[name].dtype)
            for name, domain in domains.items()
            if domain is None and inputs[name].dtype.kind in "biu"
        }
        if drawn and not _has_nan(Trial(trial.subject, replace(trial.case, inputs={**inputs, **drawn}))):
            return True
    return False


def _has_nan(trial: Trial) -> bool:
    return any(np.isnan(array).any() for array in trial.result.outputs if array.dtype.kind == "f")


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
    if magnitude(trial.inputs) > float(np.finfo(coarsest(trial)).max) ** 0.25:
        return 0  # the square of a product of two is infinite by rights
    for name, state in zip(trial.states, trial.result.aux, strict=True):
        if state.dtype.kind == "f" and not np.isfinite(state).all():
            lost = ~np.isfinite(state) & _is_finite_by_reference(trial, name)
            if (place := first_place(lost)) is not None:
                raise Violation(f"state {at(name, place)} becomes {state[place]}, and the outputs are finite")
    return sum(state.size for state in trial.result.aux)


def _is_finite_by_reference(trial: Trial, name: str) -> Any:
    """Mask of elements of a state that the reference makes finite; True if the reference does not tell."""
    function = trial.subject.contract.reference
    if function is None:
        return True
    try:
        names, _, expected = beside_each_other(trial, function)
    except Violation:
        return True
    return np.isfinite(expected[names.index(name)]) if name in names else True


def _expect_finite_gradients(trial: Trial) -> int:
    gradients = trial.backward()
    compared = 0
    for name, gradient in zip(trial.arguments, gradients, strict=True):
        if gradient is None:
            continue
        compared += gradient.size
        lost = np.isnan(gradient)
        if lost.any() and _is_defined_around(trial):
            element = at(name, first_place(lost))
            raise Violation(
                f"gradient of {element} is nan, and the outputs are finite there and on all sides"
            )
    return compared


def _is_defined_around(trial: Trial) -> bool:
    sides = [perturbed(trial, _NEARBY, salt=salt) for salt in range(_SIDES)]
    return all(_are_finite(side.result.outputs) for side in sides)


def _are_finite(arrays: Any) -> bool:
    return all(np.isfinite(array).all() for array in arrays if array.dtype.kind == "f")

"""True values of what operators compute, for `tools.accuracy`: from references, and from double precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import process_time
from typing import Any, Final

import numpy as np

from operad.operator import ScalarForm
from operad_check.cases.retype import perturbed, retyped
from operad_check.comparison.closeness import magnitude
from operad_check.comparison.number_types import widened
from operad_check.trials.reference import call_reference
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised, Violation
from operad_sdk.domains import Real
from tools.exact_numbers import Number, exact, is_exact, split

_MOST_EXACT: Final = 400
"""Elements of all arguments up to which numbers of 160 digits are computed with; for gradients, a tenth."""
_STEP: Final = Number("1e-40")
_PATIENCE_S: Final = 0.5
"""Processor time of an array's differences from which on a reference is too slow for them."""
_NOTHING: Final = 2.0**-48
"""Part of the largest argument or head gradient from which on what double precision gives is 0."""
_JUMP: Final = 2.0**-12
"""Part of the largest result by which a movement by roundings does not change what is smooth."""
_ROUNDINGS: Final = 4
"""Roundings of the arguments within which a point may be on either side of a kink."""

Truth = tuple[Any, Any]
"""True values as float64, and what is left of each."""


def type_of(trial: Trial) -> Any:
    """The type that a trial is of."""
    return trial.in_types[0] if trial.in_types else trial.out_types[0]


def true_outputs(trial: Trial) -> list[Truth | None]:
    """True values of the outputs."""
    size = sum(array.size for array in trial.inputs)
    if (function := trial.subject.contract.reference) is not None:
        if size <= _MOST_EXACT and (found := _exactly(trial, list(map(exact, trial.inputs)))) is not None:
            return [split(one) if is_exact(one) else None for one in found]
        for wide in (np.longdouble, np.float64):
            if wide is np.float64 and type_of(trial) == wide:
                break
            try:
                given = [widened(array, np.dtype(wide)) for array in trial.inputs]
                results = call_reference(function, trial, given)
            except Violation:
                continue
            results = list(results) if isinstance(results, (tuple, list)) else [results]
            arrays = [np.asarray(one) for one in results]
            if all(one.dtype == wide for one in arrays if one.dtype.kind == "f"):
                return [_halves(one) if one.dtype.kind == "f" else None for one in arrays]
    return _of_double(trial, lambda each: each.result.outputs)


def true_gradients(trial: Trial) -> list[Truth | None]:
    """True values of the gradients, by argument."""
    contract, size = trial.subject.contract, sum(array.size for array in trial.inputs)
    is_plain = not (contract.why_head_is_ignored(trial.prop) or contract.why_no_numeric_gradient(trial.prop))
    if is_plain and not contract.loss and contract.reference is not None and size <= _MOST_EXACT // 10:
        domains = map(contract.domain, trial.arguments)
        truths = [
            _differences(trial, position) if flows and (domain is None or isinstance(domain, Real)) else None
            for position, (flows, domain) in enumerate(zip(trial.differentiable(), domains, strict=True))
        ]
        if any(one is not None for one in truths):
            return _steady(trial, truths, Trial.backward)
    return _of_double(trial, Trial.backward)


def _of_double(trial: Trial, values: Callable[[Trial], Sequence[Any]]) -> list[Truth | None]:
    """Results of the operator in double; none of a trial that is in double itself."""
    if type_of(trial) != np.float32:
        return []
    try:
        wide = retyped(trial, np.dtype(np.float64))
        found = None if wide is None else values(wide)
    except (OperatorRaised, Violation):
        return []
    if wide is None or found is None:
        return []
    nothing = _NOTHING * magnitude(wide.inputs, wide.out_grads)
    truths = [
        None if one is None or one.dtype != np.float64 else _halves(np.where(np.abs(one) < nothing, 0.0, one))
        for one in found
    ]
    return _steady(trial, truths, values)


def _steady(
    trial: Trial, truths: list[Truth | None], values: Callable[[Trial], Sequence[Any]]
) -> list[Truth | None]:
    """The true values, NaN where roundings of the arguments give others: beside a kink or a jump."""
    eps = _ROUNDINGS * float(np.finfo(type_of(trial)).eps)
    try:
        wide = retyped(trial, np.dtype(np.float64)) or trial
        here, *moved = [values(each) for each in (wide, *_moved(wide, eps))]
    except (OperatorRaised, Violation):
        return truths
    found: list[Truth | None] = []
    for truth, one, *others in zip(truths, here, *moved, strict=False):
        if truth is not None and one is not None and one.shape == truth[0].shape:
            with np.errstate(all="ignore"):
                apart = np.max([np.abs(other - one) for other in others], axis=0)
                is_finite = np.isfinite(one)
                is_steady = apart <= _JUMP * np.max(np.abs(one), initial=0, where=is_finite)
            truth = np.where(is_steady | ~is_finite, truth[0], np.nan), truth[1]
        found.append(truth)
    return found


def _moved(trial: Trial, distance: float) -> list[Trial]:
    return [perturbed(trial, distance, relative=True, salt=salt) for salt in range(4)]


def _differences(trial: Trial, position: int) -> Truth | None:
    """Derivatives of the reference for each element of an argument; NaN where they are two."""
    inputs = list(map(exact, trial.inputs))
    array, heads = inputs[position], [None if one is None else exact(one) for one in trial.out_grads]
    found = np.empty(array.shape, object)
    begin = process_time()
    middle = _exactly(trial, inputs)
    is_slow = (process_time() - begin) * array.size > _PATIENCE_S
    if is_slow or middle is None or not all(map(is_exact, middle[: trial.visible])):
        return None

    def difference(places: Any, sign: int) -> list[Any] | None:
        """Of each output, where some elements of the argument are moved."""
        moved = array.copy()
        moved[places] = array[places] + steps[places] * sign
        other = _exactly(trial, [*inputs[:position], moved, *inputs[position + 1 :]])
        pairs = zip(other or (), middle, heads, strict=False)
        return other and [(one - two) * head for one, two, head in pairs if head is not None]

    one: Any = Number(1)
    steps: Any = np.asarray(np.maximum(np.abs(array), one) * _STEP, object)
    if _is_of_elements(trial):
        sides = [side for sign in (-1, 1) if (side := difference(..., sign)) is not None]
        if len(sides) == 2:
            before, after = (sum(side) for side in sides)
            return split(_slopes(before / -steps, after / steps))
    for place in np.ndindex(array.shape):
        sides = [side for sign in (-1, 1) if (side := difference(place, sign)) is not None]
        if len(sides) < 2:
            return None
        totals = [sum(np.sum(each) for each in side) for side in sides]
        found[place] = _slopes(totals[0] / -steps[place], totals[1] / steps[place])
    return split(found)


def _is_of_elements(trial: Trial) -> bool:
    """Return whether each element of the output depends on one element of each argument, in its place."""
    if len({*trial.in_shapes, *trial.out_shapes}) != 1:
        return False
    form = trial.prop.scalar_form("forward", trial.in_shapes, trial.in_types)
    return isinstance(form, ScalarForm) and all(
        step.axes is None and step.op not in ("sum", "max", "min", "position") for step in form.instructions
    )


@partial(np.frompyfunc, nin=2, nout=1)
def _slopes(before: Any, after: Any) -> Any:
    """The slope of two sides, NaN where they differ."""
    before, after = (one if isinstance(one, Number) else Number(one) for one in (before, after))
    is_one = abs(before - after) <= Number("1e-9") * (abs(before) + abs(after))
    return (before + after) / 2 if is_one else Number("nan")


def _exactly(trial: Trial, inputs: Sequence[Any]) -> list[Any] | None:
    """Results of the reference in numbers of 160 digits; None where it cannot."""
    function, casts = trial.subject.contract.reference, Number.casts
    try:
        found = call_reference(function, trial, inputs) if function is not None else None
    except Violation:
        return None
    if Number.casts != casts:
        return None
    results = list(found) if isinstance(found, (tuple, list)) else [found]
    arrays = [np.asarray(one) for one in results]
    if any(one.dtype.kind == "f" for one in arrays) or not any(map(is_exact, arrays)):
        return None
    return arrays


def _halves(array: Any) -> Truth:
    high = np.asarray(array).astype(np.float64)
    with np.errstate(all="ignore"):
        low = np.where(np.isfinite(high), array - high, 0)
    return high, np.asarray(low).astype(np.float64)

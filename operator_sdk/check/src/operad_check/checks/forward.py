"""Group F: results of a forward pass, and arrays that the pass must not change."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad.operator import is_known
from operad_check.cases.kinds import BULK, EDGES, EXTREME, LARGE, ORDINARY, PARTS
from operad_check.comparison.bitwise import expect_same
from operad_check.running.register import Evidence, check
from operad_check.trials.returned import expect_fitting
from operad_check.trials.trial import POISON, Array, Trial
from operad_check.trials.violation import Violation


@check("F201", ORDINARY, LARGE, BULK, EXTREME, PARTS, reports_raising=True)
def runs(trial: Trial) -> Evidence:
    """Run forward in both modes."""
    for is_train in (True, False):
        trial.forward(is_train=is_train)
    return 2


@check("F202", ORDINARY)
def described(trial: Trial) -> Evidence:
    """Check that inference leaves nothing open, and that returned arrays fit the inferred shapes."""
    for name, shape, dtype in zip(trial.outputs, trial.out_shapes, trial.out_types, strict=True):
        if not is_known(shape) or dtype is None:
            raise Violation(
                f"with every argument known, {name} is inferred as {shape} of {dtype}, expected a full answer"
            )
        if not all(type(size) is int for size in shape):
            raise Violation(f"{name} is inferred as {shape}, expected a tuple of int")
    expect_fitting(trial, lambda operator: trial.forward(operator=operator), trial.outputs)
    return len(trial.outputs)


@check("F207", ORDINARY, LARGE)
def inputs_unmodified(trial: Trial) -> Evidence:
    """Check that forward leaves its inputs as they are."""
    given = trial.forward().inputs
    when = "after forward"
    return expect_same(trial.arguments, given, trial.inputs, when) if given else None


@check("F208", ORDINARY, LARGE)
def written(trial: Trial) -> Evidence:
    """Check that no element of an output keeps either of two poisons."""
    first = trial.result.outputs
    second = trial.forward(outputs=[_other_poison(array) for array in first]).outputs
    for name, one, two in zip(trial.outputs, trial.written(first), second, strict=True):
        if one is None:
            continue
        kept = _is_poison(one) & (two == _other_poison(two))
        if kept.any():
            place = tuple(int(i) for i in np.argwhere(kept)[0])
            raise Violation(
                f"{name}{list(place) if place else ''} is not written: it holds what was there before"
            )
    return int(sum(array.size for array in first))


def _other_poison(like: Array) -> Array:
    return np.full_like(like, -POISON + 0.25 if like.dtype.kind == "f" else _other_integer(like.dtype))


def _other_integer(dtype: Any) -> Any:
    return False if dtype.kind == "b" else 77


def _is_poison(array: Array) -> Any:
    return np.isnan(array) if array.dtype.kind == "f" else array == np.full_like(array, POISON)


@check("F209", ORDINARY, LARGE)
def deterministic(trial: Trial) -> Evidence:
    """Check that a second run gives the same, on an operator that has run and on a new one."""
    first = trial.result
    others = {
        "when run again": trial.forward(),
        "on an operator that ran nothing before": trial.forward(operator=trial.new_operator()),
    }
    compared = 0
    exact = not trial.subject.contract.nondeterministic
    for when, other in others.items():
        compared += expect_same(trial.outputs, other.outputs, first.outputs, when, is_exact=exact)
        expect_same(trial.states, other.aux, first.aux, when, is_exact=exact)
    return compared


@check("F210", EDGES, reports_raising=True)
def edges(trial: Trial) -> Evidence:
    """Run both passes on arrays with axes of length 0 or 1, or no axes; check that outputs are written."""
    result = trial.forward()
    clean = all(np.isfinite(array).all() for array in trial.inputs if array.dtype.kind == "f")
    for name, array in zip(trial.outputs, trial.written(result.outputs), strict=True):
        if array is None:
            continue
        untouched = array.size and clean and array.dtype.kind == "f" and np.isnan(array).all()
        again = trial.forward(outputs=[_other_poison(a) for a in result.outputs]).outputs if untouched else []
        if untouched and (again[trial.outputs.index(name)] == _other_poison(array)).all():
            raise Violation(f"{name}, of shape {array.shape}, is not written")
    if any(trial.differentiable()):
        trial.backward()
    return 1

"""Bounds from the terms of a sum, and not from the sum, which may cancel.

Two orders of the same additions are apart by roundings of the largest term. Nobody tells the terms; but one
rounding of each argument moves the result by as much as the terms round. So where two results are further
apart than a tolerance allows, that movement is measured before anything is said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from operad_check.cases.retype import perturbed
from operad_check.comparison.closeness import ROUNDINGS, coarsest, expect_close
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised, Violation

_MOVEMENTS: Final = 4

Values = Callable[[Trial], Sequence[Any]]


def expect_close_in_terms(
    trial: Trial,
    values: Values,
    names: Sequence[str],
    found: Sequence[Any],
    expected: Sequence[Any],
    *how: Any,
    **violation: Any,
) -> int:
    """As `expect_close`, but for what roundings of the arguments explain.

    Args:
        values: What was compared, of a trial whose arguments and head gradients are moved a little.
        how: Further arguments of `expect_close`.

    Raises:
        Violation: An element differs by more.
    """
    try:
        return expect_close(names, found, expected, *how, **violation)
    except Violation:
        spread = _spread(trial, values, expected)
        near = [
            one if one is None or limit is None else _within(one, np.asarray(other), limit)
            for one, other, limit in zip(found, expected, spread, strict=True)
        ]
        return expect_close(names, near, expected, *how, **violation)


def results(trial: Trial) -> list[Any]:
    """Outputs and states of a trial, as `values`."""
    return [*trial.result.outputs, *trial.result.aux]


def _within(found: Any, expected: Any, spread: Any) -> Any:
    """`found`, with the expected numbers where it is as near to them as the roundings of terms."""
    with np.errstate(all="ignore"):
        is_near = np.abs(found.astype(np.float64) - expected.astype(np.float64)) <= ROUNDINGS * spread
    return np.where(is_near, expected, found)


def _spread(trial: Trial, values: Values, expected: Sequence[Any]) -> list[Any]:
    """Movement of each number where arguments and head gradients are rounded; None: it is not floating."""
    dtype = coarsest(trial)
    spread: list[Any] = [
        np.zeros(one.shape)
        if one is not None and dtype.kind == "f" and np.asarray(one).dtype.kind == "f"
        else None
        for one in expected
    ]
    if dtype.kind != "f":
        return spread
    centre = replace(trial.case, out_grads=tuple(trial.out_grads[: trial.visible]))
    base = Trial(trial.subject, centre)
    try:
        here = values(base)
        for salt in range(_MOVEMENTS):
            # several roundings, as one may vanish in the type itself
            moved = values(perturbed(base, 4 * float(np.finfo(dtype).eps), relative=True, salt=salt))
            with np.errstate(all="ignore"):
                for limit, one, other in zip(spread, moved, here, strict=True):
                    if limit is not None:
                        apart = np.abs(one.astype(np.float64) - other.astype(np.float64))
                        np.maximum(limit, np.where(np.isfinite(apart), apart, 0.0), out=limit)
    except OperatorRaised:
        pass
    return spread

"""Group F: what random operators draw."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any, Final

import numpy as np

from operad.operator import OperatorProperty
from operad.resource import ResourceRequest
from operad_sdk.check.kinds import ORDINARY
from operad_sdk.check.register import Evidence, check
from operad_sdk.check.strategies import case_of, completed_types
from operad_sdk.check.subject import Subject
from operad_sdk.check.trial import Trial, raising
from operad_sdk.check.violation import Violation
from operad_sdk.contract import Distribution

_DRAWS: Final = 20_000
_SIGMAS: Final = 6.0
"""A correct operator is reported once in 5e8 tests."""


@check("F218", ORDINARY, pooled=True)
def distribution(trials: list[Trial]) -> Evidence:
    """Moments and distribution function of many draws; other draws for another seed."""
    random = [trial for trial in trials if _is_random(trial)]
    if not random:
        return None
    subject = random[0].subject
    declared = subject.contract.distribution
    if declared is None:
        raise Violation(
            f"{subject.name} draws random numbers and declares no distribution",
            fix="Declare Contract(distribution=Distribution(mean=..., variance=...)).",
            cases=[random[0].case],
        )
    compared = 0
    for params in declared.params or [random[0].case.params]:
        compared += _check_draws(subject, declared, params, random[0])
    return compared


def _is_random(trial: Trial) -> bool:
    kinds = trial.prop.forward_resource(trial.in_shapes)
    return ResourceRequest.RANDOM in kinds or ResourceRequest.PARALLEL_RANDOM in kinds


def _check_draws(subject: Subject, declared: Distribution, params: Mapping[str, Any], example: Trial) -> int:
    with raising("the constructor"):
        prop: OperatorProperty = subject.cls(**params)
    shapes = declared.shapes if declared.shapes is not None else example.in_shapes
    types = completed_types(subject, prop, np.dtype(np.float64)) or completed_types(
        subject, prop, np.dtype(np.float32)
    )
    assert types is not None
    found: list[Any] = []
    seed = 0
    while sum(draws.size for draws in found) < _DRAWS:
        trial = Trial(subject, case_of(subject, prop, params, shapes, types, True, seed))
        result = trial.forward()
        outputs = result.outputs
        draws = declared.draws(trial.prop, trial.inputs, outputs) if declared.draws else outputs[0]
        found.append(np.asarray(draws, np.float64).ravel())
        if not found[-1].size or seed >= 500:
            break
        seed += 1
    cases = [case_of(subject, prop, params, shapes, types, True, 0)]
    _expect_other_draws(found, subject, cases)
    _expect_distribution(np.concatenate(found), declared, prop, subject, cases)
    return sum(draws.size for draws in found)


def _expect_other_draws(found: list[Any], subject: Subject, cases: Any) -> None:
    if len(found) > 1 and found[0].size and len({draws.tobytes() for draws in found[:8]}) == 1:
        raise Violation(f"{subject.name} draws the same numbers whatever the seed", cases=cases)


def _expect_distribution(
    draws: Any, declared: Distribution, prop: OperatorProperty, subject: Subject, cases: Any
) -> None:
    mean, variance = float(declared.mean(prop)), float(declared.variance(prop))
    count = draws.size
    if not count:
        return
    error = sqrt(variance / count)
    if abs(draws.mean() - mean) > _SIGMAS * error + 1e-6:
        raise Violation(
            f"the mean of {count} draws of {prop!r} is {draws.mean():.5g}, expected {mean:.5g}",
            cases=cases,
        )
    squares = (draws - mean) ** 2
    spread = float(squares.std()) / sqrt(count)
    if abs(squares.mean() - variance) > _SIGMAS * spread + 1e-6 * (1 + variance):
        raise Violation(
            f"the variance of {count} draws of {prop!r} is {squares.mean():.5g}, expected {variance:.5g}",
            cases=cases,
        )
    if declared.cdf is not None:
        _expect_cdf(np.sort(draws), declared, prop, cases)


def _expect_cdf(draws: Any, declared: Distribution, prop: OperatorProperty, cases: Any) -> None:
    """The test of Kolmogorov and Smirnov; between equal draws the function is looked at once."""
    assert declared.cdf is not None
    values, counts = np.unique(draws, return_counts=True)
    empirical = np.cumsum(counts) / draws.size
    distance = float(np.abs(empirical - np.asarray(declared.cdf(prop, values))).max())
    if distance > 3.5 / sqrt(draws.size):
        raise Violation(
            f"the distribution function of {draws.size} draws of {prop!r} is off by {distance:.3g}",
            cases=cases,
        )

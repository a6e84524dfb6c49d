"""Group F: draws of random operators."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod, sqrt
from time import process_time
from typing import Any, Final

import numpy as np

from operad.operator import OperatorProperty
from operad.resource import ResourceRequest
from operad_check.cases.kinds import LARGE, ORDINARY
from operad_check.cases.params import candidates
from operad_check.cases.strategies import BESIDE, case_of, completed_types, made
from operad_check.register import Evidence, check
from operad_check.trials.reference import numbers_of
from operad_check.trials.subject import Subject
from operad_check.trials.trial import Trial, raising
from operad_check.trials.violation import Verdict, Violation, shown_by
from operad_sdk.contract import Distribution

_DRAWS: Final = 20_000
_RUNS: Final = 4000
_MOST_S: Final = 3.0
"""Processor time after which fewer draws do."""
_ENOUGH: Final = 2000
_FEWEST: Final = 256
"""Draws up to which nothing is said of their correlations."""
_TYPES: Final = ("float64", "float32", "int32")
_SIGMAS: Final = 6.0
"""A correct operator is reported once in 5e8 tests."""


@check("F218", ORDINARY, LARGE, pooled=True)
def distribution(trials: list[Trial]) -> Evidence:
    """Random draws have the declared distribution, and follow the seed and nothing else.

    A wrong scale or a biased mask trains, only worse; nobody notices.

    Broken by:
        mask = generator.random(shape) < p    # keeps with probability p, and should drop
    Within:
        spec = "data:(*S) -> output:(*S)"
        resource = ResourceRequest.RANDOM
        contract = Contract(distribution=Distribution(mean=lambda p: 0.75, variance=lambda p: 3 / 16))
        def forward(op_ctx, data):
            generator, shape, p = op_ctx.requested[0].generator, data.shape, 0.25
            HERE
            return mask.astype(data.dtype)
    Fix:
        Compare the formula with Contract(distribution=...), and draw from op_ctx.requested.
    How:
        Compare moments and distribution function of many draws, those of a long array among them; look for
        correlations at all lags up to half of them; check that another seed gives other draws.
    """
    random = [trial for trial in trials if _is_random(trial)]
    if not random:
        return None
    subject = random[0].subject
    declared = subject.contract.distribution
    if declared is None:
        raise Violation(
            f"{subject.name} draws random numbers and declares no distribution",
            "Declare Contract(distribution=Distribution(mean=..., variance=...)).",
            [random[0].case],
            Verdict.UNDECLARED,
        )
    usual = [
        trial for trial in random if all(subject.cls.params[name].is_required for name in trial.case.params)
    ]
    example = max(usual or random, key=lambda trial: sum(prod(shape) for shape in trial.out_shapes))
    return sum(
        _check_draws(subject, declared, params, example)
        for params in declared.params or [example.case.params, *_others(subject, declared, example)]
    )


def _others(subject: Subject, declared: Distribution, example: Trial) -> list[Mapping[str, Any]]:
    """Parameters with which the moments are others than the example's: values of each that matters."""
    usual = _moments(declared, example.prop)
    found: list[Mapping[str, Any]] = []
    for name, param in subject.cls.params.items():
        if param.type not in (float, int) or name in subject.contract.params:
            continue
        different = []
        for value in candidates(subject, param, 1):
            prop = made(subject, {**example.case.params, name: value})
            moments = _moments(declared, prop) if prop is not None else usual
            if moments != usual and np.isfinite(moments).all() and moments[1] >= 0:
                different.append({**example.case.params, name: value})
        found += different[:1] + different[2:3]
    return found


def _moments(declared: Distribution, prop: OperatorProperty) -> tuple[float, float]:
    variance = float(numbers_of("variance", declared.variance, prop, shape=()))
    return float(numbers_of("mean", declared.mean, prop, shape=())), variance


def _is_random(trial: Trial) -> bool:
    kinds = trial.prop.forward_resource(trial.in_shapes)
    return ResourceRequest.RANDOM in kinds or ResourceRequest.PARALLEL_RANDOM in kinds


def _check_draws(subject: Subject, declared: Distribution, params: Mapping[str, Any], example: Trial) -> int:
    with raising("the constructor"):
        prop: OperatorProperty = subject.cls(**params)
    shapes = declared.shapes if declared.shapes is not None else example.in_shapes
    types = next(filter(None, (completed_types(subject, prop, np.dtype(name), BESIDE) for name in _TYPES)))
    found: list[Any] = []
    count = 0
    end = process_time() + _MOST_S
    for seed in range(_RUNS):
        trial = Trial(subject, case_of(subject, prop, params, shapes, types, True, seed))
        outputs = trial.forward().outputs
        draws = np.asarray(outputs[0], np.float64)
        if declared.draws:
            draws = numbers_of("draws", declared.draws, trial.prop, trial.inputs, outputs)
        found.append(draws.ravel())
        count += found[-1].size
        if (count >= _DRAWS and seed) or not count or (count >= _ENOUGH and process_time() > end):
            break
    with shown_by(case_of(subject, prop, params, shapes, types, True, 0)):
        if _moments(declared, prop)[1]:
            _expect_other_draws(found, subject)
        everything = np.concatenate(found)
        _expect_distribution(everything, declared, prop)
        _expect_independent(everything, prop)
    return count


def _expect_other_draws(found: list[Any], subject: Subject) -> None:
    others = found[1:8]
    # what is drawn may come with the rounding of what it was added to
    shared = min(draws.size for draws in found[:8])  # how many there are may depend on the inputs
    if others and shared and all(np.allclose(found[0][:shared], d[:shared], atol=1e-6) for d in others):
        raise Violation(f"{subject.name} draws the same numbers whatever the seed")


def _expect_independent(draws: Any, prop: OperatorProperty) -> None:
    """Raise Violation if draws correlate with later ones: one served two elements, or they begin again."""
    centred = draws - draws.mean() if draws.size else draws
    power = float((centred**2).sum())
    if draws.size <= _FEWEST or not power:
        return
    spectrum = np.fft.rfft(centred, 2 * draws.size)
    correlations = np.fft.irfft(np.abs(spectrum) ** 2)[1 : draws.size // 2] / power
    lag = int(np.argmax(np.abs(correlations)))
    if abs(correlations[lag]) > _SIGMAS / sqrt(draws.size):
        raise Violation(
            f"draws of {prop!r} and those {lag + 1} later correlate by {correlations[lag]:.2g}, expected 0",
            fix="Draw one number per element.",
        )


def _expect_distribution(draws: Any, declared: Distribution, prop: OperatorProperty) -> None:
    mean, variance = _moments(declared, prop)
    count = draws.size
    if not count:
        return
    if np.isnan(draws).any():
        raise Violation(f"{np.isnan(draws).sum()} of {count} draws of {prop!r} are NaN")
    error = sqrt(variance / count)
    if abs(draws.mean() - mean) > _SIGMAS * error + 1e-6:
        raise Violation(f"the mean of {count} draws of {prop!r} is {draws.mean():.5g}, expected {mean:.5g}")
    squares = (draws - mean) ** 2
    spread = float(squares.std()) / sqrt(count)
    if abs(squares.mean() - variance) > _SIGMAS * spread + 1e-6 * (1 + variance):
        raise Violation(
            f"the variance of {count} draws of {prop!r} is {squares.mean():.5g}, expected {variance:.5g}"
        )
    if declared.cdf is not None:
        _expect_cdf(np.sort(draws), declared, prop)


def _expect_cdf(draws: Any, declared: Distribution, prop: OperatorProperty) -> None:
    """Compare draws with the distribution function by the test of Kolmogorov and Smirnov.

    Equal draws are looked at once, at the upper end of the step.
    """
    assert declared.cdf is not None
    values, counts = np.unique(draws, return_counts=True)
    empirical = np.cumsum(counts) / draws.size
    expected = numbers_of("cdf", declared.cdf, prop, values, shape=values.shape)
    distance = float(np.abs(empirical - expected).max())
    if distance > 3.5 / sqrt(draws.size):
        raise Violation(
            f"the distribution function of {draws.size} draws of {prop!r} is off by {distance:.3g}"
        )

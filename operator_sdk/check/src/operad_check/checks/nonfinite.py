"""Group F: NaN and infinities."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from operad_check.cases.kinds import ORDINARY
from operad_check.cases.retype import is_random
from operad_check.cases.strategies import domain_of
from operad_check.comparison.closeness import at, expect_close
from operad_check.comparison.flat import is_flat
from operad_check.comparison.trusted import beside_each_other
from operad_check.register import Evidence, check
from operad_check.trials.trial import Array, Trial
from operad_check.trials.violation import OperatorRaised, Violation

_STEP = 2.0**-6


@check("F212", ORDINARY)
def nonfinite(trial: Trial) -> Evidence:
    """A NaN in an input propagates to the outputs that depend on it, and infinities do no harm.

    A NaN says that something upstream went wrong; an operator that turns it into a number hides that.

    Broken by:
        def forward(data): return np.where(data > 0, data, 0)    # NaN > 0 is False
    Within:
        spec = "data:(*S) -> output:(*S)"
        accepts = "floating"
        HERE
    Fix:
        Use functions that pass NaN on (np.maximum), or declare Contract(nan_policy=reason).
    How:
        Check outputs for a NaN, and for infinities, in one element of each floating argument in turn.
    """
    rng = np.random.default_rng([trial.case.seed, 3])
    contract = trial.subject.contract
    if not any(_is_tested(trial, i) for i in range(len(trial.inputs))):
        return None
    assert trial.result  # what fails on ordinary numbers is another check's
    compared = 0
    for i, name in enumerate(trial.arguments):
        if not _is_tested(trial, i) or not trial.inputs[i].size:
            continue
        place = tuple(int(rng.integers(size)) for size in trial.in_shapes[i])
        for value in (np.nan, np.inf, -np.inf):
            try:
                found = _outputs(trial, _with(trial, i, place, value))
            except OperatorRaised as error:
                if error.is_refusal:
                    continue
                raise Violation(f"with {at(name, place)} = {value}, {error}") from error
            is_nan = np.isnan(value)
            if is_nan and not contract.nan_policy:
                _expect_shown(trial, i, place, found)
            if not contract.nan_policy if is_nan else contract.domain(name) is None:
                _expect_as_reference(trial, i, place, value)
            compared += 1
    return compared


def _expect_shown(trial: Trial, i: int, place: tuple[int, ...], found: list[Array]) -> None:
    value = trial.inputs[i][place]
    moved = _outputs(trial, _with(trial, i, place, value + _STEP))
    back = _outputs(trial, _with(trial, i, place, value - _STEP))
    shapes = [[array.shape for array in each] for each in (trial.result.outputs, moved, back)]
    if any(each != shapes[0] for each in shapes):
        return  # the value decides how much there is
    depends = [
        np.isfinite(one) & ((one - centre) * (centre - other) > 0)  # rises or falls on both sides
        for one, centre, other in _floating(trial, moved, trial.result.outputs, back)
    ]
    shown = [np.isnan(array) for (array,) in _floating(trial, found)]
    if any(flags.any() for flags in depends) and not any(flags.any() for flags in shown):
        name = at(trial.arguments[i], place)
        output = next(n for n, flags in zip(_names(trial), depends, strict=True) if flags.any())
        raise Violation(f"{name} = NaN shows nowhere, and {output} depends on it")


def _outputs(trial: Trial, inputs: list[Array]) -> list[Array]:
    """Outputs for other arguments, by an operator made for their values where values decide shapes."""
    if trial.is_shaped_by_values:
        return trial.with_inputs(inputs).result.outputs
    return trial.forward(inputs).outputs


def _expect_as_reference(trial: Trial, i: int, place: tuple[int, ...], value: float) -> None:
    """Compare outputs that cannot be NaN, integers and booleans, with a reference given the same value."""
    function = trial.subject.contract.reference
    if function is None or is_random(trial) or all(dtype.kind == "f" for dtype in trial.out_types):
        return
    inputs = dict(zip(trial.arguments, _with(trial, i, place, value), strict=True))
    try:
        names, found, expected = beside_each_other(
            Trial(trial.subject, replace(trial.case, inputs=inputs)), function
        )
    except Violation:  # it was not written for such numbers
        return
    words = f"where {at(trial.arguments[i], place)} is {'NaN' if np.isnan(value) else value}"
    whole = [one if one.dtype.kind != "f" else None for one in found]
    expect_close(names, whole, expected, words, (0.0, 0.0))


def _is_tested(trial: Trial, i: int) -> bool:
    return trial.in_types[i].kind == "f" and domain_of(trial.subject.contract, trial.arguments[i]).is_real


def _names(trial: Trial) -> list[str]:
    return [n for n, dtype in zip(trial.outputs, trial.out_types, strict=True) if dtype.kind == "f"]


def _floating(trial: Trial, *groups: list[Any]) -> list[tuple[Array, ...]]:
    rows = zip(*groups, strict=True)
    return [row for row, dtype in zip(rows, trial.out_types, strict=True) if dtype.kind == "f"]


def _with(trial: Trial, i: int, place: tuple[int, ...], value: Any) -> list[Array]:
    inputs = [array.copy() for array in trial.inputs]
    inputs[i][place] = value
    return inputs


@check("B311", ORDINARY)
def nonfinite_heads(trial: Trial) -> Evidence:
    """A NaN in a head gradient propagates to the gradients that depend on it.

    It says that something above went wrong. A gradient that turns it into a number hides that.

    Broken by:
        def data_grad(output_grad): return np.nan_to_num(output_grad)
    Within:
        spec = "data:(*S) -> output:(*S)"
        accepts = "floating"
        def forward(data): return data * 1
        HERE
    Fix:
        Let NaN pass; clip and clean outside of operators, where it can be seen.
    How:
        Check that a NaN in one element of each head gradient shows in the gradients that depend on it.
    """
    contract = trial.subject.contract
    if not any(trial.differentiable()) or contract.why_head_is_ignored(trial.prop) or contract.nan_policy:
        return None
    rng = np.random.default_rng([trial.case.seed, 5])
    compared, is_zero = 0, is_flat(trial, trial.backward())
    for k in range(trial.visible):
        head = trial.out_grads[k]
        if head.dtype.kind != "f" or not head.size:
            continue
        place = tuple(int(rng.integers(size)) for size in head.shape)
        usual, moved, poisoned = [trial.backward(_with_head(trial, k, place, v)) for v in (1.0, 3.0, np.nan)]
        follows = _differ(usual, moved)
        if follows and not any(array is not None and np.isnan(array).any() for array in poisoned):
            name = at(f"head gradient of {trial.outputs[k]}", place)
            raise Violation(
                f"{name} = NaN shows nowhere, and the gradient of {trial.arguments[follows[0]]} follows it"
            )
        compared += len(follows)
    return compared or (None if is_zero else 0)


def _differ(one: Any, other: Any) -> list[int]:
    """Places at which finite gradients differ."""
    pairs = zip(one, other, strict=True)
    return [i for i, (a, b) in enumerate(pairs) if a is not None and (np.isfinite(a - b) & (a != b)).any()]


def _with_head(trial: Trial, k: int, place: tuple[int, ...], value: float) -> list[Any]:
    heads: list[Any] = [None if head is None else head.copy() for head in trial.out_grads]
    heads[k][place] = value
    return heads

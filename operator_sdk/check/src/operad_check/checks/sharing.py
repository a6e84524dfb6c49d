"""Group R: several shapes on one property, several operators at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from operad.operator import Operator, OperatorProperty
from operad_check.cases.kinds import LARGE, ORDINARY
from operad_check.comparison.bitwise import expect_same
from operad_check.running.register import Evidence, check
from operad_check.trials.fresh_copy import fresh_copy
from operad_check.trials.interrupt import interrupted
from operad_check.trials.trial import Trial, raising
from operad_check.trials.violation import OperatorRaised, Violation

_MOST = 16
"""Pairs of cases that are tried."""
_LARGE = 256
"""Elements of the arguments beyond which another computation may be chosen."""
_FEW = 1
"""Pairs on large arrays that are tried."""
_FIRST_LINES = 12
"""Lines at which a second thread comes in while the first one is the first to use a module."""


@check("R501", ORDINARY, pooled=True)
def interleaved_shapes(trials: Sequence[Trial]) -> Evidence:
    """Compare shapes taken in turn by one property, and values by one operator, with each alone."""
    if not trials or not trials[0].arguments:
        return None
    compared = sum(_after_other_values(trial) for trial in trials[:: max(1, len(trials) // _MOST)])
    for first, second in _pairs_of_shapes(trials):
        expected = [both_passes(trial, trial.new_operator()) for trial in (first, second)]
        cases = [first.case, second.case]
        try:
            found = _in_turn(first, second)
        except OperatorRaised as error:
            message = f"with shapes {first.in_shapes} and {second.in_shapes} in turn, {error}"
            raise Violation(message, cases=cases) from error
        for trial, results, alone in zip((first, second), found, expected, strict=True):
            other = second if trial is first else first
            when = f"with shapes {trial.in_shapes} and {other.in_shapes} in turn on one property"
            compared += expect_same(_names(trial), results, alone, when, cases=cases)
    return compared + _in_another_order(trials)


def _in_another_order(trials: Sequence[Trial]) -> int:
    """Compare the cases in two orders, each run by an operator whose module has run nothing yet."""
    chosen = [trial for trial in trials if trial.is_runnable][:_MOST]
    before = _fresh_runs(chosen)
    if before is None or not before.leave_something:
        return 0
    after = _fresh_runs(chosen[::-1])
    assert after is not None, "there was a copy"
    return sum(_expect_same_runs(trial, after, before, chosen) for trial in chosen)


class _Runs(NamedTuple):
    """Results by the identity of the trial; and whether the runs changed something in the module."""

    results: dict[int, list[Any]]
    leave_something: bool


def _fresh_runs(trials: Sequence[Trial]) -> _Runs | None:
    found = fresh_copy(trials[0].subject) if trials else None
    if found is None:
        return None
    copies = [Trial(found.subject, trial.case) for trial in trials]
    state = found.state()
    pairs = zip(trials, copies, strict=True)
    results = {id(trial): both_passes(copy, copy.new_operator()) for trial, copy in pairs}
    return _Runs(results, found.state() != state)


def _expect_same_runs(trial: Trial, found: _Runs, expected: _Runs, others: Sequence[Trial]) -> int:
    exact = not trial.subject.contract.nondeterministic

    def expect(one: _Runs, other: _Runs, when: str, **violation: Any) -> int:
        results = one.results[id(trial)], other.results[id(trial)]
        return expect_same(_names(trial), *results, when, is_exact=exact, **violation)

    try:
        return expect(found, expected, "where the process has run other cases before")
    except Violation:
        alone = _fresh_runs([trial])
        for other in others:  # one that is enough
            last = _fresh_runs([other, trial])
            assert alone is not None, "there was a copy"
            assert last is not None, "likewise"
            when = f"after a run with {other.case.describe()}"
            expect(last, alone, when, cases=[other.case, trial.case])
        raise


def _after_other_values(trial: Trial) -> int:
    """Compare forward on an operator that has just run on other values."""
    if not trial.is_runnable:
        return 0
    operator = trial.new_operator()
    others = [np.array(np.flip(array)) for array in trial.inputs]
    try:
        trial.forward(others, operator=operator)
    except OperatorRaised:
        return 0  # values whose order matters
    found = trial.forward(operator=operator)
    when = "where the operator has run on other values before"
    exact = not trial.subject.contract.nondeterministic
    return expect_same(
        trial.outputs, found.outputs, trial.result.outputs, when, is_exact=exact, cases=[trial.case]
    )


def _in_turn(first: Trial, second: Trial) -> list[list[Any]]:
    with raising("the constructor"):
        prop = first.new_property()
    pair = [_sharing(first, prop), _sharing(second, prop)]
    operators: list[Operator] = []
    for trial in pair:
        with raising("create_operator"):
            prop.infer_shape(trial.in_shapes)
        operators.append(trial.new_operator())
    forward = [trial.forward(operator=operator) for trial, operator in zip(pair, operators, strict=True)]
    found = []
    for trial, operator, result in zip(pair, operators, forward, strict=True):
        gradients = []
        if any(trial.differentiable()):
            gradients = trial.backward(operator=operator, outputs=result.outputs, aux=result.aux)
        found.append([*result.outputs, *result.aux, *gradients])
    return found


def _sharing(trial: Trial, prop: OperatorProperty) -> Trial:
    """Same trial on a property that other trials use too."""
    made = Trial(trial.subject, trial.case)
    made.prop = prop
    return made


def _pairs_of_shapes(trials: Sequence[Trial]) -> Iterator[tuple[Trial, Trial]]:
    """Trials of equal parameters and other shapes, in both orders."""
    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        if trial.is_runnable:
            groups.setdefault(repr(sorted(trial.case.params.items())), []).append(trial)
    found = 0
    for group in groups.values():
        for first, second in pairwise(group):
            if first.in_shapes != second.in_shapes and found < _MOST:
                found += 1
                yield (first, second) if found % 2 else (second, first)


@check("R502", ORDINARY, LARGE, pooled=True)
def two_threads(trials: Sequence[Trial]) -> Evidence:
    """Check that one operator, stopped at each line of its code, and another in a second thread agree."""
    usable = [trial for trial in trials if trial.is_runnable]
    large = [trial for trial in usable if sum(array.size for array in trial.inputs) > 1] or usable
    small = [trial for trial in large if _num_elements(trial) <= _LARGE] or large[:2]
    compared = 0
    for first, second in [*list(pairwise(small))[-_MOST:], *_large_pairs(large)]:
        expected = [both_passes(trial, trial.new_operator()) for trial in (first, second)]
        operators = [trial.new_operator() for trial in (first, second)]
        run = interrupted(
            lambda trial=first, operator=operators[0]: both_passes(trial, operator),  # type: ignore[misc]
            lambda trial=second, operator=operators[1]: both_passes(trial, operator),  # type: ignore[misc]
        )
        cases = [first.case, second.case]
        for error in run.errors:
            raise Violation(f"with another operator of its kind in another thread, {error}", cases=cases)
        when = f"with another operator of its kind running in another thread at {run.place}"
        compared += expect_same(_names(first), run.value, expected[0], when, cases=cases)
        for value in run.others:
            expect_same(_names(second), value, expected[1], when, cases=cases)
    return compared + (_first_use(*large[:2]) if len(large) > 1 else 0)


def _num_elements(trial: Trial) -> int:
    return sum(array.size for array in trial.inputs)


def _large_pairs(trials: Sequence[Trial]) -> Iterator[tuple[Trial, Trial]]:
    """Some trials on large arrays, each with one of the same shapes and other values."""
    large = [trial for trial in trials if _num_elements(trial) > _LARGE]
    for trial in large[:: max(1, len(large) // _FEW)][:_FEW]:
        inputs = {name: np.array(np.flip(array)) for name, array in trial.case.inputs.items()}
        other = Trial(trial.subject, replace(trial.case, inputs=inputs, out_grads=()))
        if other.is_runnable:  # else the order of values matters
            yield trial, other


def _first_use(first: Trial, second: Trial) -> int:
    """Check two threads that are the first to use the operator's module; the second starts at one line."""
    runs = [_fresh_runs([trial]) for trial in (first, second)]
    if runs[0] is None or runs[1] is None or not runs[0].leave_something:
        return 0
    expected = [runs[0].results[id(first)], runs[1].results[id(second)]]
    exact = not first.subject.contract.nondeterministic
    cases = [first.case, second.case]
    compared = 0
    for line in range(_FIRST_LINES):
        found = fresh_copy(first.subject)
        assert found is not None, "there were copies"
        one, two = Trial(found.subject, first.case), Trial(found.subject, second.case)
        operators = [one.new_operator(), two.new_operator()]
        run = interrupted(
            lambda one=one, operator=operators[0]: both_passes(one, operator),  # type: ignore[misc]
            lambda two=two, operator=operators[1]: both_passes(two, operator),  # type: ignore[misc]
            only=line,
        )
        when = f"where two threads are the first to use the operator, one of them at {run.place}"
        for error in run.errors:
            raise Violation(f"{when}, {error}", cases=cases)
        compared += expect_same(_names(first), run.value, expected[0], when, is_exact=exact, cases=cases)
        for value in run.others:
            compared += expect_same(_names(second), value, expected[1], when, is_exact=exact, cases=cases)
        if not run.others:
            break
    return compared


def both_passes(trial: Trial, operator: Operator) -> list[Any]:
    """Outputs, states and gradients."""
    result = trial.forward(operator=operator)
    if not any(trial.differentiable()):
        return [*result.outputs, *result.aux]
    gradients = trial.backward(operator=operator, outputs=result.outputs, aux=result.aux)
    return [*result.outputs, *result.aux, *gradients]


def _names(trial: Trial) -> list[str]:
    gradients = [f"gradient of {name}" for name in trial.arguments] if any(trial.differentiable()) else []
    return [*trial.outputs, *trial.states, *gradients]

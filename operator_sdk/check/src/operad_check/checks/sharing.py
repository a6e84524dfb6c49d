"""Group R: several shapes on one property, several operators at once."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from operad.operator import Operator, OperatorProperty
from operad_check.cases.kinds import LARGE, ORDINARY
from operad_check.comparison.bitwise import expect_reproduced
from operad_check.running.variation import OUTPUTS, Runs, Values, Variant, variation
from operad_check.trials.fresh_copy import fresh_copy
from operad_check.trials.interrupt import interrupted
from operad_check.trials.trial import Forward, Trial, raising
from operad_check.trials.violation import OperatorRaised, Violation

_MOST = 16
"""Pairs of cases that are tried."""
_LARGE = 256
"""Elements of the arguments beyond which another computation may be chosen."""
_FEW = 1
"""Pairs on large arrays that are tried."""
_FIRST_LINES = 12
"""Lines at which a second thread comes in while the first one is the first to use a module."""


def both_passes(trial: Trial, operator: Operator) -> list[Any]:
    """Outputs, states and gradients."""
    return _with_gradients(trial, operator, trial.forward(operator=operator))


def _with_gradients(trial: Trial, operator: Operator, result: Forward) -> list[Any]:
    gradients = trial.any_gradients(operator=operator, outputs=result.outputs, aux=result.aux)
    return [*result.outputs, *result.aux, *gradients]


def _names(trial: Trial) -> list[str]:
    return [*trial.outputs, *trial.states, *trial.gradient_names]


ALL: Final = Values(
    "outputs, states and gradients", _names, lambda trial: both_passes(trial, trial.new_operator()), list
)
"""Arrays that `both_passes` gives."""


@variation("R501", ORDINARY, values=ALL, pooled=True)
def interleaved_shapes(trials: Sequence[Trial]) -> Runs:
    """One property works for several shapes in alternation, one operator for several sets of values.

    A property belongs to a node, not to a shape: the same network runs with batches of two sizes, turn by
    turn. And operators are shared between nodes.

    Broken by:
        def infer_shape(self, in_shapes):
            self.rows = in_shapes[0][0]    # and forward uses self.rows
    Within:
        spec = "data:(N + 1, D + 1) -> output:(N + 1, D + 1)"
        accepts = "floating"
        HERE
            return super().infer_shape(in_shapes)
        def forward(self, data): return data / self.rows
    Fix:
        Take shapes from the arrays, or keep them in the operator that create_operator makes for them.
    How:
        Compare shapes taken in turn by one property, and values by one operator, with each alone.
    """
    if not trials or not trials[0].arguments:
        return None
    compared = 0
    for trial in trials[:: max(1, len(trials) // _MOST)]:
        compared += yield from _after_other_values(trial)
    for first, second in _pairs_of_shapes(trials):
        pair = (first, second)
        expected = [array for trial in pair for array in both_passes(trial, trial.new_operator())]
        names = [name for trial in pair for name in _names(trial)]
        when = f"with shapes {first.in_shapes} and {second.in_shapes} in turn on one property"
        values = ALL._replace(names=lambda _, names=names: names)  # type: ignore[misc]
        cases = {"cases": [first.case, second.case]}
        compared += yield Variant(when, partial(_in_turn, *pair), values, expected, first, cases)
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
    def expect(one: _Runs, other: _Runs, when: str, **violation: Any) -> int:
        results = one.results[id(trial)], other.results[id(trial)]
        return expect_reproduced(trial, _names(trial), *results, when, **violation)

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


def _after_other_values(trial: Trial) -> Generator[Variant, int, int]:
    """Forward on an operator that has just run on other values."""
    if not trial.is_runnable:
        return 0
    operator = trial.new_operator()
    try:
        trial.forward([np.array(np.flip(array)) for array in trial.inputs], operator=operator)
    except OperatorRaised:
        return 0  # values whose order matters
    when = "where the operator has run on other values before"
    run, cases = partial(trial.forward, operator=operator), {"cases": [trial.case]}
    return (yield Variant(when, run, OUTPUTS, trial=trial, violation=cases))


def _in_turn(first: Trial, second: Trial) -> list[Any]:
    with raising("the constructor"):
        prop = first.new_property()
    pair = [_sharing(first, prop), _sharing(second, prop)]
    operators: list[Operator] = []
    for trial in pair:
        with raising("create_operator"):
            prop.infer_shape(trial.in_shapes)
        operators.append(trial.new_operator())
    forward = [trial.forward(operator=operator) for trial, operator in zip(pair, operators, strict=True)]
    return list(chain(*map(_with_gradients, pair, operators, forward)))


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


@variation("R502", ORDINARY, LARGE, values=ALL, pooled=True)
def two_threads(trials: Sequence[Trial]) -> Runs:
    """Two operators in two threads do not interfere.

    The engine runs independent nodes at once. What they share must not be written: module variables,
    class attributes, caches.

    Broken by:
        _scratch = np.empty(1 << 20)    # one for the whole module
        def forward(data):
            return np.exp(data, out=_scratch[:data.size])
    Not run:
        A module of its own.
    Fix:
        Use local arrays, or temp space from op_ctx.requested.
    How:
        Check that one operator, stopped at each line of its code, and another in a second thread agree.
    """
    usable = [trial for trial in trials if trial.is_runnable]
    large = [trial for trial in usable if sum(array.size for array in trial.inputs) > 1] or usable
    small = [trial for trial in large if _num_elements(trial) <= _LARGE] or large[:2]
    compared = 0
    for pair in [*list(pairwise(small))[-_MOST:], *_large_pairs(large)]:
        expected = [both_passes(trial, trial.new_operator()) for trial in pair]
        when = "with another operator of its kind running in another thread at {}"
        compared += (yield from _interrupted(pair, expected, when)) or 0
    if len(large) > 1:
        compared += yield from _first_use(*large[:2])
    return compared


def _interrupted(
    pair: Sequence[Trial], expected: Sequence[Any], when: str, only: int | None = None
) -> Generator[Variant, int, int | None]:
    """Both passes of one trial, while those of the other run in a second thread; None: they never did."""
    first, second = (partial(both_passes, trial, trial.new_operator()) for trial in pair)
    run = interrupted(first, second, only)
    words = when.format(run.place)
    cases: dict[str, Any] = {"cases": [trial.case for trial in pair]}
    for error in run.errors:
        raise Violation(f"{words}, {error}", **cases)
    compared = yield Variant(words, lambda: run.value, ALL, expected[0], pair[0], cases)
    for value in run.others:
        compared += yield Variant(words, partial(list, value), ALL, expected[1], pair[1], cases)
    return compared if run.others else None


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


def _first_use(first: Trial, second: Trial) -> Generator[Variant, int, int]:
    """Check two threads that are the first to use the operator's module; the second starts at one line."""
    runs = [_fresh_runs([trial]) for trial in (first, second)]
    if runs[0] is None or runs[1] is None or not runs[0].leave_something:
        return 0
    expected = [runs[0].results[id(first)], runs[1].results[id(second)]]
    compared = 0
    for line in range(_FIRST_LINES):
        found = fresh_copy(first.subject)
        assert found is not None, "there were copies"
        pair = [Trial(found.subject, trial.case) for trial in (first, second)]
        when = "where two threads are the first to use the operator, one of them at {}"
        count = yield from _interrupted(pair, expected, when, line)
        if count is None:
            break
        compared += count
    return compared

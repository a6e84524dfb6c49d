"""Group R: values of run-time parameters, which a call gives to an operator that is there already.

A call with another learning rate makes no operator again: it is a copy of the last one, in which these
parameters are others (`rebound`). What a constructor made of them, or looked at, is the old value's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from operad.context import cpu
from operad.errors import OperadError
from operad.operator import Operator, OperatorProperty
from operad_check.cases.kinds import ORDINARY
from operad_check.cases.params import planned_values
from operad_check.checks.parameters import lists_of_other_length, wrong_values
from operad_check.running.variation import RESULTS, Runs, Variant, variation
from operad_check.trials.trial import Trial, raising
from operad_check.trials.violation import Violation, shown_by

_MOST_CASES: Final = 8


@variation("R510", ORDINARY, values=RESULTS, pooled=True)
def bound_anew(trials: Sequence[Trial]) -> Runs:
    """The values that a call gives to run-time parameters are used, and validated.

    A call with another value makes no operator again. What the constructor made of the first value, or
    refused, is there no more, and the call computes with the old one.

    Broken by:
        def __init__(self, **params):
            super().__init__(**params)
            self.factor = 1 / self.temperature    # of the first call
    Within:
        spec = "data:(*S) -> output:(*S)"
        temperature = param(float, 1.0, gt=0, run_time=True, doc="What the data is divided by.")
        accepts = "floating"
        HERE
        def forward(self, data): return data * self.factor
    Fix:
        Compute it in forward, or define rebound(values), which makes and checks it again.
    How:
        Give values to an operator that was made with others, and those that the constructor refuses.
    """
    if not trials[0].subject.cls.params.run_time:
        return None
    different = {repr(trial.case.params): trial for trial in trials if not trial.prop.is_shaped_by_values}
    count = 0
    for trial in list(different.values())[-_MOST_CASES:]:
        given = {name: getattr(trial.prop, name) for name in trial.prop.params.run_time}
        other = _with_other_values(trial, given)
        with shown_by(trial.case):
            count += _expect_refused(trial, other, given)
        count += yield _with_values(trial, other, given)
    return count


def _with_other_values(trial: Trial, given: Mapping[str, Any]) -> OperatorProperty:
    """The operator of a trial with another value of each run-time parameter, where it takes one."""
    made = trial.prop
    params = dict(trial.case.params)
    for name, value in given.items():
        length = len(value) if isinstance(value, tuple) else 0
        declared = trial.prop.params[name]
        values = [
            *planned_values(trial.subject, declared, length),
            tuple(reversed(value)) if length else value,
        ]
        for candidate in values:
            try:
                other: OperatorProperty = trial.subject.cls(**{**params, name: candidate})
            except Exception:  # noqa: BLE001 - it does not go with the others; or S104 reports it
                continue
            if getattr(other, name) != value:
                made, params = other, {**params, name: candidate}
                break
    return made


def _with_values(trial: Trial, other: OperatorProperty, given: Mapping[str, Any]) -> Variant:
    """A run of the other operator, once it has the trial's values."""
    with raising("rebound"):
        prop = other.rebound(given)
    with raising("create_operator"):
        before: Operator = other.create_operator(cpu(), trial.in_shapes, trial.in_types)
        bound = before.rebound(prop) or prop.create_operator(cpu(), trial.in_shapes, trial.in_types)
    values = ", ".join(f"{name}={getattr(other, name)!r}" for name in given)
    when = f"where the operator was made with {values}, and got its values by rebound"
    return Variant(
        when, partial(trial.forward, operator=bound), trial=trial, violation={"cases": [trial.case]}
    )


def _expect_refused(trial: Trial, other: OperatorProperty, given: Mapping[str, Any]) -> int:
    """Raise Violation if values that the constructor refuses beside the others are accepted later."""
    count = 0
    for name, value in given.items():
        for wrong in [*wrong_values(trial.prop.params[name]), *lists_of_other_length(value)]:
            try:
                trial.subject.cls(**{**trial.case.params, name: wrong})
                continue
            except OperadError as error:
                refused = error
            except Exception:  # noqa: BLE001 - S104 reports it
                continue
            try:
                other.rebound({**given, name: wrong})
            except OperadError:
                count += 1
                continue
            raise Violation(
                f"a call may give {name}={wrong!r}, with which the operator cannot be made: {refused}",
                fix="Define rebound(values), which looks at the values again: see OperatorProperty.rebound.",
            )
    return count

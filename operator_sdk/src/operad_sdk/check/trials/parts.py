"""Values between the parts of an operator that is made of others."""

from __future__ import annotations

from operad_sdk.check.trials.trial import Array, Trial, raising
from operad_sdk.declare.composed_operator import ComposedOperator


def values_between(trial: Trial) -> list[Array]:
    """Arrays that the parts compute, the outputs among them; empty for an operator that has no parts."""
    operator = trial.new_operator()
    if not isinstance(operator, ComposedOperator):
        return []
    op_ctx = trial.context(trial.prop.forward_resource(trial.in_shapes))
    inputs, states = ([array.copy() for array in group] for group in (trial.inputs, trial.aux))
    with raising("forward"):
        return list(operator.values(op_ctx, inputs, states).values())

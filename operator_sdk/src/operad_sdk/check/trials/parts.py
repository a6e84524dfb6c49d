"""Values between the parts of an operator that is made of others."""

from __future__ import annotations

from collections.abc import Callable

from operad_sdk.check.trials.trial import Array, Trial
from operad_sdk.declare.composed_operator import ComposedOperator
from operad_sdk.declare.composed_property import ComposedProperty


def replace_between(trial: Trial, function: Callable[[Array], Array]) -> bool:
    """Have each part read `function` of what others compute; False for an operator that has no parts."""
    if not isinstance(trial.prop, ComposedProperty) or not isinstance(trial.operator, ComposedOperator):
        return False  # what the self-audit breaks is composed, too, and not run by its parts
    trial.operator.between = function
    return True


def values_between(trial: Trial, is_train: bool | None = None, with_gradients: bool = False) -> list[Array]:
    """Arrays that the parts compute, the outputs among them; empty for an operator that has no parts.

    Args:
        is_train: Default: as in the case.
        with_gradients: Whether to compute gradients as well.
    """
    found: list[Array] = []

    def kept(array: Array) -> Array:
        found.append(array)
        return array

    own = Trial(trial.subject, trial.case)
    if replace_between(own, kept):
        own.forward(is_train=is_train)
        if with_gradients:
            own.backward()
    return found

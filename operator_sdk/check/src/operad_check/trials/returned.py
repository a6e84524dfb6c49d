"""Values that an operator's functions return, before they are broadcast and cast into the outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

import numpy as np

from operad.context import cpu
from operad.operator import Operator
from operad_check.trials.trial import Trial
from operad_check.trials.violation import Violation
from operad_sdk.declare.binder import BoundOperator
from operad_sdk.declare.function import Bound


def expect_fitting(trial: Trial, run: Callable[[Operator], object], names: list[str]) -> None:
    """Raise Violation unless returned arrays have their targets' shapes, and are not repeated to fill them.

    A number stands for itself everywhere, and a gradient of an argument that broadcasts comes unreduced.

    Args:
        run: Runs the pass in question with an operator.
        names: Names of the targets by place.
    Raises:
        Violation: An array has another shape.
    """
    prop: Any = trial.prop
    if getattr(prop, "_forward_function", None) is None:  # not `binding`, which raises where there is none
        return
    seen: list[tuple[str, Any]] = []
    run(_observed(prop, trial, names, seen))
    shapes = {name: tuple(shape) for name, shape in zip(trial.outputs, trial.out_shapes, strict=True)}
    shapes |= {f"gradient of {n}": s for n, s in zip(trial.arguments, trial.in_shapes, strict=True)}
    # an argument may be returned to be broadcast, and the gradient of one that is comes unreduced
    given = set() if prop.is_elementwise else {tuple(shape) for shape in trial.in_shapes}
    unreduced = {tuple(shape) for shape in trial.out_shapes} if prop.broadcast_arguments else set()
    for name, value in seen:
        allowed = {shapes[name]} | (given if name in trial.outputs else unreduced)
        if isinstance(value, np.ndarray) and value.ndim and value.shape not in allowed:
            raise Violation(f"the function returns {name} of shape {value.shape}, expected {shapes[name]}")


def _observed(prop: Any, trial: Trial, names: list[str], seen: list[tuple[str, Any]]) -> Operator:
    """The operator, noting what its functions return."""

    def watched(bound: Bound) -> Bound:
        if not bound.returned:
            return bound
        own = copy(bound)

        def function(*values: Any) -> Any:
            result = bound.function(*values)
            seen.extend(_named(bound, result, names))
            return result

        own.function = function
        return own

    binding = prop.binding
    gradients = [watched(bound) for bound in binding.gradients]
    made = BoundOperator(
        prop,
        cpu(),
        trial.in_shapes,
        trial.in_types,
        forward=watched(binding.forward),
        gradients=gradients,
    )
    made.direct = None
    return made


def _named(bound: Bound, result: Any, names: list[str]) -> Iterator[tuple[str, Any]]:
    values = result if len(bound.returned) > 1 and isinstance(result, tuple) else (result,)
    for slot, value in zip(bound.returned, values, strict=False):
        if isinstance(slot.position, int) and slot.group != "extra":
            yield names[slot.position], value

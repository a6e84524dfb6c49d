"""Faults in an operator's declarations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from operad.operator import OperatorProperty
from operad_sdk.check.mutations.backward import flows, leaves_out
from operad_sdk.check.mutations.fault import Fault
from operad_sdk.check.trials.trial import Trial
from operad_sdk.check.trials.violation import OperatorRaised


def _declares_all(cls: type) -> Mapping[str, Any]:
    return {
        "declare_backward_dependency": OperatorProperty.declare_backward_dependency,
        "backward_dependency": OperatorProperty.backward_dependency,
    }


def _guesses(cls: type) -> Mapping[str, Any]:
    base: Any = cls

    def infer_shape(self: Any, in_shapes: Sequence[Any]) -> Any:
        shapes = [None if shape is None else tuple(size or 2 for size in shape) for shape in in_shapes]
        return base.infer_shape(self, shapes)

    return {"infer_shape": infer_shape}


def _denies_gradients(cls: type) -> Mapping[str, Any]:
    return {"differentiable_inputs": lambda self: [False] * len(self.list_arguments())}


def leaves_out_by_default(trial: Trial) -> bool:
    """Return whether backward leaves arrays undeclared, also with the defaults of all optional parameters."""
    required = {
        name: value for name, value in trial.case.params.items() if trial.prop.params[name].is_required
    }
    if not leaves_out(trial):
        return False
    try:
        usual = Trial(trial.subject, replace(trial.case, params=required))
    except OperatorRaised:  # the defaults do not go with these shapes
        return False
    return usual.arguments == trial.arguments and leaves_out(usual)


DECLARED: Final = (
    Fault(
        "backward declares to read every array",
        ("M402",),
        declared=_declares_all,
        applies=leaves_out_by_default,
    ),
    Fault(
        "inference takes unknown axes to have length 2",
        ("F203", "F204"),
        declared=_guesses,
        applies=lambda trial: any(trial.in_shapes) and any(trial.out_shapes),
    ),
    Fault("gradients are declared not to exist", ("B308",), declared=_denies_gradients, applies=flows),
)

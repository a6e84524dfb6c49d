"""Faults in an operator's declarations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from operad.errors import ShapeError
from operad.operator import OperatorProperty
from operad_check.cases.positions import axis_params
from operad_check.cases.shapes import has_own_inference_from_outputs
from operad_check.mutations.backward import flows, leaves_out
from operad_check.mutations.fault import Fault
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised


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


def _refuses_first_from_end(cls: type) -> Mapping[str, Any]:
    base: Any = cls

    def infer_shape(self: Any, in_shapes: Sequence[Any]) -> Any:
        first = -_axes_of(in_shapes)
        for name in axis_params(cls):
            value = getattr(self, name)
            if first and first in (value if isinstance(value, tuple) else (value,)):
                raise ShapeError(f"there is no axis {first}")
        return base.infer_shape(self, in_shapes)

    return {"infer_shape": infer_shape}


def _axes_of(shapes: Sequence[Any]) -> int:
    return len(shapes[0]) if shapes and shapes[0] is not None else 0


def takes_first_from_end(trial: Trial) -> bool:
    """Return whether an axis of several may be the first one, counted from the end; -1 may stand for none."""
    first = -_axes_of(trial.in_shapes)
    for name in axis_params(trial.subject.cls):
        value: Any = first if trial.prop.params[name].type is int else (first,)
        with suppress(OperatorRaised):
            Trial(trial.subject, replace(trial.case, params={**trial.case.params, name: value}))
            return first < -2
    return False


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
    Fault(
        "the first axis is refused where it is counted from the end",
        ("S113",),
        declared=_refuses_first_from_end,
        applies=takes_first_from_end,
    ),
    Fault(
        "nothing is inferred from outputs",
        ("F223",),
        declared=lambda _: {"infer_shape_backward": lambda self, in_shapes, out_shapes: list(in_shapes)},
        applies=lambda trial: has_own_inference_from_outputs(trial.subject.cls),
    ),
    Fault("gradients are declared not to exist", ("B308",), declared=_denies_gradients, applies=flows),
)

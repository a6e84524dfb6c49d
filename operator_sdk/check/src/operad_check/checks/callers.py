"""Group F: the lists that a caller hands to inference, and the shapes that the caller knows."""

from __future__ import annotations

from typing import Any

from operad.errors import OperadError
from operad_check.cases.kinds import ORDINARY
from operad_check.register import Evidence, check
from operad_check.trials.trial import Trial, raising
from operad_check.trials.violation import Violation


@check("F220", ORDINARY)
def callers_lists(trial: Trial) -> Evidence:
    """Inference does not modify the lists it gets, and never changes a known argument.

    The lists are the graph's own. An argument that inference changes is another graph.

    Broken by:
        def infer_shape(self, in_shapes):
            in_shapes[1] = in_shapes[0]    # the caller's list
    Within:
        spec = "lhs:(*S), rhs:(*S) -> output:(*S)"
        def forward(lhs): return lhs
        HERE
            return super().infer_shape(in_shapes)
    Fix:
        Return new lists; raise a ShapeError where known shapes contradict each other.
    How:
        Check that inference leaves the lists that it is handed, and known arguments, as they are.
    """
    if not trial.in_shapes:
        return None
    prop, shapes, types = trial.prop, list(trial.in_shapes), list(trial.in_types)
    outputs: list[Any] = [tuple(shape) for shape in trial.out_shapes]
    calls: dict[str, tuple[Any, list[list[Any]]]] = {
        "infer_shape": (prop.infer_shape, [shapes]),
        "infer_shape from the first argument": (prop.infer_shape, [[shapes[0], *[None] * (len(shapes) - 1)]]),
        "infer_type": (prop.infer_type, [types]),
        "infer_shape_backward": (prop.infer_shape_backward, [shapes, outputs]),
        "infer_shape_backward from the outputs": (prop.infer_shape_backward, [[None] * len(shapes), outputs]),
    }
    for name, (function, lists) in calls.items():
        handed = [list(each) for each in lists]
        try:
            with raising(name):
                found = function(*handed)
        except Exception as error:  # F204 reports what it refuses
            if not isinstance(getattr(error, "error", error), OperadError):
                raise
            continue
        if handed != lists:
            raise Violation(f"{name} changes the list it is handed, from {lists} to {handed}")
        completed = found if name.startswith("infer_shape_backward") else found[0]
        for argument, given, kept in zip(trial.arguments, lists[0], completed, strict=True):
            if given is not None and kept != given:
                raise Violation(f"{name} makes {kept} of {argument}, which is known to be {given}")
    _expect_no_overruling(trial, shapes, outputs)
    return len(calls)


def _expect_no_overruling(trial: Trial, shapes: list[Any], outputs: list[Any]) -> None:
    """Raise Violation if outputs that contradict known arguments make inference change the arguments."""
    longer = [(shape[0] + 1, *shape[1:]) if shape else (2,) for shape in outputs]
    try:
        found = trial.prop.infer_shape_backward(list(shapes), longer)
    except OperadError:
        return
    if list(found) != shapes:
        raise Violation(
            f"infer_shape_backward makes {list(found)} of arguments known to be {shapes}, to fit "
            f"outputs {longer}"
        )

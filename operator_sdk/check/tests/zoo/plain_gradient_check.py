"""The gradient check that most libraries give to authors, to measure the contract harness against.

Arrays of one shape (or of several), all gradients written once, each beside a central difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from operad.context import cpu
from operad.operator import BackwardArrays, ForwardArrays, OpContext, OpReq
from operad_check.cases.kinds import SMOOTH
from operad_check.plan.profile import PROFILES
from operad_check.running.session import Session
from operad_check.trials.case import Case
from operad_check.trials.resources import resources_for
from operad_check.trials.subject import Subject, subject_of

_STEP = 1e-6
_OFF_THE_LATTICE = 0.02
"""Authors choose inputs at which the function is smooth; these are moved off zeros and ties."""


def plain_gradient_check(operator: Any, shapes: int = 1) -> bool:
    """Whether a gradient check with so many shapes fails, or raises, on the operator.

    Losses that ignore the head gradient pass: authors know that it says nothing of them.
    """
    subject = subject_of(operator)
    if subject.contract.ignores_head_gradient:
        return False
    try:
        pool = Session(subject, PROFILES["dev"]).pool(SMOOTH)
        ordinary = [case for case in pool if all(array.size > 1 for array in case.inputs.values())]
        return not all(_passes(subject, case) for case in ordinary[:shapes])
    except Exception:  # noqa: BLE001 - whatever it raises, the author sees it
        return True


def _passes(subject: Subject, case: Case) -> bool:
    prop = subject.cls(**case.params)
    names = prop.list_arguments()
    flows = [
        f and case.inputs[n].dtype.kind == "f"
        for f, n in zip(prop.differentiable_inputs(), names, strict=True)
    ]
    if not any(flows):
        return True
    rng = np.random.default_rng(case.seed)
    inputs = [
        case.inputs[name] + (rng.random(case.inputs[name].shape) * _OFF_THE_LATTICE if flag else 0)
        for name, flag in zip(names, flows, strict=True)
    ]
    shapes, types = [array.shape for array in inputs], [array.dtype for array in inputs]
    operator = prop.create_operator(cpu(), shapes, types)
    aux = [case.aux[name] for name in prop.list_auxiliary_states()]

    def forward(values: list[Any]) -> list[Any]:
        out_shapes: list[Any] = prop.infer_shape(shapes)[1]
        out_types: list[Any] = prop.infer_type(types)[1]
        outputs = [np.zeros(shape, dtype) for shape, dtype in zip(out_shapes, out_types, strict=True)]
        context = OpContext(cpu(), case.is_train, resources_for(prop.forward_resource(shapes), 0))
        states = [array.copy() for array in aux]
        operator.forward(context, ForwardArrays(values, [OpReq.WRITE] * len(outputs), outputs, states))
        return outputs

    with np.errstate(all="ignore"):
        outputs = forward([array.copy() for array in inputs])
        heads = [np.ones_like(out) if i < prop.num_visible_outputs else None for i, out in enumerate(outputs)]
        grads = [np.zeros_like(array) if flag else None for array, flag in zip(inputs, flows, strict=True)]
        req = [OpReq.WRITE if flag else OpReq.NULL for flag in flows]
        context = OpContext(cpu(), case.is_train, resources_for(prop.backward_resource(shapes), 0))
        operator.backward(
            context, BackwardArrays(heads, inputs, outputs, req, grads, [array.copy() for array in aux])
        )
        for i, grad in enumerate(grads):
            if grad is not None and not np.allclose(grad, _numeric(forward, inputs, i, heads), 1e-3, 1e-4):
                return False
    return True


def _numeric(forward: Any, inputs: list[Any], i: int, heads: list[Any]) -> Any:
    def loss(place: Any, step: float) -> float:
        values = [array.copy() for array in inputs]
        values[i][place] += step
        pairs = zip(heads, forward(values), strict=True)
        return float(sum((head * out).sum() for head, out in pairs if head is not None))

    found = np.zeros_like(inputs[i])
    for place in np.ndindex(found.shape):
        found[place] = (loss(place, _STEP) - loss(place, -_STEP)) / (2 * _STEP)
    return found

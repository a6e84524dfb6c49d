"""Group D: CPU and GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad.context import gpu, num_gpus
from operad.errors import OperadError
from operad.operator import BackwardArrays, BackwardEntry, ForwardArrays, OpContext, OpReq
from operad.resource import ResourceRequest
from operad_check.cases.kinds import ORDINARY
from operad_check.cases.retype import is_random
from operad_check.comparison.closeness import coarsest, expect_close, magnitude, tolerance
from operad_check.register import Evidence, check
from operad_check.trials.trial import Trial, poisoned, raising
from operad_check.trials.violation import Unavailable, Violation


@check("D605", ORDINARY)
def devices_agree(trial: Trial) -> Evidence:
    """The GPU gives what the CPU gives, within a tolerance.

    A network is trained on one and used on the other.

    Broken by:
        def forward(data): return np.asarray([f(x) for x in data])    # NumPy's array, whatever data is
    Not run:
        It takes a GPU.
    Fix:
        Use op_ctx.xp, or write a kernel for the device that agrees with the other.
    How:
        Both passes on arrays of the GPU.
    """
    if not num_gpus():
        raise Unavailable("this machine has no GPU that CuPy can use")
    if is_random(trial):
        return None  # devices draw by their own generators
    try:
        operator = trial.prop.create_operator(gpu(), trial.in_shapes, trial.in_types)
    except OperadError:
        return None  # no kernel for the device
    expected = list(trial.result.outputs)
    names = list(trial.outputs)
    arrays, found = _on_gpu(trial, operator)
    if any(trial.differentiable()):
        expected += trial.backward(keep=_declared(trial))
        names += trial.gradient_names
        found += _backward_on_gpu(trial, operator, arrays)
    bounds = tolerance(trial.subject.contract, coarsest(trial))
    scale = magnitude(trial.inputs, expected)
    return expect_close(names, _fetched(trial, found), expected, "on the GPU", bounds, scale)


def _on_gpu(trial: Trial, operator: Any) -> tuple[dict[str, list[Any]], list[Any]]:
    """The device's arrays by group, and the outputs."""
    xp = gpu().xp
    inputs = [xp.asarray(array) for array in trial.inputs]
    outputs = [xp.asarray(array) for array in trial.poisoned_outputs()]
    aux = [xp.asarray(array) for array in trial.aux]
    op_ctx = _context(trial, trial.prop.forward_resource(trial.in_shapes))
    with raising("forward on the GPU"):
        operator.forward(op_ctx, ForwardArrays(inputs, [OpReq.WRITE] * len(outputs), outputs, aux))
    heads = [None if head is None else xp.asarray(head) for head in trial.out_grads]
    return {"in_data": inputs, "out_data": outputs, "out_grad": heads, "aux": aux}, list(outputs)


def _backward_on_gpu(trial: Trial, operator: Any, arrays: dict[str, list[Any]]) -> list[Any]:
    xp, req = gpu().xp, trial.write_requests()
    keep = _declared(trial)
    given = {
        kind: [
            None if array is None or keep(BackwardEntry(kind, i), np.empty(0)) is None else array
            for i, array in enumerate(group)
        ]
        for kind, group in arrays.items()
    }
    described = zip(req, trial.in_shapes, trial.in_types, strict=True)
    grads = [None if r is OpReq.NULL else xp.asarray(poisoned(shape, dtype)) for r, shape, dtype in described]
    op_ctx = _context(trial, trial.prop.backward_resource(trial.in_shapes))
    with raising("backward on the GPU"):
        operator.backward(op_ctx, BackwardArrays(**given, req=req, in_grad=grads, aux_states=arrays["aux"]))
    return grads


def _declared(trial: Trial) -> Any:
    declared = set(trial.prop.backward_dependency(trial.differentiable()))
    return lambda entry, array: array.copy() if entry in declared else None


def _context(trial: Trial, requests: Sequence[ResourceRequest]) -> OpContext:
    return OpContext(gpu(), trial.case.is_train, tuple(_Space() for _ in requests))


class _Space:
    """Scratch memory on the device: operators that draw random numbers make no other request."""

    def get_space(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return gpu().xp.full(shape, 7, dtype)


def _fetched(trial: Trial, arrays: Sequence[Any]) -> list[Any]:
    for array in arrays:
        if isinstance(array, np.ndarray):
            raise Violation(f"on the GPU, a result of {trial.prop.name} is an array of NumPy")
    return [None if array is None else array.get() for array in arrays]

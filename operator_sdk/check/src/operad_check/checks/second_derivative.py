"""Group B: gradients of gradients against numeric derivatives of gradients."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, Final, final

import numpy as np

from operad.context import cpu
from operad.errors import OperadError
from operad.operator import BackwardArrays, OperatorProperty, OpReq
from operad_check.cases.kinds import SMOOTH
from operad_check.checks.derivative import expect_derivative
from operad_check.comparison.numeric_derivative import Outputs, numeric_derivatives
from operad_check.comparison.point import random_direction, real_arguments
from operad_check.comparison.sample_points import named_point, sample_points
from operad_check.register import Evidence, check
from operad_check.trials.trial import Array, Trial, raising

_LEAST: Final = 1e-6
"""Magnitude of terms that counts at least: where larger ones cancel on the way, some 1e-14 is left."""
_HEADS: Final = 1000
"""Salts of the directions of head gradients begin here."""


@check("B312", SMOOTH)
def along_directions(trial: Trial) -> Evidence:
    """The gradient of the gradient, where there is one, is the gradient's derivative.

    Gradient penalties and Newton steps are trained with it, and nothing else ever looks at it.

    Broken by:
        @gradient(traced=lambda output_grad, data: output_grad)
        def data_grad(output_grad, data): return 2 * data * output_grad
    Not run:
        A traced gradient beside its own.
    Fix:
        Give traced= the formula that the gradient computes; leave it out where that uses NumPy alone.
    How:
        Compare gradients of gradients with numeric derivatives of the gradients along random directions.
    """
    wanted = second_order_arguments(trial)
    made = None if not any(wanted) else gradient_operator(trial, wanted)
    if made is None:
        return None
    compared = 0
    for inputs in islice(sample_points(trial), 1, None):
        compared += agree_at(trial, made, wanted, inputs)
    return compared


def gradient_operator(trial: Trial, wanted: Sequence[bool]) -> OperatorProperty | None:
    """Operator that computes the gradients; None if no gradients can be differentiated."""
    try:
        return trial.prop.gradient_operator(cpu(), trial.in_shapes, trial.in_types, wanted)
    except OperadError:
        return None


def second_order_arguments(trial: Trial) -> list[bool]:
    """Flags of the gradients that are compared."""
    contract = trial.subject.contract
    if contract.why_no_numeric_gradient(trial.prop):
        return [False] * len(trial.arguments)
    if any(trial.out_types[k] != np.float64 for k in range(trial.visible)):
        return [False] * len(trial.arguments)
    real = real_arguments(trial)
    return [flag and i in real for i, flag in enumerate(trial.differentiable())]


def agree_at(trial: Trial, made: OperatorProperty, wanted: Sequence[bool], inputs: Sequence[Array]) -> int:
    """Compare at one point; return the number of gradient elements that were compared."""
    point = _Point(trial, made, wanted, inputs)
    steps = {i: random_direction(trial, i, 2) for i, flag in enumerate(wanted) if flag and inputs[i].size}
    found = numeric_derivatives(lambda distance: point.gradients(distance, steps))
    rng = np.random.default_rng([trial.case.seed, _HEADS])
    cotangents = [
        np.where(derivative.is_smooth, rng.integers(-64, 65, derivative.values.shape) / 64, 0.0)
        for derivative in found
    ]
    count = sum(int(derivative.is_smooth.sum()) for derivative in found)
    if not steps or 2 * count <= sum(derivative.values.size for derivative in found):
        return 0
    analytic, magnitude = point.second_order(cotangents, steps)
    if not np.isfinite(analytic) and not point.is_finite:
        return 0
    names = " and ".join(trial.arguments[i] for i in steps)
    what = f"gradient of the gradient of {names} along a random direction"
    with named_point(trial, inputs):
        expect_derivative(trial, what, found, cotangents, analytic, max(magnitude, _LEAST))
    return count


@final
class _Point:
    """The gradients of an operator, as a function of steps away from certain inputs."""

    def __init__(
        self, trial: Trial, made: OperatorProperty, wanted: Sequence[bool], inputs: Sequence[Array]
    ) -> None:
        self._trial = trial
        self._wanted = wanted
        self._made = made
        self._entries = trial.prop.backward_dependency(wanted)
        self._inputs = inputs
        self._heads = [np.asarray(trial.out_grads[k]) for k in range(trial.visible)]
        self._head_steps = [random_direction_of(trial, head.shape, k) for k, head in enumerate(self._heads)]
        shapes, types = made.infer_shape([])[0], made.infer_type([])[0]
        with raising("the gradient of the gradient"):
            self._operator = made.create_operator(cpu(), shapes, types)  # type: ignore[arg-type]
        self.is_finite = all(np.isfinite(array).all() for array in self.gradients(0.0, {}))

    def gradients(self, distance: float, steps: dict[int, Array]) -> Outputs:
        """Gradients by the operator's own backward, `distance` along the steps."""
        inputs = [array.copy() for array in self._inputs]
        for i, step in steps.items():
            inputs[i] += step * distance
        heads = [head + step * distance for head, step in zip(self._heads, self._head_steps, strict=True)]
        return self._backward(inputs, heads)

    def _backward(self, inputs: Sequence[Array], heads: Sequence[Array]) -> list[Array]:
        result = self._trial.forward(inputs)
        pairs = zip(inputs, self._wanted, strict=True)
        filled = [np.zeros_like(array) if flag else None for array, flag in pairs]
        requests = [OpReq.WRITE if flag else OpReq.NULL for flag in self._wanted]
        missing = [None] * (len(self._trial.outputs) - len(heads))
        self._trial.backward(
            [*heads, *missing], inputs=inputs, outputs=result.outputs, req=requests, in_grads=filled
        )
        return [array for array in filled if array is not None]

    def second_order(self, cotangents: Sequence[Array], steps: dict[int, Array]) -> tuple[float, float]:
        """The derivative of `cotangents` times the gradients along the steps, and its magnitude."""
        trial = self._trial
        outputs = trial.forward([array.copy() for array in self._inputs]).outputs
        groups: dict[str, Any] = {"out_grad": self._heads, "in_data": self._inputs, "out_data": outputs}
        reads = [np.asarray(groups[kind][index]) for kind, index in self._entries]
        grads = [np.zeros_like(array) for array in reads]
        flags = zip(self._made.differentiable_inputs(), reads, strict=True)
        requests = [OpReq.WRITE if flag and array.dtype.kind == "f" else OpReq.NULL for flag, array in flags]
        with raising("the gradient of the gradient"):
            arrays = BackwardArrays(list(cotangents), reads, [None] * len(cotangents), requests, grads)
            self._operator.backward(trial.context([]), arrays)
        heads = [np.zeros_like(head) for head in self._heads]
        parts = []
        for (kind, index), grad in zip(self._entries, grads, strict=True):
            if kind == "out_data" and index < trial.visible:
                heads[index] += grad
            elif kind == "in_data" and index in steps:
                parts.append(grad * steps[index])
            elif kind == "out_grad":
                parts.append(grad * self._head_steps[index])
        if any(head.any() for head in heads):
            through = self._backward([array.copy() for array in self._inputs], heads)
            places = [i for i, flag in enumerate(self._wanted) if flag]
            parts += [grad * steps[i] for i, grad in zip(places, through, strict=True) if i in steps]
        return float(sum(part.sum() for part in parts)), float(sum(abs(part).sum() for part in parts))


def random_direction_of(trial: Trial, shape: tuple[int, ...], salt: int) -> Array:
    """Steps of a head gradient."""
    rng = np.random.default_rng([trial.case.seed, _HEADS + salt])
    return rng.integers(-64, 65, shape) / 64

"""Points at which derivatives are taken: an operator as a function of steps away from its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, final

import numpy as np

from operad.operator import Operator
from operad_check.cases.strategies import domain_of, on_lattice
from operad_check.comparison.numeric_derivative import NumericDerivative, Outputs, numeric_derivatives
from operad_check.trials.reference import call_reference
from operad_check.trials.trial import Array, Forward, Trial
from operad_check.trials.violation import Violation
from operad_sdk.domains import Domain, Index, Integers

_FLOOR: Final = 0.5
"""The smallest component of a direction, so that no element of a gradient drops out."""

_FINE: Final = 2**20
"""Points in a unit from which components are taken."""

_BETWEEN: Final = 0.375
"""Part of the way to another draw; not its middle, where two labels count alike."""


@final
class Point:
    """An operator at certain inputs, as a function of steps away from them.

    A new operator runs forward and at once backward: what it may keep in between is another check's.
    """

    def __init__(self, trial: Trial, inputs: Sequence[Array], *, is_loss: bool | None = None) -> None:
        self._trial = trial
        self._inputs = inputs
        declared = bool(trial.subject.contract.why_head_is_ignored(trial.prop))
        self._loss = trial.subject.contract.loss if (declared if is_loss is None else is_loss) else None
        self._operator, self._other = trial.new_operator(), trial.new_operator()
        self._result = self._forward(inputs, self._operator)
        self._counted = floating_outputs(trial)
        self.names = ["loss"] if self._loss else [trial.outputs[k] for k in self._counted]
        heads = [np.ones(())] if self._loss else [trial.out_grads[k] for k in self._counted]
        finite = [np.isfinite(output) for output in self._outputs(self._result, inputs)]
        self.is_finite = all(where.all() for where in finite)
        # an output that is not defined here counts on neither side
        self.cotangents = [np.where(where, head, 0.0) for where, head in zip(finite, heads, strict=True)]

    def gradients(self, cotangents: Sequence[Array]) -> list[Any]:
        """Gradients by backward, for these gradients of the outputs that count."""
        heads = list(self._trial.out_grads)
        if not self._loss:
            for k, cotangent in zip(self._counted, cotangents, strict=True):
                heads[k] = cotangent.astype(self._trial.out_types[k])
        # whether all of them are filled, and not replaced, is another check's matter
        poisoned = self._trial.poisoned_gradients(self._trial.write_requests())
        filled = [None if array is None else np.zeros_like(array) for array in poisoned]
        self._trial.backward(
            heads,
            inputs=self._inputs,
            outputs=self._result.outputs,
            in_grads=filled,
            aux=[state.copy() for state in self._result.aux],
            operator=self._operator,
        )
        return filled

    def moved(self, directions: Mapping[int, Array]) -> Callable[[float], Outputs]:
        """Function from a distance along the arguments' directions to the outputs that count."""

        def moved(distance: float) -> Outputs:
            if distance == 0:
                return self._outputs(self._result, self._inputs)
            inputs = [array.copy() for array in self._inputs]
            for i, direction in directions.items():
                inputs[i] += direction * distance
            return self._outputs(None, inputs)

        return moved

    def derivatives(self, directions: Mapping[int, Array]) -> list[NumericDerivative]:
        """Derivatives of the outputs that count, along the directions of these arguments."""
        return numeric_derivatives(self.moved(directions))

    def _outputs(self, result: Forward | None, inputs: Sequence[Array]) -> Outputs:
        if self._loss is not None:
            loss = call_reference(self._loss, self._trial, inputs)
            if np.asarray(loss).dtype.kind not in "biuf":
                raise Violation(f"the declared loss gives {loss!r:.60}, expected a number")
            return [np.asarray(loss, np.float64)]
        result = result or self._forward(inputs, self._other)
        return [result.outputs[k].astype(np.float64) for k in self._counted]

    def _forward(self, inputs: Sequence[Array], operator: Operator) -> Forward:
        return self._trial.forward([array.copy() for array in inputs], operator=operator)


def compared_arguments(trial: Trial, *, is_drawn: bool = False) -> dict[int, int] | None:
    """A count of 0 for each argument whose gradient a derivative can be compared with; None if for none.

    Args:
        is_drawn: Of arguments that cannot be moved, and lie between two draws of their domain instead.
    """
    contract = trial.subject.contract
    is_ignored = bool(contract.why_head_is_ignored(trial.prop))
    if contract.why_no_numeric_gradient(trial.prop) or (is_ignored and contract.loss is None):
        return None
    if not is_ignored and not are_double(trial):
        return None
    found = _drawn_arguments(trial) if is_drawn else real_arguments(trial)
    return {i: 0 for i in found if trial.differentiable()[i]} or None


def real_arguments(trial: Trial) -> list[int]:
    """Arguments whose elements may be moved a little."""
    return [i for i, domain in _domains(trial) if domain.along(np.zeros(trial.in_shapes[i])) is not None]


def _drawn_arguments(trial: Trial) -> list[int]:
    """Arguments, but for integers, of which no element may be moved on its own: labels, ascending rows."""
    others = [(i, domain) for i, domain in _domains(trial) if not isinstance(domain, Integers | Index)]
    return [i for i, domain in others if domain.along(np.zeros(trial.in_shapes[i])) is None]


def _domains(trial: Trial) -> list[tuple[int, Domain]]:
    names = enumerate(trial.arguments)
    return [
        (i, domain_of(trial.subject.contract, name))
        for i, name in names
        if trial.inputs[i].dtype == np.float64
    ]


def between_draws(trial: Trial, i: int) -> tuple[list[Array], Array]:
    """The inputs with one argument between itself and another draw of its domain, and the way to that.

    Most domains that let no element be moved are convex: what lies between two ascending rows ascends, and
    mixtures of labels are what a smooth function of labels takes as well.
    """
    array, shapes = trial.inputs[i], dict(zip(trial.arguments, trial.in_shapes, strict=True))
    rng = np.random.default_rng([trial.case.seed, i])
    domain = domain_of(trial.subject.contract, trial.arguments[i])
    way = on_lattice(rng, domain, array.shape, array.dtype, trial.prop, shapes) - array
    inputs = [each.copy() for each in trial.inputs]
    inputs[i] += _BETWEEN * way
    return inputs, way


def unit_direction(trial: Trial, i: int, place: tuple[int, ...]) -> Array:
    """Direction that moves one element alone, as far as the domain allows that."""
    direction = np.zeros(trial.in_shapes[i])
    direction[place] = 1.0
    return _allowed(trial, i, direction)


def _allowed(trial: Trial, i: int, direction: Array) -> Array:
    allowed = domain_of(trial.subject.contract, trial.arguments[i]).along(direction)
    assert allowed is not None, "only arguments that can be moved are asked for"
    return allowed


def floating_outputs(trial: Trial) -> list[int]:
    """Visible outputs that have derivatives."""
    return [k for k in range(trial.visible) if trial.out_types[k].kind == "f"]


def are_double(trial: Trial) -> bool:
    """Return whether all compared outputs are float64: in float32, differences show steps of rounding."""
    counted = [trial.out_types[k] for k in floating_outputs(trial)]
    return bool(counted) and all(dtype == np.float64 for dtype in counted)


def random_direction(trial: Trial, i: int, salt: int) -> Array:
    """Components between the floor and 1 with random signs, no two of one size: ties then show as kinks."""
    rng = np.random.default_rng([trial.case.seed, i, salt])
    components = rng.integers(int(_FLOOR * _FINE), _FINE, trial.in_shapes[i]) / _FINE
    return _allowed(trial, i, np.asarray(components * rng.choice((-1.0, 1.0), trial.in_shapes[i])))

"""Group B: gradients against derivatives found numerically."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from operad_sdk.check.closeness import at
from operad_sdk.check.differences import Outputs, Slope, slopes
from operad_sdk.check.kinds import SMOOTH, WIDE
from operad_sdk.check.points import points
from operad_sdk.check.reference import call_reference
from operad_sdk.check.register import Evidence, check
from operad_sdk.check.trial import Array, Forward, Trial
from operad_sdk.check.violation import Violation

_RELATIVE: Final = 1e-6
"""Difference of gradient and derivative that is no violation, as a part of either."""

_FLOOR: Final = 0.5
"""The smallest component of a direction, so that no element of a gradient drops out."""

Place = tuple[int, tuple[int, ...]]
"""An argument and an index into it."""


@check("B301", SMOOTH)
def elementwise(trial: Trial) -> Evidence:
    """Every element is moved by itself; one that meets a kink is looked at again elsewhere."""
    compared = _places(trial)
    if compared is None:
        return None
    left = [(i, place) for i in compared for place in np.ndindex(trial.in_shapes[i])]
    for inputs in points(trial):
        point = _Point(trial, inputs)
        gradients = point.gradients(point.cotangents)
        later = []
        for i, place in left:
            direction = np.zeros(trial.in_shapes[i])
            direction[place] = 1.0
            found = point.slopes({i: direction})
            if not all(slope.is_smooth.all() for slope in found) or not _is_defined(
                point, gradients[i][place]
            ):
                later.append((i, place))
                continue
            what = f"gradient of {at(trial.arguments[i], place)}"
            _expect_slope(trial, what, found, point.cotangents, float(gradients[i][place]), 0.0)
            compared[i] += 1
        left = later
        if not left:
            break
    return {f"gradient of {trial.arguments[i]}": count for i, count in compared.items()}


@check("B302", WIDE)
def along_directions(trial: Trial) -> Evidence:
    """Each argument is moved in a random direction, then all together."""
    compared = _places(trial)
    if compared is None:
        return None
    moved = [(i,) for i in compared] + ([tuple(compared)] if len(compared) > 1 else [])
    for salt, group in enumerate(moved):
        directions = {i: _direction(trial, i, salt) for i in group if trial.inputs[i].size}
        if directions and any(_agrees_along(trial, inputs, directions) for inputs in points(trial)):
            for i in directions:
                compared[i] += 1
    return {f"gradient of {trial.arguments[i]}": count for i, count in compared.items()}


@check("B308", SMOOTH)
def no_hidden_slope(trial: Trial) -> Evidence:
    """Elements of arguments without a gradient are moved; smooth outputs must not follow."""
    if trial.subject.contract.no_numeric_gradient or not _are_double(trial):
        return None
    compared = {i: 0 for i in _real_arguments(trial) if not trial.differentiable()[i]}
    if not compared:
        return None
    for inputs in points(trial):
        point = _Point(trial, inputs, is_loss=False)
        for i in compared:
            for place in np.ndindex(trial.in_shapes[i]):
                direction = np.zeros(trial.in_shapes[i])
                direction[place] = 1.0
                for name, slope in zip(point.names, point.slopes({i: direction}), strict=True):
                    _expect_flat(trial.arguments[i], place, name, slope)
                    compared[i] += int(slope.is_smooth.any())
        if all(compared.values()):
            break
    return {f"slope along {trial.arguments[i]}": count for i, count in compared.items()}


@final
class _Point:
    """An operator at certain inputs, as a function of steps away from them.

    A new operator runs forward and at once backward: what it may keep in between is another check's.
    """

    def __init__(self, trial: Trial, inputs: Sequence[Array], *, is_loss: bool | None = None) -> None:
        self._trial = trial
        self._inputs = inputs
        declared = bool(trial.subject.contract.why_head_is_ignored(trial.prop))
        self._loss = trial.subject.contract.loss if (declared if is_loss is None else is_loss) else None
        self._operator = trial.new_operator()
        self._result = self._forward(inputs)
        self._counted = _floating_outputs(trial)
        self.names = ["loss"] if self._loss else [trial.outputs[k] for k in self._counted]
        self.cotangents: list[Array] = (
            [np.ones(())] if self._loss else [trial.out_grads[k] for k in self._counted]
        )
        self.is_finite = all(np.isfinite(output).all() for output in self._outputs(self._result, inputs))

    def gradients(self, cotangents: Sequence[Array]) -> list[Any]:
        """What backward gives for these gradients of the outputs that count."""
        heads = list(self._trial.out_grads)
        if not self._loss:
            for k, cotangent in zip(self._counted, cotangents, strict=True):
                heads[k] = cotangent.astype(self._trial.out_types[k])
        return self._trial.backward(
            heads,
            inputs=self._inputs,
            outputs=self._result.outputs,
            aux=[state.copy() for state in self._result.aux],
            operator=self._operator,
        )

    def slopes(self, directions: dict[int, Array]) -> list[Slope]:
        """Derivatives of the outputs that count, where these arguments are moved."""

        def moved(distance: float) -> Outputs:
            if distance == 0:
                return self._outputs(self._result, self._inputs)
            inputs = [array.copy() for array in self._inputs]
            for i, direction in directions.items():
                inputs[i] += direction * distance
            return self._outputs(None, inputs)

        return slopes(moved)

    def _outputs(self, result: Forward | None, inputs: Sequence[Array]) -> Outputs:
        if self._loss is not None:
            return [np.asarray(call_reference(self._loss, self._trial, inputs), np.float64)]
        result = result or self._forward(inputs)
        return [result.outputs[k].astype(np.float64) for k in self._counted]

    def _forward(self, inputs: Sequence[Array]) -> Forward:
        return self._trial.forward([array.copy() for array in inputs], operator=self._trial.new_operator())


def _places(trial: Trial) -> dict[int, int] | None:
    """A count for each argument whose gradient a derivative can be compared with; None if for none."""
    contract = trial.subject.contract
    is_ignored = bool(contract.why_head_is_ignored(trial.prop))
    if contract.no_numeric_gradient or (is_ignored and contract.loss is None):
        return None
    if not is_ignored and not _are_double(trial):
        return None
    return {i: 0 for i in _real_arguments(trial) if trial.differentiable()[i]} or None


def _real_arguments(trial: Trial) -> list[int]:
    """Arguments whose elements may be moved on their own."""
    domains = [trial.subject.contract.domain(name) for name in trial.arguments]
    return [
        i
        for i, (domain, dtype) in enumerate(zip(domains, trial.in_types, strict=True))
        if dtype == np.float64 and (domain is None or domain.is_real)
    ]


def _floating_outputs(trial: Trial) -> list[int]:
    return [k for k in range(trial.visible) if trial.out_types[k].kind == "f"]


def _are_double(trial: Trial) -> bool:
    """Whether differences of the outputs tell derivatives: one that is float32 has steps in it."""
    counted = [trial.out_types[k] for k in _floating_outputs(trial)]
    return bool(counted) and all(dtype == np.float64 for dtype in counted)


def _direction(trial: Trial, i: int, salt: int) -> Array:
    """Components between the floor and 1 with random signs."""
    rng = np.random.default_rng([trial.case.seed, i, salt])
    components = rng.integers(int(_FLOOR * 64), 65, trial.in_shapes[i]) / 64
    return np.asarray(components * rng.choice((-1.0, 1.0), trial.in_shapes[i]))


def _agrees_along(trial: Trial, inputs: Sequence[Array], directions: dict[int, Array]) -> bool:
    """Compare at one point; False where there is too little that is smooth."""
    point = _Point(trial, inputs)
    found = point.slopes(directions)
    if sum(slope.is_smooth.sum() for slope in found) * 2 <= sum(slope.is_smooth.size for slope in found):
        return False
    # outputs that are not smooth here get no gradient, so that they drop out on both sides
    cotangents = [
        np.where(slope.is_smooth, cotangent, 0.0)
        for slope, cotangent in zip(found, point.cotangents, strict=True)
    ]
    gradients = point.gradients(cotangents)
    parts = [direction * gradients[i] for i, direction in directions.items()]
    analytic = float(sum(part.sum() for part in parts))
    if not _is_defined(point, analytic):
        return False
    names = " and ".join(trial.arguments[i] for i in directions)
    magnitude = float(sum(abs(part).sum() for part in parts))
    _expect_slope(
        trial, f"gradient of {names} along a random direction", found, cotangents, analytic, magnitude
    )
    return True


def _is_defined(point: _Point, gradient: float) -> bool:
    """Whether a gradient says something: NaN does so only where all outputs are finite."""
    return bool(np.isfinite(gradient)) or point.is_finite


def _expect_slope(
    trial: Trial,
    what: str,
    found: Sequence[Slope],
    cotangents: Sequence[Array],
    gradient: float,
    magnitude: float,
) -> None:
    against = [slope.against(cotangent) for slope, cotangent in zip(found, cotangents, strict=True)]
    derivative, error, partial = (sum(column) for column in zip(*against, strict=True))
    declared = trial.subject.contract.tolerances.get("float64")
    relative = max(_RELATIVE, declared.relative if declared else 0.0)
    limit = relative * max(abs(derivative), abs(gradient), partial, magnitude) + 2 * error
    if not abs(gradient - derivative) <= limit + (declared.absolute if declared else 0.0):
        raise Violation(f"{what} is {gradient:.9g}, and the numeric derivative is {derivative:.9g}")


def _expect_flat(argument: str, place: tuple[int, ...], output: str, slope: Slope) -> None:
    limit = 1e-6 + 2 * slope.errors
    follows = slope.is_smooth & (abs(slope.values) > limit)
    if not follows.any():
        return
    where = tuple(int(k) for k in np.unravel_index(int(np.argmax(follows)), slope.values.shape))
    raise Violation(
        f"{at(output, where)} changes by {slope.values[where]:.6g} per unit of {at(argument, place)}, "
        f"and {argument} is declared to have no gradient"
    )

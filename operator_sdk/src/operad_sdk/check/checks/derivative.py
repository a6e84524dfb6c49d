"""Group B: gradients beside derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from operad_sdk.check.closeness import at
from operad_sdk.check.kinds import SMOOTH, WIDE
from operad_sdk.check.numeric import Difference, agrees, difference
from operad_sdk.check.reference import call_reference
from operad_sdk.check.register import Evidence, check
from operad_sdk.check.strategies import domain_of
from operad_sdk.check.trial import Array, Trial
from operad_sdk.check.violation import Violation
from operad_sdk.domains import Domain

_MOVES: Final = 4
"""How often an element at a kink is moved before it is given up in this case."""

_MOST: Final = 24
"""Elements of one argument that are differentiated in one case."""


@check("B301", SMOOTH)
def elementwise(trial: Trial) -> Evidence:
    """Every element (of small arrays) of every gradient."""
    if not has_derivative(trial):
        return None
    places = _differentiable(trial)
    inputs, smooth = _moved_off_kinks(trial, places)
    gradients = _gradients_at(trial, inputs)
    evidence = dict.fromkeys((trial.arguments[i] for i in places), 0)
    for i, place, numeric in smooth:
        found = float(gradients[i][place])
        name = trial.arguments[i]
        if not agrees(found, numeric):
            where = f" (at {name} = {inputs[i][place].item()!r})"
            raise Violation(
                f"gradient of {at(name, place)} is {found:.9g}, and the derivative is {numeric.value:.9g}{where}"
            )
        evidence[name] += found != 0
    return evidence


@check("B302", WIDE)
def directional(trial: Trial) -> Evidence:
    """A direction in which no element rests, for each argument and for all of them."""
    if not has_derivative(trial):
        return None
    places = _differentiable(trial)
    gradients = _gradients_at(trial, trial.inputs)
    compared = 0
    for group in [[i] for i in places] + ([places] if len(places) > 1 else []):
        direction = {i: _direction(trial, i) for i in group}
        numeric = _along(trial, trial.inputs, direction)
        if not numeric.is_smooth:
            continue
        found = sum(float((gradients[i] * step).sum()) for i, step in direction.items())
        terms = sum(float(np.abs(gradients[i] * step).sum()) for i, step in direction.items())
        slack = Difference(numeric.value, numeric.error + 1e-7 * terms, True)
        if not agrees(found, slack):
            names = ", ".join(trial.arguments[i] for i in group)
            raise Violation(
                f"along a direction of {names} the gradient gives {found:.9g}, and the derivative is "
                f"{numeric.value:.9g}"
            )
        compared += found != 0
    return compared


@check("B308", SMOOTH)
def zero_claims(trial: Trial) -> Evidence:
    """Arguments that are said to have no gradient: moved a little, they change nothing."""
    contract = trial.subject.contract
    if contract.no_numeric_gradient or contract.ignores_head_gradient:
        return None
    flows = trial.prop.differentiable_inputs()
    places = [i for i, flag in enumerate(flows) if not flag and _is_real(trial, i)]
    if not places or not any(dtype.kind == "f" for dtype in trial.out_types[: trial.visible]):
        return None
    inputs, smooth = _moved_off_kinks(trial, places)
    for i, place, numeric in smooth:
        if not agrees(0.0, numeric):
            name = at(trial.arguments[i], place)
            raise Violation(
                f"{trial.arguments[i]} is declared to have no gradient, and the derivative by {name} is "
                f"{numeric.value:.9g} (at {inputs[i][place].item()!r})"
            )
    return len(smooth)


def has_derivative(trial: Trial) -> bool:
    """Whether the gradient is one of outputs, or of a declared loss, and there is one."""
    contract = trial.subject.contract
    if contract.no_numeric_gradient or (contract.ignores_head_gradient and contract.loss is None):
        return False
    return bool(_differentiable(trial))


def _differentiable(trial: Trial) -> list[int]:
    return [i for i, flows in enumerate(trial.differentiable()) if flows and _is_real(trial, i)]


def _is_real(trial: Trial, place: int) -> bool:
    return trial.in_types[place].kind == "f" and _domain(trial, place).is_real


def _domain(trial: Trial, place: int) -> Domain:
    return domain_of(trial.subject.contract, trial.arguments[place])


def _gradients_at(trial: Trial, inputs: Sequence[Array]) -> list[Any]:
    result = trial.forward([array.copy() for array in inputs])
    return trial.backward(inputs=inputs, outputs=result.outputs, aux=result.aux)


def _objective(trial: Trial, inputs: list[Array]) -> tuple[Callable[[], Array], Array]:
    """What is differentiated: a function of the present values of `inputs`, and its weights."""
    loss = trial.subject.contract.loss
    if loss is not None and trial.subject.contract.ignores_head_gradient:
        return lambda: np.atleast_1d(np.asarray(call_reference(loss, trial, inputs), np.float64)), np.ones(1)
    used = [i for i in range(trial.visible) if trial.out_types[i].kind == "f"]
    weights = [np.asarray(trial.out_grads[i], np.float64).ravel() for i in used]

    def values() -> Array:
        outputs = trial.forward([array.copy() for array in inputs]).outputs
        return np.concatenate([outputs[i].astype(np.float64).ravel() for i in used] or [np.zeros(0)])

    return values, np.concatenate(weights or [np.zeros(0)])


def _along(trial: Trial, inputs: Sequence[Array], direction: dict[int, Array]) -> Difference:
    moved = list(inputs)
    objective, weights = _objective(trial, moved)

    def values(t: float) -> Array:
        for i, step in direction.items():
            moved[i] = inputs[i] + t * step
        return objective()

    return difference(values, weights)


def _by_element(trial: Trial, inputs: Sequence[Array], i: int, place: tuple[int, ...]) -> Difference:
    step = np.zeros_like(inputs[i])
    step[place] = 1
    return _along(trial, inputs, {i: step})


def _elements(trial: Trial, places: Sequence[int]) -> Iterator[tuple[int, tuple[int, ...]]]:
    for i in places:
        every = list(np.ndindex(trial.in_shapes[i]))
        if len(every) > _MOST:
            rng = np.random.default_rng([trial.case.seed, i])
            every = [every[k] for k in sorted(rng.choice(len(every), _MOST, replace=False))]
        yield from ((i, place) for place in every)


Smooth = list[tuple[int, tuple[int, ...], Difference]]


def _moved_off_kinks(trial: Trial, places: Sequence[int]) -> tuple[list[Array], Smooth]:
    """Inputs at which as many elements as possible have a derivative, and those derivatives."""
    rng = np.random.default_rng([trial.case.seed, 7])
    inputs = [array.copy() for array in trial.inputs]
    elements = list(_elements(trial, places))
    for _ in range(_MOVES):
        found = [(i, place, _by_element(trial, inputs, i, place)) for i, place in elements]
        smooth = [item for item in found if item[2].is_smooth]
        if len(smooth) == len(found):
            break
        for i in places:
            kinks = [place for j, place, d in found if j == i and not d.is_smooth]
            _redraw(trial, inputs, i, kinks, rng)
    else:
        found = [(i, place, _by_element(trial, inputs, i, place)) for i, place in elements]
        smooth = [item for item in found if item[2].is_smooth]
    return inputs, smooth


def _redraw(trial: Trial, inputs: list[Array], i: int, kinks: Sequence[Any], rng: Any) -> None:
    """New values from the domain for elements at kinks; for all, where elements depend on each other."""
    if not kinks:
        return
    domain = _domain(trial, i)
    shapes = dict(zip(trial.arguments, trial.in_shapes, strict=True))
    fresh = domain.draw(rng, trial.in_shapes[i], trial.prop, shapes)
    if not any(domain.accepts(float(value)) for value in fresh.flat):
        inputs[i] = fresh.astype(inputs[i].dtype)
        return
    for place in kinks:
        inputs[i][place] = fresh[place]


def _direction(trial: Trial, i: int) -> Array:
    """Numbers of both signs and of magnitudes between 1/2 and 3/2."""
    rng = np.random.default_rng([trial.case.seed, 13, i])
    shape = trial.in_shapes[i]
    return np.asarray(rng.choice([-1.0, 1.0], shape) * rng.integers(4, 13, shape) / 8)

"""Group B: gradients against numeric derivatives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

import numpy as np

from operad_check.cases.kinds import LARGE, LONG, SMOOTH, WIDE
from operad_check.comparison.closeness import at, first_place, stem
from operad_check.comparison.numeric_derivative import NumericDerivative
from operad_check.comparison.point import (
    Point,
    are_double,
    between_draws,
    compared_arguments,
    random_direction,
    real_arguments,
    unit_direction,
)
from operad_check.comparison.sample_points import named_point, sample_points
from operad_check.register import Evidence, check
from operad_check.trials.trial import Array, Trial
from operad_check.trials.violation import OperatorRaised, Violation

_RELATIVE: Final = 1e-6
"""Difference of gradient and derivative that is no violation, as a part of either."""

_NEGLIGIBLE: Final = 2.0**-103
"""Difference that is no violation either: products of so small float32 numbers lack digits."""

_FEW_HEADS: Final = 6
"""Head gradients that a message lists."""
_ADDITIVE: Final = 1e-3
"""Difference of a derivative along a line and the sum of partial ones at which there is no derivative."""
_CLOSER: Final = 2.0**-8
_SPREAD: Final = 4
"""Different values of an argument from which on a gradient of 0 everywhere is its nature."""


@check("B301", SMOOTH)
def elementwise(trial: Trial) -> Evidence:
    """Each element of each gradient is the derivative of the outputs.

    A gradient that is wrong by a factor, a sign or one element still trains, only worse.

    Broken by:
        @square.gradient
        def _(output_grad, data): return output_grad * data    # and the factor 2?
    Within:
        @unary("checked_example", accepts="floating")
        def square(data): return data * data
        HERE
        Example = square
    Fix:
        Derive it again for the element printed; a loss that ignores the head gradient declares so.
    How:
        Compare each element's gradient with a numeric derivative; at a kink, try another point.
    """
    compared = compared_arguments(trial)
    if compared is None:
        return None
    left = [(i, place) for i in compared for place in np.ndindex(trial.in_shapes[i])]
    for inputs in sample_points(trial):
        point = Point(trial, inputs)
        gradients = point.gradients(point.cotangents)
        later = []
        for i, place in left:
            direction = unit_direction(trial, i, place)
            found = point.derivatives({i: direction})
            gradient = float(gradients[i][direction != 0] @ direction[direction != 0])
            is_defined = np.isfinite(gradient) or point.is_finite
            if not is_defined or not all(derivative.is_smooth.all() for derivative in found):
                later.append((i, place))
                continue
            what = f"gradient of {at(trial.arguments[i], place)}"
            try:
                with named_point(trial, inputs):
                    expect_derivative(trial, what, found, point.cotangents, gradient, 0.0)
            except Violation:
                if _is_differentiable(trial, point, i):
                    raise
                later.append((i, place))
                continue
            compared[i] += gradient != 0 or _is_flat_by_nature(trial, i, inputs[i])
        left = later
        if not left:
            break
    return _by_name(trial, compared)


@check("B302", WIDE, LARGE, LONG)
def along_directions(trial: Trial) -> Evidence:
    """The gradient along any direction is the derivative along it, on larger arrays too.

    Some mistakes show only on larger arrays: in blocks, strides, or axes that small arrays do not have.

    Broken by:
        def bias_grad(output_grad): return output_grad[:4].sum(0)    # right up to four rows
    Within:
        spec = "data:(N, D), bias:(D) -> output:(N, D)"
        accepts = "floating"
        def forward(data, bias): return data + bias
        def data_grad(output_grad): return output_grad
        HERE
    Fix:
        Look at what changes with the shape printed.
    How:
        Compare gradients along a random direction of each argument, and of all arguments together.

        The case itself is left out: where several zeros meet, a function may be linear along every line and
        have no derivative nevertheless. An argument that cannot be moved is taken between two draws, if its
        gradient is not 0 everywhere.
    """
    compared = compared_arguments(trial) or {}
    moved = [(i,) for i in compared] + ([tuple(compared)] if len(compared) > 1 else [])
    for salt, group in enumerate(moved):
        directions = {i: random_direction(trial, i, salt) for i in group if trial.inputs[i].size}
        if not directions or not any(
            agrees_along(trial, inputs, directions) for inputs in islice(sample_points(trial), 1, None)
        ):
            continue
        for i in directions:
            compared[i] += 1
    drawn = compared_arguments(trial, is_drawn=True) or {}
    for i in [i for i in drawn if trial.gradients[i].any()]:
        inputs, way = between_draws(trial, i)
        with suppress(OperatorRaised):  # what is between may be refused
            if way.any() and agrees_along(trial, inputs, {i: way}):
                compared[i] = 1
    return _by_name(trial, compared) or None


def _by_name(trial: Trial, compared: Mapping[int, int]) -> Evidence:
    """Evidence by argument; arguments whose names differ only by a number are counted together."""
    found: Counter[str] = Counter()
    for i, count in compared.items():
        found[f"gradient of {stem(trial.arguments[i])}"] += count
    return found


@check("B308", SMOOTH)
def no_hidden_derivative(trial: Trial) -> Evidence:
    """Outputs do not depend smoothly on arguments that are declared to have no gradient.

    The layers below then get gradients of zero and never learn.

    Broken by:
        def forward(data, scale): return data * scale    # and no scale_grad
    Within:
        spec = "data:(*S), scale:(*S) -> output:(*S)"
        accepts = "floating"
        HERE
        def data_grad(output_grad, scale): return output_grad * scale
    Fix:
        Write the missing gradient, or declare Contract(no_numeric_gradient=reason).
    How:
        Check that no smooth output follows an argument that is declared to have no gradient.
    """
    if trial.subject.contract.why_no_numeric_gradient(trial.prop) or not are_double(trial):
        return None
    compared = {i: 0 for i in real_arguments(trial) if not trial.differentiable()[i]}
    if not compared:
        return None
    for inputs in sample_points(trial):
        point = Point(trial, inputs, is_loss=False)
        for i in compared:
            for place in np.ndindex(trial.in_shapes[i]):
                found = point.derivatives({i: unit_direction(trial, i, place)})
                for name, derivative in zip(point.names, found, strict=True):
                    with named_point(trial, inputs):
                        _expect_flat(trial.arguments[i], place, name, derivative)
                    compared[i] += int(derivative.is_smooth.any())
        if all(compared.values()):
            break
    return {f"slope along {trial.arguments[i]}": count for i, count in compared.items()}


def _is_differentiable(trial: Trial, point: Point, i: int) -> bool:
    """Return whether the derivative along a line is the sum of those of single elements.

    The median of three equal numbers follows none of them alone, and all of them together.
    """
    line = random_direction(trial, i, 0)
    found = point.derivatives({i: line})
    if not all(derivative.is_smooth.all() for derivative in found):
        return False
    together = [np.zeros_like(derivative.values) for derivative in found]
    for place in np.ndindex(trial.in_shapes[i]):
        direction = unit_direction(trial, i, place)
        if direction[place] != 1 or np.count_nonzero(direction) != 1:
            return True  # elements of this domain move together anyhow
        for total, derivative in zip(together, point.derivatives({i: direction}), strict=True):
            total += derivative.values * line[place]
    return all(
        np.allclose(derivative.values, total, rtol=_ADDITIVE, atol=_ADDITIVE)
        for derivative, total in zip(found, together, strict=True)
    )


def _is_flat_by_nature(trial: Trial, i: int, values: Array) -> bool:
    """Return whether a gradient of 0 counts as evidence: the values have both signs and many sizes.

    A function may be flat in a declared domain alone, so no argument with a domain counts.
    """
    is_free = trial.subject.contract.domain(trial.arguments[i]) is None
    return is_free and len(np.unique(values)) >= _SPREAD and values.min() < 0 < values.max()


def agrees_along(trial: Trial, inputs: Sequence[Array], directions: dict[int, Array]) -> bool:
    """Compare at one point; return False if too few elements are smooth."""
    point = Point(trial, inputs)
    found = point.derivatives(directions)
    smooth = sum(derivative.is_smooth.sum() for derivative in found)
    if smooth * 2 <= sum(derivative.is_smooth.size for derivative in found):
        return False
    # outputs that are not smooth here get no gradient, so that they drop out on both sides
    cotangents = [
        np.where(derivative.is_smooth, cotangent, 0.0)
        for derivative, cotangent in zip(found, point.cotangents, strict=True)
    ]
    gradients = point.gradients(cotangents)
    parts = [direction * gradients[i] for i, direction in directions.items()]
    analytic = float(sum(part.sum() for part in parts))
    is_smooth = point.is_finite and all(derivative.is_smooth.all() for derivative in found)
    if not np.isfinite(analytic) and not is_smooth:
        return False
    names = " and ".join(trial.arguments[i] for i in directions)
    magnitude = float(sum(abs(part).sum() for part in parts))
    what = f"gradient of {names} along a random direction"
    try:
        with named_point(trial, inputs):
            expect_derivative(trial, what, found, cotangents, analytic, magnitude)
    except Violation:
        closer = point.derivatives({i: direction * _CLOSER for i, direction in directions.items()})
        if _are_alike(found, closer):
            raise
        return False  # jumps so close together that the differences stepped over them
    return True


def _are_alike(found: Sequence[NumericDerivative], closer: Sequence[NumericDerivative]) -> bool:
    """Return whether derivatives from smaller differences are the same."""
    return all(
        bool((one.is_smooth == other.is_smooth).all())
        and np.allclose(one.values * _CLOSER, other.values, rtol=1e-3, atol=1e-3 * _CLOSER)
        for one, other in zip(found, closer, strict=True)
    )


def expect_derivative(
    trial: Trial,
    what: str,
    found: Sequence[NumericDerivative],
    cotangents: Sequence[Array],
    gradient: float,
    magnitude: float,
) -> None:
    """Raise Violation unless `gradient` is what the numeric derivatives say.

    Args:
        what: What messages call it.
        found: Derivatives of some outputs.
        cotangents: The weights with which they count.
        magnitude: That of the terms which `gradient` is a sum of.
    """
    against = [derivative.against(cotangent) for derivative, cotangent in zip(found, cotangents, strict=True)]
    derivative, error, partial = (sum(column) for column in zip(*against, strict=True))
    declared = trial.subject.contract.tolerances.get("float64")
    relative = max(_RELATIVE, declared.relative if declared else 0.0)
    limit = relative * max(abs(derivative), abs(gradient), partial, magnitude) + 2 * error + _NEGLIGIBLE
    if not abs(gradient - derivative) <= limit + (declared.absolute if declared else 0.0):
        raise Violation(
            f"{what} is {gradient:.9g}, and the numeric derivative is {derivative:.9g}{_heads(cotangents)}"
        )


def _heads(cotangents: Sequence[Array]) -> str:
    """Head gradients, where they are few."""
    numbers = [float(value) for cotangent in cotangents for value in cotangent.flat]
    if len(numbers) > _FEW_HEADS or set(numbers) == {1.0}:
        return ""
    return f", for head gradient{'s' * (len(numbers) > 1)} {', '.join(f'{number:.6g}' for number in numbers)}"


def _expect_flat(argument: str, place: tuple[int, ...], output: str, derivative: NumericDerivative) -> None:
    limit = 1e-6 + 2 * derivative.errors
    follows = derivative.is_smooth & (abs(derivative.values) > limit)
    where = first_place(follows)
    if where is None:
        return
    raise Violation(
        f"{at(output, where)} changes by {derivative.values[where]:.6g} per unit of {at(argument, place)}, "
        f"and {argument} is declared to have no gradient"
    )

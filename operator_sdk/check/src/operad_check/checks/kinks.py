"""Group B: gradients at kinks, where derivatives to the left and to the right differ.

There is no derivative to compare with, but not every gradient will do: what flows from one element of an
output to one element of an argument has to lie between the two slopes, ends included. Elements of outputs
are taken one by one, so that the errors of two cannot cancel.

Elements that are equal, or equal but for their signs, are moved together as well: each of two equal maxima
may have any gradient between 0 and 1, and both together have 1.

Where several kinks of one operator meet, as where all units of a layer are exactly 0, the chain rule
may lead outside of that interval though every step is right. What it gives then is a slope that the
function has close by, when other arguments are moved too; so a gradient outside of the interval is
compared with slopes close by before anything is said. Kinks that stay together wherever the others are
moved, as `max(x, 0) - max(-x, 0) / 2` has two, are one kink of the whole, with its slopes 1/2 and 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from operad_check.cases.kinds import SMOOTH
from operad_check.comparison.closeness import at
from operad_check.comparison.one_sided import FAR, Slopes, may_bend, one_sided_slopes
from operad_check.comparison.point import (
    Point,
    compared_arguments,
    random_direction,
    real_arguments,
    unit_direction,
)
from operad_check.comparison.sample_points import named_point, tied_points
from operad_check.register import Evidence, check
from operad_check.trials.trial import Array, Trial
from operad_check.trials.violation import Violation

_RELATIVE: Final = 1e-3
"""Distance by which a gradient may lie outside, as a part of the slopes and of their distance."""

_RESOLUTION: Final = 2.0**-40
"""Part of the largest gradient of an element of an output below which a gradient may be roundings alone."""

_CLOSE_BY: Final = 64
"""Points around a kink at which slopes are taken before a gradient is called wrong."""

_REACH: Final = 2.0**-10
"""Distance of these points from the kink."""

_STEP: Final = 2.0**-8
"""Factor on the distance of differences at these points, so that no difference reaches the kink."""

_GROUPS: Final = 8
"""Groups of equal elements that are moved together, for each element of an output."""

Place = tuple[int, ...]


class _Kink(NamedTuple):
    """A kink of an element of an output, where an element of an argument is moved.

    Attributes:
        i: Which argument, and `place` which of its elements.
        left: The derivative from the left, and `right` the one from the right.
        error: Of both.
    """

    i: int
    place: Place
    left: float
    right: float
    error: float

    def has_between(self, gradient: float, slack: float) -> bool:
        """Return whether a gradient lies between the slopes on both sides, within their errors."""
        low, high = sorted((self.left, self.right))
        slack += 2 * self.error + _RELATIVE * max(high - low, abs(low), abs(high))
        return low - slack <= gradient <= high + slack


@check("B313", SMOOTH)
def between_the_slopes(trial: Trial) -> Evidence:
    """At a kink each gradient lies between the derivatives to the left and to the right.

    Zeros and ties are frequent: padding, dead units, equal scores; other checks look beside them.

    Broken by:
        def data_grad(output_grad, data):    # of a maximum with 0
            return output_grad * np.where(data == 0, 2, data > 0)
    Within:
        spec = "data:(*S) -> output:(*S)"
        accepts = "floating"
        def forward(data): return np.maximum(data, 0)
        HERE
    Fix:
        Use one of the two derivatives, or a number between them, such as 0 for the magnitude at 0; or
        say why it is another: Contract(expected_failures={"B313": reason}).
    How:
        Check that gradients at kinks lie between the slopes on both sides.

        One line through all arguments tells which outputs may have kinks; elements are then moved one by one.

        The evidence is the elements of outputs that were looked at.
    """
    movable = _movable(trial)
    if not movable:
        return None
    seen = 0
    for inputs in tied_points(trial):
        point = Point(trial, inputs)
        steps = {i: random_direction(trial, i, 0) for i in movable}
        moved = point.moved(steps)
        seen += sum(int(np.isfinite(output).sum()) for output in moved(0.0))
        bent = may_bend(moved)
        if not any(where.any() for where in bent):
            continue
        for (k, element), kinks in _kinks(trial, point, inputs, movable).items():
            with named_point(trial, inputs):
                _expect_between(trial, point, inputs, k, element, kinks)
        break
    return seen


def _movable(trial: Trial) -> dict[int, list[Place]]:
    """Elements that may be moved alone, by argument; elements in a domain such as Probabilities may not."""
    found = {}
    for i in compared_arguments(trial) or ():
        places = [place for place in np.ndindex(trial.in_shapes[i]) if _moves_alone(trial, i, place)]
        if places:
            found[i] = places
    return found


def _moves_alone(trial: Trial, i: int, place: Place) -> bool:
    direction = unit_direction(trial, i, place)
    return bool(direction[place] == 1 and np.count_nonzero(direction) == 1)


def _kinks(
    trial: Trial, point: Point, inputs: Sequence[Array], movable: dict[int, list[Place]]
) -> dict[tuple[int, Place], list[_Kink]]:
    """Kinks by output and element."""
    found = defaultdict(list)
    for i, place in _exact(inputs, movable):
        for k, slopes in enumerate(one_sided_slopes(point.moved({i: unit_direction(trial, i, place)}))):
            for element in map(tuple, np.argwhere(slopes.is_kink)):
                found[k, element].append(_kink(i, place, slopes, element))
    return found


def _kink(i: int, place: Place, slopes: Slopes, element: Place) -> _Kink:
    return _Kink(i, place, *(float(array[element]) for array in (slopes.left, slopes.right, slopes.errors)))


def _exact(inputs: Sequence[Array], movable: dict[int, list[Place]]) -> Iterator[tuple[int, Place]]:
    """Elements to which the distance FAR can be added, and subtracted again, without rounding."""
    for i, places in movable.items():
        for place in places:
            value = inputs[i][place]
            if (value + FAR) - value == FAR == value - (value - FAR):
                yield i, place


def _expect_between(
    trial: Trial, point: Point, inputs: Sequence[Array], k: int, element: Place, kinks: Sequence[_Kink]
) -> None:
    """Raise Violation unless the gradient of one element of an output is one that its kinks allow."""
    heads = [np.zeros_like(cotangent) for cotangent in point.cotangents]
    heads[k][element] = 1.0
    gradients = point.gradients(heads)
    source = at(point.names[k], element)
    finite = [each[np.isfinite(each)] for each in gradients if each is not None]
    roundings = _RESOLUTION * max(float(np.abs(each).max(initial=0)) for each in finite)
    for kink in kinks:
        gradient = float(gradients[kink.i][kink.place])
        direction = {kink.i: unit_direction(trial, kink.i, kink.place)}
        if not _is_allowed(trial, inputs, k, element, kink, gradient, roundings, direction):
            name = at(trial.arguments[kink.i], kink.place)
            raise Violation(
                f"gradient of {name} from {source} is {gradient:.9g} at the kink "
                f"{name} = {inputs[kink.i][kink.place]:.9g}, where the derivative is {kink.left:.9g} to the "
                f"left and {kink.right:.9g} to the right"
            )
    places = [(kink.i, kink.place) for kink in kinks]
    for group in [] if trial.subject.contract.ties else _tied(inputs, places):
        direction = _together(trial, inputs, group)
        slopes = one_sided_slopes(point.moved(direction), of_kinks=False)[k]
        if not slopes.exists[element]:
            continue
        kink = _kink(*group[0], slopes, element)
        gradient = float(sum((gradients[i] * steps).sum() for i, steps in direction.items()))
        if _is_allowed(trial, inputs, k, element, kink, gradient, roundings, direction):
            continue
        names = ", ".join(at(trial.arguments[i], place) for i, place in group)
        size = abs(inputs[kink.i][kink.place])
        raise Violation(
            f"gradients of {names} from {source} are {gradient:.9g} together, where all are of size "
            f"{size:.9g} and {source} changes by {kink.left:.9g} to the left "
            f"and {kink.right:.9g} to the right when they move together"
        )


def _tied(inputs: Sequence[Array], places: Sequence[tuple[int, Place]]) -> list[list[tuple[int, Place]]]:
    """Groups of several kinks at elements of one magnitude, and of those of one sign among them."""
    groups: dict[tuple[float, float], list[tuple[int, Place]]] = defaultdict(list)
    for i, place in places:
        value = float(inputs[i][place])
        groups[abs(value), 0.0].append((i, place))
        groups[abs(value), np.sign(value)].append((i, place))
    several = {tuple(group) for group in groups.values() if len(group) > 1}
    return [list(group) for group in sorted(several)][:_GROUPS]


def _together(trial: Trial, inputs: Sequence[Array], group: Sequence[tuple[int, Place]]) -> dict[int, Array]:
    """Direction in which the magnitudes of all elements of a group grow alike; zeros grow."""
    direction: dict[int, Array] = {}
    for i, place in group:
        steps = direction.setdefault(i, np.zeros(trial.in_shapes[i]))
        steps[place] = -1.0 if inputs[i][place] < 0 else 1.0
    return direction


def _is_allowed(
    trial: Trial,
    inputs: Sequence[Array],
    k: int,
    element: Place,
    kink: _Kink,
    gradient: float,
    slack: float,
    direction: Mapping[int, Array],
) -> bool:
    """Return whether the slopes at a kink allow a gradient along a direction, or those near it do."""
    declared = trial.subject.contract.tolerances.get("float64")
    if declared:
        slack += declared.absolute + declared.relative * max(abs(kink.left), abs(kink.right))
    if np.isnan(gradient) or kink.has_between(gradient, slack):
        return True  # that nothing is NaN is another check's matter
    direction = {i: _STEP * steps for i, steps in direction.items()}
    for salt in range(1, _CLOSE_BY + 1):
        moved = [array.copy() for array in inputs]
        for i in real_arguments(trial):
            moved[i] += _REACH * random_direction(trial, i, salt)
        slopes = Point(trial, moved).derivatives(direction)[k]
        if slopes.is_smooth[element]:
            slope = float(slopes.values[element]) / _STEP
            kink = kink._replace(
                left=min(kink.left, kink.right, slope), right=max(kink.left, kink.right, slope)
            )
        if kink.has_between(gradient, slack):
            return True
    return False

"""Points at the branches that an operator's scalar forms take, and on both sides of them.

Values of a case lie between -2 and 2, so a formula for large arguments, a threshold that a parameter gives or
a series beside a pole is reached by chance alone. A form lists its comparisons. The difference of the two
operands is a function of each argument, and Newton's steps find where it is 0, all elements at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np

from operad.operator import Instruction, ScalarForm
from operad_check.comparison.point import real_arguments
from operad_check.comparison.sample_points import sample_points
from operad_check.trials.trial import Array, Trial
from operad_sdk.domains import Real

_OF_TWO: Final = frozenset({"less", "less_equal", "greater", "greater_equal", "maximum", "minimum"})
_OF_ONE: Final = frozenset({"abs", "sign"})
_NEWTON: Final = 8
_STEP: Final = 2.0**-20
_FAR: Final = 2.0**10
"""Distance from 0 of branches that are looked for."""
_REACHED: Final = 2.0**-40
BESIDE: Final = (0.0, 2.0**-6, -(2.0**-6))
"""Distances of the points from a branch."""
_MOST: Final = 8
"""Branches of an operator, and of a part of it, that are looked at."""

Margins = Callable[[Sequence[Array]], list[Any]]
"""From inputs to the differences whose signs decide."""


def branch_points(trial: Trial, distances: Sequence[float] = BESIDE) -> Iterator[list[Array]]:
    """Inputs with as many elements as possible at a branch, or `distances` beside it, for each branch."""
    return (
        [
            array + where * distance if array.dtype.kind == "f" else array
            for array, where in zip(inputs, moved, strict=True)
        ]
        for inputs, moved in islice(_at_branches(trial), _MOST)
        for distance in distances
    )


def _at_branches(trial: Trial) -> Iterator[tuple[list[Array], list[Any]]]:
    """Inputs at branches, and for each of them which elements were moved there."""
    seen = set()
    _, base = islice(sample_points(trial), 2)  # beside ties and kinks of the case itself
    movable = [i for i in real_arguments(trial) if _are_judged_alone(trial, i) and trial.inputs[i].size]
    for part in trial.prop.list_parts():
        form = trial.prop.scalar_form(part, trial.in_shapes, trial.in_types)
        if isinstance(form, str):
            continue
        margins = _margins(trial, part, form)
        for i in movable:
            for number in islice(_following(base, margins, i), _MOST):
                found = _solved(trial, base, margins, number, i)
                if found is not None and (key := found.tobytes()) not in seen:
                    seen.add(key)
                    moved: list[Any] = [0.0] * len(base)
                    moved[i] = found != base[i]
                    yield [found if k == i else array for k, array in enumerate(base)], moved


def _are_judged_alone(trial: Trial, i: int) -> bool:
    domain = trial.subject.contract.domain(trial.arguments[i])
    return domain is None or isinstance(domain, Real)


def _margins(trial: Trial, part: str, form: ScalarForm) -> Margins:
    wanted = [f"{name}_grad" == part for name in trial.arguments]
    results = dict(zip([f"{name}_grad" for name in trial.arguments], trial.in_shapes, strict=True))
    results |= dict(zip(trial.outputs, trial.out_shapes, strict=True))

    def margins(inputs: Sequence[Array]) -> list[Any]:
        found: list[Any] = []

        def note(step: Instruction, args: Sequence[Any], value: Any) -> Any:
            if step.op in _OF_TWO:
                found.append(np.asarray(args[0] - args[1]))
            elif step.op in _OF_ONE:
                found.append(np.asarray(args[0]))
            return value

        if part == "forward":
            arrays = [*inputs, *trial.aux]
        else:
            outputs = trial.forward([array.copy() for array in inputs]).outputs
            groups: dict[str, Any] = {"out_grad": trial.out_grads, "in_data": inputs, "out_data": outputs}
            arrays = [groups[kind][index] for kind, index in trial.prop.backward_dependency(wanted)]
        given = {name: array.shape for name, array in zip(form.inputs, arrays, strict=True)}
        try:
            form.evaluate(arrays, form.space(results | given), note)
        except ValueError:  # shapes that only the operator brings together, as a label's of as many elements
            return []
        return found

    return margins


def _following(base: Sequence[Array], margins: Margins, i: int) -> Iterator[int]:
    """Differences that follow an argument."""
    here, there = margins(base), margins([array + _STEP if k == i else array for k, array in enumerate(base)])
    for number, (one, other) in enumerate(zip(here, there, strict=True)):
        if one.dtype.kind == "f" and (one != other).any():
            yield number


def _solved(trial: Trial, base: Sequence[Array], margins: Margins, number: int, i: int) -> Array | None:
    """An argument whose elements are moved to where a difference is 0; None if no element can be."""
    own, x = base[i], base[i].copy()

    def margin(values: Array) -> Array | None:
        found = margins([values if k == i else array for k, array in enumerate(base)])[number]
        try:
            return np.broadcast_to(found, x.shape) if found.dtype.kind == "f" else None
        except ValueError:  # of another argument's shape
            return None

    with np.errstate(all="ignore"):
        for _ in range(_NEWTON):
            here, there = margin(x), margin(x + _STEP)
            if here is None or there is None:
                return None
            step = -here * _STEP / (there - here)
            x = np.where(np.isfinite(step) & (np.abs(x + step) < _FAR), x + step, x)
        here = margin(x)
        assert here is not None
        is_there = (np.abs(here) <= _REACHED * (1 + np.abs(x))) & (x != own)
    domain = trial.subject.contract.domain(trial.arguments[i])
    if isinstance(domain, Real):
        is_allowed = [all(domain.accepts(float(one) + by) for by in BESIDE) for one in x.flat]
        is_there &= np.reshape(is_allowed, x.shape)
    return np.where(is_there, x, own) if is_there.any() else None

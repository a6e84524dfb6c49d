"""Shrinking the arrays of a case, each element with the value it has.

Axes of one length shrink together, in all arrays or in one, since lengths that are equal by a rule of
the operator's stay equal then; inference says which smaller shapes it accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from operad.operator import is_known
from operad_check.cases.strategies import STATE, domain_of, made
from operad_check.trials.case import Case
from operad_check.trials.subject import Subject
from operad_check.trials.trial import Array, raising
from operad_check.trials.violation import OperatorRaised

Arrays = dict[str, Array]
Axes = dict[str, list[int]]
"""Axes by array."""


def shrink_arrays(subject: Subject, case: Case, fails: Callable[[Case], bool], most_runs: int) -> Case:
    """The smallest case that fails, of those to which `case` shrinks one step at a time.

    Args:
        most_runs: How often `fails` is called at most.
    """
    runs = 0
    is_smaller = True
    while is_smaller and runs < most_runs:
        is_smaller = False
        for candidate in _smaller_by_one_step(case):
            if not is_accepted(subject, candidate):
                continue
            runs += 1
            if fails(candidate):
                case, is_smaller = candidate, True
                break
            if runs >= most_runs:
                break
    return case


def is_accepted(subject: Subject, case: Case) -> bool:
    """Return whether inference accepts the shapes of the case, and domains accept its values."""
    try:
        with raising("inference, or a declared domain,"):
            prop = made(subject, case.params)
            if prop is None:
                return False
            names = prop.list_arguments()
            shapes = [case.inputs[name].shape for name in names]
            inferred, outputs, aux = prop.infer_shape(list(shapes))
            states = [case.aux[name].shape for name in prop.list_auxiliary_states()]
            if [*inferred, *aux] != [*shapes, *states] or not all(map(is_known, outputs)):
                return False
            by_name = dict(zip(names, shapes, strict=True))
            contract = subject.contract
            domains = {name: domain_of(contract, name) for name in case.inputs}
            domains |= {name: contract.domain(name) or STATE for name in case.aux}
            arrays = {**case.inputs, **case.aux}
            return all(domains[name].holds(array, prop, by_name) for name, array in arrays.items())
    except OperatorRaised:
        return False


def _smaller_by_one_step(case: Case) -> Iterator[Case]:
    """Cases smaller by one step: one index of axes kept, one index dropped, or one axis dropped."""
    for axes, length in _groups(case):
        for place in range(length):
            yield _taken(case, axes, [place])
        if length > 2:
            for place in range(length):
                yield _taken(case, axes, [other for other in range(length) if other != place])
    arrays = {**case.inputs, **case.aux}
    for axis in (0, -1):
        if arrays and all(array.ndim > 1 and array.shape[axis] == 1 for array in arrays.values()):
            yield _squeezed(case, dict.fromkeys(arrays, axis))
    for name, array in arrays.items():
        if array.ndim > 1 and 1 in array.shape:
            yield _squeezed(case, {name: array.shape.index(1)})


def _groups(case: Case) -> Iterator[tuple[Axes, int]]:
    """Axes that shrink together, with their length: all of one length, those at one place, each alone."""
    arrays = {**case.inputs, **case.aux}
    lengths = sorted(
        {length for array in arrays.values() for length in array.shape if length > 1}, reverse=True
    )
    for length in lengths:
        everywhere = {
            name: [axis for axis, other in enumerate(array.shape) if other == length]
            for name, array in arrays.items()
        }
        yield everywhere, length
        most = max(array.ndim for array in arrays.values())
        for axis in range(-most, most):
            here = {
                name: [axis % array.ndim]
                for name, array in arrays.items()
                if -array.ndim <= axis < array.ndim and array.shape[axis] == length
            }
            if here:
                yield here, length
        for name, found in everywhere.items():
            yield from (({name: [axis]}, length) for axis in found)


def _taken(case: Case, axes: Axes, places: list[int]) -> Case:
    def taken(name: str, array: Array) -> Array:
        for axis in axes.get(name, ()):
            array = np.take(array, places, axis)
        return array

    return _each(case, taken)


def _squeezed(case: Case, axes: Mapping[str, int]) -> Case:
    return _each(case, lambda name, array: np.squeeze(array, axes[name]) if name in axes else array)


def _each(case: Case, function: Callable[[str, Array], Any]) -> Case:
    inputs = {name: function(name, array) for name, array in case.inputs.items()}
    aux = {name: function(name, array) for name, array in case.aux.items()}
    return replace(case, inputs=inputs, aux=aux, out_grads=())

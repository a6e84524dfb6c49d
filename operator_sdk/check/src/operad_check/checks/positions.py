"""Groups S and F: positions along an axis, or of an axis, at both ends and one beyond.

Nothing that an author declares says how many positions an operator takes, and no reference is asked for one
that is refused. So the two ends are compared with each other: positions that are counted from the end are as
many as those counted from the start, and name the same. A bound that is off by one at either end shows there.

-1 alone may stand for no position, and is not judged. Numbers that an author draws may be shifts, say from -n
to n: they are judged only where each below 0 gives what the one n above it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from operad_check.cases.kinds import ORDINARY
from operad_check.cases.positions import axis_params, index_arguments, position_arguments
from operad_check.checks.parameters import outcome_of
from operad_check.comparison.bitwise import expect_reproduced
from operad_check.register import Evidence, check
from operad_check.trials.case import Case
from operad_check.trials.trial import Array, Trial
from operad_check.trials.violation import Violation, shown_by

_MOST_CASES: Final = 24
_LONGEST: Final = 12
"""Longest axis whose positions are tried one by one."""
_FAR: Final = 100
"""A position that is beyond each such axis, and within the narrowest integer type."""

Results = Mapping[int, Any]
"""Outputs by position; None where that is refused."""


@check("S113", ORDINARY, pooled=True)
def axes(trials: Sequence[Trial]) -> Evidence:
    """An axis counted from the end is the same one, and one beyond either end is refused.

    Conditions such as -n <= axis < n are easily off by one at one end, where no example looks. Then an
    axis that is there is refused, or one that is not is read.

    Broken by:
        def infer_shape(self, in_shapes):
            if not -len(in_shapes[0] or ()) < self.axis < len(in_shapes[0] or ()):
                raise ShapeError(f"there is no axis {self.axis}")
    Within:
        spec = "data:(*S) -> output:(*S)"
        axis = param(int, 0, doc="Which axis.")
        accepts = "floating"
        HERE
            return super().infer_shape(in_shapes)
        def forward(data, axis): return np.flip(data, axis)
    Fix:
        Refuse what is not in range(-n, n); one that is not counted from the end has a lower bound of
        0.
    How:
        Pass each axis, counted from the start and from the end, and one beyond.
    """
    count = 0
    for name in axis_params(trials[0].subject.cls):
        found = [
            (trial, results, rank)
            for trial in _different(trials)
            for results, rank in _with_each_axis(trial, name)
        ]
        if any(_accepted(results, below=-1) for _, results, _ in found):
            for trial, results, rank in sorted(found, key=lambda each: -each[2]):  # those that show it alone
                with shown_by(trial.case):
                    count += _expect_both_ends(trial, name, results, rank)
    return count or None


def _different(trials: Sequence[Trial]) -> list[Trial]:
    """The largest trial for each combination of parameters and numbers of axes."""
    by_size = sorted(trials, key=lambda trial: sum(array.size for array in trial.inputs))
    found = {(repr(trial.case.params), *map(len, trial.in_shapes)): trial for trial in by_size}
    return list(found.values())[-_MOST_CASES:]


def _with_each_axis(trial: Trial, name: str) -> list[tuple[Results, int]]:
    """Results with each value of a parameter, or of its last element, and the largest number of axes."""
    rank = max([len(shape) for shape in (*trial.in_shapes, *trial.out_shapes)], default=0)
    values = range(-rank - 2, rank + 2)
    makes: list[Callable[[int], Any]] = [lambda value: value]
    if trial.prop.params[name].type is not int:
        before = tuple(getattr(trial.prop, name) or ())[:-1]
        makes = [lambda value: (value,), *([lambda value: (*before, value)] if before else [])]

    def result(value: Any) -> list[Any] | None:
        case = replace(trial.case, params={**trial.case.params, name: value})
        return outcome_of(trial, case, f"{name}={value!r}")

    return [({value: result(make(value)) for value in values}, rank) for make in makes]


def _expect_both_ends(trial: Trial, name: str, results: Results, most: int) -> int:
    """Raise Violation unless both ends hold the same axes, of `most` or fewer; return comparisons."""
    from_start, from_end = _accepted(results, above=-1), _accepted(results, below=0)
    if len(from_start) + len(from_end) == len(results):
        return 0  # it does not matter here
    fitting = [rank for rank in range(most + 1) if [value - rank for value in from_start] == from_end]
    if not fitting:
        raise Violation(
            f"for arguments of shapes {trial.in_shapes}, {name} is accepted at {from_start} and "
            f"{from_end}, expected the same axes from the start and from the end"
        )
    return _expect_same_results(trial, name, results, from_end, fitting[0])


@check("F222", ORDINARY)
def elements(trial: Trial) -> Evidence:
    """Positions beyond an axis are refused one by one, and alike at both ends, or computed.

    A test for positions that are out of range has two ends and a word between them, each easily wrong.
    Then a position is read that is not there, or one refused that is.

    Broken by:
        if index.size and index.min() < 0 and index.max() >= len(table):    # and, for or
            raise OperadError(f"index is {index.min()} to {index.max()}")
    Within:
        spec = "index:any(N), table:(V + 1) -> output:(N)"
        contract = Contract(inputs={"index": Index("table")})
        def forward(index, table):
            HERE
            return table[index.astype(int) % len(table)]
    Fix:
        Refuse positions below -length and from length on, each alone; or clip them, or wrap them
        around.
    How:
        Pass positions beyond an axis as elements of an argument, at both ends, alone and together.
    """
    lengths = [length for shape in (*trial.in_shapes, *trial.out_shapes) for length in shape]
    lengths += [value for name in trial.prop.params if type(value := getattr(trial.prop, name)) is int]
    longest = max([1, *lengths])
    if longest > _LONGEST:
        return None
    near = range(-longest - 2, longest + 2)
    numbers = position_arguments(trial.subject.cls, trial.arguments)
    names = [trial.arguments[number] for number in numbers if _is_whole(trial.inputs[number])]
    return sum(_expect_alike(trial, name, near) for name in names) or None


def _is_whole(array: Array) -> bool:
    return array.size > 0 and array.dtype.kind in "if" and bool((array == np.trunc(array)).all())


def _expect_alike(trial: Trial, name: str, near: range) -> int:
    """Raise Violation unless positions are refused one by one, and counted alike from both ends."""

    def changed(values: Mapping[int, int]) -> Case:
        array = trial.case.inputs[name].copy()
        for place, value in values.items():
            array.flat[place] = value
        return replace(trial.case, inputs={**trial.case.inputs, name: array})

    def result(values: Mapping[int, int]) -> list[Any] | None:
        case = changed(values)
        # NumPy's own IndexError refuses, too: what an element is, no inference can know.
        return outcome_of(trial, case, f"{name} = {case.inputs[name].tolist()}", IndexError)

    alone: list[Mapping[int, int]] = [{0: -_FAR}, {1: _FAR}]
    has_two = trial.case.inputs[name].size > 1
    if has_two and None not in map(result, alone) and result({0: -_FAR, 1: _FAR}) is None:
        raise Violation(f"{name} may hold {-_FAR}, and {_FAR}, and is refused where it holds both")
    results = {value: result({0: value}) for value in (-_FAR, *near, _FAR)}
    accepted = _accepted(results)
    if not accepted or results[_FAR] is not None or results[-_FAR] is not None or accepted[0] >= -1:
        return len(results)
    is_index = trial.arguments.index(name) in index_arguments(trial.subject.cls, trial.arguments)
    if not (is_index or _is_alike(results, -accepted[0]) or _is_alike(results, accepted[-1] + 1)):
        return len(results)
    if accepted[0] != -accepted[-1] - 1:
        raise Violation(
            f"for arguments of shapes {trial.in_shapes}, {name} may hold {accepted[0]} to {accepted[-1]}, "
            "expected as many positions from the end as from the start"
        )
    from_end, length = [value for value in accepted if value < 0], -accepted[0]
    count = len(results) + _expect_same_results(trial, name, results, from_end, length)
    if trial.is_runnable and any(trial.differentiable()):
        gradients = {value: Trial(trial.subject, changed({0: value})).backward() for value in accepted}
        count += _expect_same_results(trial, name, gradients, from_end, length, "gradient of ")
    return count


def _is_alike(results: Results, length: int) -> bool:
    """Return whether all positions below 0 give what those `length` above give, and not all the same."""
    known = {
        value: [array.tobytes() for array in found if array is not None]
        for value, found in results.items()
        if found
    }
    pairs = [
        (known[value], known[value + length]) for value in known if value < 0 and value + length in known
    ]
    return len({str(one) for one, _ in pairs}) > 1 and all(one == other for one, other in pairs)


def _accepted(results: Results, above: int = -2 * _FAR, below: int = 2 * _FAR) -> list[int]:
    return [value for value, found in results.items() if found is not None and above < value < below]


def _expect_same_results(
    trial: Trial, name: str, results: Results, from_end: Sequence[int], length: int, what: str = ""
) -> int:
    """Raise Violation unless outputs, or gradients, are the same from the end as from the start."""
    names = [f"{what}{argument}" for argument in trial.arguments] if what else trial.outputs
    count = 0
    for value in from_end:
        found, other = results[value], results.get(value + length)
        if found is None or other is None:
            continue
        when = f"for {value} in {name}, and not for {value + length},"
        shapes = [[None if one is None else one.shape for one in each] for each in (found, other)]
        if shapes[0] != shapes[1]:
            raise Violation(f"outputs have shapes {shapes[0]} {when} but {shapes[1]}")
        count += expect_reproduced(trial, names, found, other, when)
    return count

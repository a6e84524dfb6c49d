"""One form out of two traces with other lengths: numbers that differ follow from lengths of axes."""

from __future__ import annotations

from functools import partial, reduce
from itertools import chain, combinations, product
from math import isclose, prod
from typing import Any, Final

from operad.errors import TraceError
from operad.operator import ScalarForm, Shape
from operad_sdk.mapper.builder import Builder

_ROUNDING: Final = 2.0**-50
_FEW: Final = (1, 2)
"""Numbers that may be added to a length; sums of several lengths are hardly taken for such."""


def merged(first: ScalarForm, second: ScalarForm, spaces: tuple[Shape, Shape]) -> ScalarForm:
    """The form that holds for the spaces of both: numbers that follow from lengths of axes become these.

    Raises:
        TraceError: They differ in more than that.
    """
    if first == second:
        return first
    ops = [
        [(step.op, step.args, step.kind, step.axes) for step in form.instructions] for form in (first, second)
    ]
    if ops[0] != ops[1] or first.results != second.results:
        raise TraceError("what it computes of an element depends on the lengths of axes")
    count = len(first.inputs)
    builder = Builder(first.name, first.inputs, [step.kind for step in first.instructions[:count]])
    at = list(range(count))
    for one, other in zip(first.instructions[count:], second.instructions[count:], strict=True):
        if repr(one.value) == repr(other.value):
            at.append(builder.copy(one, [at[i] for i in one.args]))
        else:
            at.append(_of_lengths(builder, one.kind, (one.value, other.value), spaces))
    axes = {i: step.axes for i, step in enumerate(first.instructions[:count])}
    return builder.finish(*(one._replace(position=at[one.position]) for one in first.results), axes=axes)


def _of_lengths(builder: Builder, kind: str, numbers: tuple[Any, Any], spaces: tuple[Shape, Shape]) -> int:
    """A number that differs between the spaces: a multiple or part of lengths, or 1 or 2 more or less."""
    every = range(len(spaces[0]))
    groups = chain.from_iterable(combinations(every, count) for count in range(1, len(every) + 1))
    for op, axes in product(("multiply", "divide", "add"), groups):
        (one, other), (a, b) = [prod(space[axis] for axis in axes) for space in spaces], numbers
        if one == other:
            continue
        a, b = {
            "multiply": (a / one, b / other),
            "divide": (a * one, b * other),
            "add": (a - one, b - other),
        }[op]
        if isclose(a, b, rel_tol=_ROUNDING) and (op != "add" or abs(a) in _FEW):
            lengths = [builder.length(axis, kind) for axis in axes]
            return builder.apply(
                op, builder.constant(a, kind), reduce(partial(builder.apply, "multiply"), lengths)
            )
    raise TraceError("a number in it depends on lengths of axes in another way than as a factor or divisor")

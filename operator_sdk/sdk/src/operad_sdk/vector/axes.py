"""Axes of arrays over one space, as few as possible: those that one step through memory passes are joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from operad_sdk.vector.primitives import NoVectorCodeError

Strides = tuple[int, ...]


class Axes(NamedTuple):
    """The axes of some arrays, as few as possible.

    Attributes:
        outer: Lengths of outer axes.
        runs: Lengths of the axes of runs.
        columns: Columns of a run.
        strides: For each array its steps in bytes along all of them, in this order.
    """

    outer: Sequence[int]
    runs: Sequence[int]
    columns: int
    strides: Sequence[Strides]


def strides_over(view: NDArray[Any], space: Sequence[int]) -> Strides:
    """Steps in bytes along the axes of the space; 0 where the array has one element for all."""
    padded = (1,) * (len(space) - view.ndim) + view.shape
    given = (0,) * (len(space) - view.ndim) + view.strides
    for own, length in zip(padded, space, strict=True):
        if own not in (1, length):
            raise NoVectorCodeError(
                f"an array of shape {view.shape} has no elements for a space of {tuple(space)}"
            )
    # Without elements there is not even one for all, which each row would read.
    steps = [step or (0 if own else view.itemsize) for own, step in zip(padded, given, strict=True)]
    return tuple([0 if own == 1 else step for own, step in zip(padded, steps, strict=True)])


def collapsed(
    space: Sequence[int], strides: Sequence[Strides], first_result: int, reduced: Sequence[int]
) -> Axes:
    """Axes of a space and of arrays over it: columns and runs are the reduced axes, if there are any."""
    axes = [(length, tuple([each[i] for each in strides])) for i, length in enumerate(space)]
    inner = [axes[i] for i in sorted(reduced) if axes[i][0] != 1]
    # The columns are those of the smallest steps, which most of what is read has.
    inner.sort(key=lambda axis: -max(map(abs, axis[1])))
    columns = _joined(inner)
    others = [axis for i, axis in enumerate(axes) if i not in reduced and axis[0] != 1]
    # Along the columns the first result's elements follow each other, if they do anywhere.
    others.sort(key=lambda axis: -abs(axis[1][first_result]))
    outer = _joined(others)
    one = (1, (0,) * len(strides))
    if not reduced:
        columns = [outer.pop() if outer else one]
    *runs, last = columns or [one]
    every = zip(*(steps for _, steps in (*outer, *runs, last)), strict=True)
    return Axes([n for n, _ in outer], [n for n, _ in runs], last[0], list(every))


def _joined(axes: Sequence[tuple[int, Strides]]) -> list[tuple[int, Strides]]:
    """Axes, with those joined that one step through memory passes."""
    found: list[tuple[int, Strides]] = []
    for length, steps in axes:
        if found and all(outer == inner * length for outer, inner in zip(found[-1][1], steps, strict=True)):
            found[-1] = (found[-1][0] * length, steps)
        else:
            found.append((length, steps))
    return found

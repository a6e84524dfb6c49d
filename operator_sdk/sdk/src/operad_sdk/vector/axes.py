"""Axes of arrays over one space, as few as possible: those that one step through memory passes are joined."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, starmap
from math import prod
from typing import Any, NamedTuple

from numpy.typing import NDArray

from operad.dtypes import DType
from operad.operator import Shape
from operad_sdk.form_kernels import View
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


class Lying(NamedTuple):
    """Shape, steps in bytes and type of an array, of which no more is asked before there is one."""

    shape: Shape
    strides: Strides
    dtype: DType

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)


def contiguous(shape: Shape, dtype: DType) -> Lying:
    """An array in one piece, its last axis innermost."""
    steps = accumulate(
        reversed(shape[1:]), lambda step, length: step * max(1, length), initial=dtype.itemsize
    )
    return Lying(shape, tuple(steps)[::-1] if shape else (), dtype)


def lying(specs: Sequence[tuple[Shape, DType]], views: Sequence[View | None] = ()) -> list[Lying]:
    """Arrays in one piece, of the first of which views are taken."""
    found = list(starmap(contiguous, specs))
    for number, view in enumerate(views):
        if view is not None:
            found[number] = Lying(view.shape, view.strides, found[number].dtype)
    return found


@lru_cache(maxsize=4096)
def own_axes(axes: tuple[int | None, ...] | None, ndim: int, rank: int) -> list[int | None]:
    """For each axis of a space of some rank the axis of an array that runs along it; None where none does."""
    every = range(rank - ndim, rank) if axes is None else axes
    own = {axis: position for position, axis in enumerate(every) if axis is not None}
    return [own.get(axis) for axis in range(rank)]


def strides_over(array: Lying | NDArray[Any], own: Sequence[int | None], space: Sequence[int]) -> Strides:
    """Steps in bytes along the axes of the space; 0 where the array has one element for all.

    Args:
        own: The array's axes along those of the space.
    """
    shape, steps, found = array.shape, array.strides, list[int]()
    for axis, length in zip(own, space, strict=True):
        count = 1 if axis is None else shape[axis]
        if axis is None or count == 1:
            found.append(0)
        elif count == length:
            # Without elements there is not even one for all, which each row would read.
            found.append(steps[axis] or (0 if count else array.itemsize))
        else:
            raise NoVectorCodeError(
                f"an array of shape {shape} has no elements for a space of {tuple(space)}"
            )
    return tuple(found)


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

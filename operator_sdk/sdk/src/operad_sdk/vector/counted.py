"""Positions along axes as arrays: integers that follow each other, which kernels read like any input.

They broadcast along all other axes, so any order of rows, runs and lanes finds them.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from operad.operator import ScalarForm, Shape
from operad_sdk.mapper.builder import Builder
from operad_sdk.vector.primitives import NoVectorCodeError

_LONGEST: Final = 1 << 26
KIND: Final = "int32"
_made: Final[list[NDArray[np.int32]]] = [np.arange(1024, dtype=np.int32)]
# invariant: grows only; tables of kernels hold addresses of every array that was ever in it.


def with_positions(form: ScalarForm) -> tuple[ScalarForm, tuple[int, ...]]:
    """The form with one more input for each axis along which it counts, and these axes."""
    steps, count = form.instructions, len(form.inputs)
    axes = tuple(dict.fromkeys(int(step.value or 0) for step in steps if step.op == "position"))
    if not axes:
        return form, axes
    names = [*form.inputs, *(f"position along {axis}" for axis in axes)]
    builder = Builder(form.name, names, [*(step.kind for step in steps[:count]), *[KIND] * len(axes)])
    at = list(range(count))
    for step in steps[count:]:
        if step.op == "position":
            at.append(builder.cast(count + axes.index(int(step.value or 0)), step.kind))
        else:
            at.append(builder.copy(step, [at[i] for i in step.args]))
    results = [one._replace(position=at[one.position]) for one in form.results]
    return builder.finish(*results, axes={i: steps[i].axes for i in range(count)}), axes


def positions(space: Shape, axis: int) -> NDArray[Any]:
    """The positions along an axis, as an array that broadcasts to the space; its memory stays for ever.

    Raises:
        NoVectorCodeError: There are too many.
    """
    length = space[axis]
    if length > _LONGEST:
        raise NoVectorCodeError(f"an axis of {length} elements is too long to be counted along")
    found = _made[-1]
    if len(found) < length:
        found = np.arange(2 * length, dtype=np.int32)
        _made.append(found)
    return found[:length].reshape([-1 if i == axis else 1 for i in range(len(space))])

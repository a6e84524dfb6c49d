"""Broadcasting: shapes that fit together, and its adjoint, summing."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import zip_longest
from typing import Any

import numpy as np

from operad.errors import ShapeError
from operad_sdk import Array, Shape


def shape_for(operator: str) -> Callable[[Shape, Shape], Shape]:
    """The shape function of `operator`: what both operands are repeated to.

    An axis of length 1, or a missing first one, fits any length. Errors of the function:
    `ShapeError`, where two lengths differ and neither is 1.
    """

    def broadcast_shape(lhs: Shape, rhs: Shape) -> Shape:
        lengths: list[int] = []
        for left, right in zip_longest(reversed(lhs), reversed(rhs), fillvalue=1):
            if left != right and 1 not in (left, right):
                axis = max(len(lhs), len(rhs)) - 1 - len(lengths)
                raise ShapeError(
                    f"{operator}: lhs has shape {lhs} and rhs {rhs}, which do not broadcast: "
                    f"axis {axis} is {left} and {right}, expected equal lengths or 1"
                )
            lengths.append(right if left == 1 else left)
        return tuple(reversed(lengths))

    return broadcast_shape


def sum_to(values: Array, out: Array) -> None:
    """Write the adjoint of broadcasting `out`'s shape to that of `values`: sums over what was repeated.

    Half precision is summed in single precision.
    """
    target = out[(None,) * (values.ndim - out.ndim) + (...,)]
    axes = tuple(axis for axis, length in enumerate(target.shape) if length != values.shape[axis])
    if not axes:
        target[...] = values
    elif out.dtype == np.float16:
        target[...] = values.sum(axes, dtype=np.float32, keepdims=True)
    else:
        values.sum(axes, keepdims=True, out=target)


def summed(gradient: Callable[..., None]) -> Callable[..., None]:
    """The gradient of an operand that was broadcast, from the gradient by its repetition.

    Args:
        gradient: Takes `ograd` first, and writes into `out`, which has the shape of `ograd`.
    """

    @wraps(gradient)
    def of_operand(ograd: Array, *values: Array, out: Array) -> None:
        if out.shape == ograd.shape:
            gradient(ograd, *values, out=out)
            return
        full: Any = np.empty_like(ograd)
        gradient(ograd, *values, out=full)
        sum_to(full, out)

    return of_operand

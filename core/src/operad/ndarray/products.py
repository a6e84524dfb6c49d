"""The matrix product `@`, with NumPy's rules for axes, from the operators `dot` and `batch_dot`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from operad.errors import ShapeError
from operad.ndarray.arithmetic import invoke

if TYPE_CHECKING:
    from operad.ndarray.ndarray import NDArray


def matmul(x: NDArray, y: NDArray) -> NDArray:
    """`x @ y`: over the last axis of `x` and the last but one of `y`, the axes before broadcast.

    Two vectors give an array of shape (1,), as every reduction of MXNet 1.x does.

    Raises:
        ShapeError: The shapes have no product.
    """
    if not (x.ndim and y.ndim and x.shape[-1] == y.shape[-2:][0]):
        raise ShapeError(f"x @ y: arrays of shapes {x.shape} and {y.shape} have no matrix product")
    if y.ndim <= 2:
        return invoke("dot", (x, y))
    rows = x if x.ndim > 1 else x.expand_dims(axis=0)
    try:
        batch = np.broadcast_shapes(rows.shape[:-2], y.shape[:-2])
    except ValueError as error:
        raise ShapeError(f"x @ y: {x.shape} and {y.shape} do not broadcast before the last axes") from error
    product = invoke("batch_dot", (_batched(rows, batch), _batched(y, batch)))
    kept = (rows.shape[-2],) if x.ndim > 1 else ()
    return product.reshape((*batch, *kept, y.shape[-1]))


def _batched(x: NDArray, batch: tuple[int, ...]) -> NDArray:
    """`x` with its axes before the last two broadcast to `batch`, and those made one."""
    matrix = x.shape[-2:]
    whole = x if x.shape == (*batch, *matrix) else x.broadcast_to((*batch, *matrix))
    return whole.reshape((math.prod(batch), *matrix))

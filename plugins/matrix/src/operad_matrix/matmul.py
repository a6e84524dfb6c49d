"""The matrix product `x @ y`, with NumPy's rules for axes, from the operators `dot` and `batch_dot`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from operad import NDArray, nd
from operad.errors import ShapeError


def matmul(self: NDArray, other: Any) -> Any:
    """Over the last axis of `self` and the last but one of `other`, the axes before broadcast.

    Two vectors give an array of shape (1,), as every reduction of MXNet 1.x does.

    Raises:
        ShapeError: The shapes have no product.
    """
    if isinstance(other, (np.ndarray, list, tuple)):
        other = nd.converted(self, other)
    return _product(self, other) if isinstance(other, NDArray) else NotImplemented


def _product(x: NDArray, y: NDArray) -> NDArray:
    if not (x.ndim and y.ndim and x.shape[-1] == y.shape[-2:][0]):
        raise ShapeError(f"x @ y: arrays of shapes {x.shape} and {y.shape} have no matrix product")
    if y.ndim <= 2:
        return nd.invoke("dot", (x, y))
    rows = x if x.ndim > 1 else x.expand_dims(axis=0)
    try:
        batch = np.broadcast_shapes(rows.shape[:-2], y.shape[:-2])
    except ValueError as error:
        raise ShapeError(f"x @ y: {x.shape} and {y.shape} do not broadcast before the last axes") from error
    product = nd.invoke("batch_dot", (_batched(rows, batch), _batched(y, batch)))
    kept = (rows.shape[-2],) if x.ndim > 1 else ()
    return product.reshape((*batch, *kept, y.shape[-1]))


def _batched(x: NDArray, batch: tuple[int, ...]) -> NDArray:
    """`x` with its axes before the last two broadcast to `batch`, and those made one."""
    matrix = x.shape[-2:]
    whole = x if x.shape == (*batch, *matrix) else x.broadcast_to((*batch, *matrix))
    return whole.reshape((math.prod(batch), *matrix))

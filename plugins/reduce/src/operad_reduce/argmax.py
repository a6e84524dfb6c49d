"""`argmax`, `argmin` and `argmax_channel`: positions of the extrema, as numbers of the data's type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from operad_reduce.reduction import KEEPDIMS, axes_of, by_rows
from operad_sdk import Array, Contract, OperatorProperty, Shape, ShapeError, define, operator, param, reduced


def _kept(shape: Shape, axis: int | None, keepdims: bool) -> Shape:
    if 0 in (shape[one] for one in axes_of(len(shape), axis)):
        raise ShapeError(f"data has shape {shape}, expected at least one element to choose from")
    return reduced(shape, axis, keepdims)


def _extremum(name: str, find: Any, which: str, result: str) -> type[OperatorProperty]:
    extreme: Callable[..., Array] = np.max if name == "argmax" else np.min

    def forward(data: Array, axis: int | None, keepdims: bool, output: Array) -> None:
        output[...] = find(data, axis=axis, keepdims=keepdims)

    def first(rows: Array) -> Array:
        is_extreme = rows == extreme(rows, 1, keepdims=True)
        return np.where(is_extreme, np.arange(rows.shape[1]), np.inf).min(1)

    def reference(data: Array, axis: int | None, keepdims: bool) -> Array:
        return by_rows(first)(data, None if axis is None else [axis], keepdims)

    return define(
        name,
        "data:(*S) -> output:(*kept(S, axis, keepdims))",
        forward,
        summary=f"The index of the first {which} element along an axis, as a number of the data's type.",
        example=("[[1, 2, 0], [4, 3, 4]]", "axis=1", result),
        source="ReduceAxisParam, src/operator/tensor/broadcast_reduce_op.h.",
        params={"axis": param(int, None, doc="The axis; left out: the data in order."), "keepdims": KEEPDIMS},
        functions={"kept": _kept},
        reference=reference,
    )


ArgMax = _extremum("argmax", np.argmax, "largest", "[1., 0.]")
ArgMin = _extremum("argmin", np.argmin, "smallest", "[2., 1.]")


def _chosen(channels: int, others: Shape) -> Shape:
    if channels == 0:
        raise ShapeError(f"data has shape (N, 0, {others}), expected at least one channel")
    return others


@operator("argmax_channel")
class ArgMaxChannel(OperatorProperty):
    """The index of the first largest channel.

    Shapes:
        data: (N, C, ...)
        output: (N, ...). Indices have the data's type.

    Example:
        >>> import operad as od
        >>> od.nd.argmax_channel(od.nd.array([[1, 2, 0], [4, 3, 4]])).asnumpy()
        array([1., 0.], dtype=float32)

    Source: argmax_channel, src/operator/tensor/broadcast_reduce_op_index.cc.
    """

    spec = "data:(N, C, *S) -> output:(N, *chosen(C, S))"
    functions: ClassVar = {"chosen": _chosen}
    contract = Contract(
        reference=lambda data: np.array([item.reshape(len(item), -1).argmax(0) for item in data]).reshape(
            data.shape[:1] + data.shape[2:]
        )
    )

    def forward(data: Array, output: Array) -> None:
        """Find."""
        output[...] = np.argmax(data, axis=1)

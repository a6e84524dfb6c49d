"""`argmax`, `argmin` and `argmax_channel`: where the extrema are, as numbers of the data's type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from operad.errors import ShapeError
from operad.operator import InferredShapes
from operad_reduce.reduction import Reduction, by_rows
from operad_sdk import Array, Contract, OpContext, OperatorProperty, Output, PartialShape, operator, param


class Place(Reduction):
    """The index of an extremum along one axis, or in all elements in order."""

    axis = param(int, None, doc="The axis; left out: the data in order.")
    spec = "data:(...) -> output:(*R)"

    def reduced_axes(self, ndim: int) -> tuple[int, ...]:
        """The one axis, or all."""
        if self.axis is None:
            return tuple(range(ndim))
        if not -ndim <= self.axis < ndim:
            raise ShapeError(
                f"{self.name}: data has {ndim} axes, expected axis {self.axis} to be one of them"
            )
        return (self.axis % ndim,)

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """There must be something to find."""
        shape = in_shapes[0]
        if shape is not None and 0 in (shape[axis] for axis in self.reduced_axes(len(shape))):
            raise ShapeError(
                f"{self.name}: data has shape {shape}, expected at least one element to choose from"
            )
        return super().infer_shape(in_shapes)

    def write_place(self, find: Any, data: Array, output: Output) -> None:
        """Write what `find` returns; the first of equal elements counts."""
        output.assign(find(data, axis=self.axis).reshape(output.shape))


def _place(is_extreme: Callable[[Array], Array]) -> Callable[..., Array]:
    """What the contract checks compare with: the first place that holds an extremum."""
    first = by_rows(lambda rows: np.where(is_extreme(rows), np.arange(rows.shape[1]), np.inf).min(1))
    return lambda data, axis, keepdims: first(data, None if axis is None else [axis], keepdims)


@operator("argmax")
class ArgMax(Place):
    """The index of the first largest element along an axis.

    Shapes:
        data: (...)
        output: As data without the axis; (1,) where none is left. Indices have the data's type.

    Example:
        >>> import operad as od
        >>> od.nd.argmax(od.nd.array([[1, 2, 0], [4, 3, 4]]), axis=1).asnumpy()
        array([1., 0.], dtype=float32)

    Source: ReduceAxisParam, src/operator/tensor/broadcast_reduce_op.h.
    """

    contract = Contract(reference=_place(lambda rows: rows == rows.max(1, keepdims=True)))

    def forward(self, op_ctx: OpContext, data: Array, output: Output) -> None:
        """Find."""
        self.write_place(op_ctx.xp.argmax, data, output)


@operator("argmin")
class ArgMin(Place):
    """The index of the first smallest element along an axis.

    Shapes:
        data: (...)
        output: As data without the axis; (1,) where none is left. Indices have the data's type.

    Example:
        >>> import operad as od
        >>> od.nd.argmin(od.nd.array([[1, 2, 0], [4, 3, 4]]), axis=1).asnumpy()
        array([2., 1.], dtype=float32)

    Source: ReduceAxisParam, src/operator/tensor/broadcast_reduce_op.h.
    """

    contract = Contract(reference=_place(lambda rows: rows == rows.min(1, keepdims=True)))

    def forward(self, op_ctx: OpContext, data: Array, output: Output) -> None:
        """Find."""
        self.write_place(op_ctx.xp.argmin, data, output)


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

    spec = "data:(N, C, *S) -> output:(N, *S)"
    contract = Contract(
        reference=lambda data: np.array([item.reshape(len(item), -1).argmax(0) for item in data]).reshape(
            data.shape[:1] + data.shape[2:]
        )
    )

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """There must be a channel."""
        shape = in_shapes[0]
        if shape is not None and len(shape) > 1 and shape[1] == 0:
            raise ShapeError(f"argmax_channel: data has shape {shape}, expected at least one channel")
        return super().infer_shape(in_shapes)

    def forward(self, op_ctx: OpContext, data: Array, output: Output) -> None:
        """Find."""
        output.assign(op_ctx.xp.argmax(data, axis=1))

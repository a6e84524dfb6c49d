"""`cumsum`: sums of all elements up to each."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from operad.dtypes import DType, as_dtype
from operad.errors import ShapeError
from operad.operator import InferredShapes, InferredTypes
from operad_reduce.reduction import check_number, sum_type
from operad_sdk import (
    Array,
    Contract,
    OpContext,
    OperatorProperty,
    Output,
    PartialShape,
    gradient,
    operator,
    param,
)


def _sums(a: Array, axis: int | None) -> Array:
    """A product with a triangle of ones, for the contract checks."""
    rows = a.reshape(-1) if axis is None else np.moveaxis(a, axis, -1)
    return np.moveaxis(rows @ np.tri(rows.shape[-1]).T, -1, axis or 0)


@operator("cumsum")
class CumSum(OperatorProperty):
    """For each element, the sum of those before it along an axis, and itself.

    Shapes:
        a: (...)
        output: As a; (size,) without `axis`, where the elements are taken in order.

    Example:
        >>> import operad as od
        >>> od.nd.cumsum(od.nd.array([[1, 2], [3, 4]]), axis=0).asnumpy()
        array([[1., 2.],
               [4., 6.]], dtype=float32)

    Source: CumsumParam, src/operator/numpy/np_cumsum-inl.h.
    """

    axis = param(int, None, doc="The axis; left out: the elements in order.")
    dtype = param("dtype", None, doc="Element type of the output and the sums; left out: the data's.")
    contract = Contract(reference=_sums)

    def spec(self) -> str:
        """One line of the shape language, which depends on `axis`."""
        return f"a:(...) -> output:({'L' if self.axis is None else '...'})"

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """The data's shape, or its size."""
        shape = in_shapes[0]
        if shape is None:
            return [None], [None], []
        if self.axis is not None and not -len(shape) <= self.axis < len(shape):
            raise ShapeError(f"cumsum: a has shape {shape}, which has no axis {self.axis}")
        if self.axis is not None:
            return [shape], [shape], []
        lengths = [length for length in shape if length is not None]
        return [shape], [(prod(lengths) if len(lengths) == len(shape) else None,)], []

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """`dtype`, or the data's."""
        check_number(self.name, in_types)
        dtype = as_dtype(self.dtype) if self.dtype else in_types[0]
        return list(in_types), [dtype], []

    def forward(self, op_ctx: OpContext, a: Array, output: Output) -> None:
        """Add up."""
        if self.axis is None:
            a = a.reshape(a.size)
        _write_sums(op_ctx.xp, a, self.axis or 0, output)

    @gradient
    def a_gradient(self, op_ctx: OpContext, output_grad: Array, a_grad: Output) -> None:
        """The sums from the other end."""
        axis = self.axis or 0
        backwards = op_ctx.xp.flip(output_grad, axis)
        sums = op_ctx.xp.cumsum(backwards, axis=axis, dtype=sum_type(backwards.dtype))
        a_grad.assign(op_ctx.xp.flip(sums, axis).reshape(a_grad.shape))


def _write_sums(xp: Any, array: Array, axis: int, output: Output) -> None:
    if sum_type(output.dtype) != output.dtype:
        output.assign(xp.cumsum(array, axis=axis, dtype=sum_type(output.dtype)))
        return
    with output.writing() as out:
        xp.cumsum(array, axis=axis, dtype=out.dtype, out=out)

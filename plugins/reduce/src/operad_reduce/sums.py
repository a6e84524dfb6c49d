"""`sum`, `mean` and `nansum`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad.dtypes import DType
from operad.operator import InferredTypes
from operad_reduce.reduction import Reduction, by_rows, check_number, sum_type, widened
from operad_sdk import Array, Contract, OpContext, Output, gradient, operator, param


class Additive(Reduction):
    """A reduction by adding; of integers in their own type, where sums may wrap around."""

    exclude = param(bool, False, doc="Reduce the axes that are not in `axis`.")
    spec = "data:(...) -> output:(*R)"

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """A number type."""
        check_number(self.name, in_types)
        return super().infer_type(in_types)

    def write_sum(self, xp: Any, data: Array, output: Output) -> None:
        """Write the sum."""
        axes = self.reduced_axes(data.ndim)
        with output.writing() as out:
            target = self.expanded(out, data.ndim)
            xp.sum(data, axis=axes, dtype=sum_type(data.dtype), keepdims=True, out=target)


@operator("sum")
class Sum(Additive):
    """The sum along axes. Half precision is summed in single precision.

    Shapes:
        data: (...)
        output: The axes that are kept; (1,) where there are none.

    Example:
        >>> import operad as od
        >>> od.nd.sum(od.nd.array([[1, 2], [3, 4]]), axis=1).asnumpy()
        array([3., 7.], dtype=float32)

    Source: ReduceAxesParam, src/operator/tensor/broadcast_reduce_op.h.
    """

    contract = Contract(reference=by_rows(lambda rows: rows @ np.ones(rows.shape[1])))

    def forward(self, op_ctx: OpContext, data: Array, output: Output) -> None:
        """Add."""
        self.write_sum(op_ctx.xp, data, output)

    @gradient
    def data_gradient(self, output_grad: Array, data_grad: Output) -> None:
        """The gradient, repeated."""
        data_grad.assign(self.expanded(output_grad, data_grad.ndim))


@operator("mean")
class Mean(Additive):
    """The mean along axes; of integers, rounded towards zero; of nothing, NaN.

    Shapes:
        data: (...)
        output: The axes that are kept; (1,) where there are none.

    Example:
        >>> import operad as od
        >>> od.nd.mean(od.nd.array([[1, 2], [3, 4]]), axis=1).asnumpy()
        array([1.5, 3.5], dtype=float32)

    Source: ReduceAxesParam, src/operator/tensor/broadcast_reduce_op.h. Differs: sums of integers do
    not wrap around on the way.
    """

    contract = Contract(reference=by_rows(lambda rows: rows @ np.ones(rows.shape[1]) / rows.shape[1]))

    def forward(self, op_ctx: OpContext, data: Array, output: Output) -> None:
        """Add, and divide."""
        count = self.count(data.shape)
        if count == 0:
            output.assign(np.nan if data.dtype.kind == "f" else 0)
        elif data.dtype.kind == "f" and data.dtype != np.float16:
            with output.writing() as out:
                target = self.expanded(out, data.ndim)
                op_ctx.xp.sum(data, axis=self.reduced_axes(data.ndim), keepdims=True, out=target)
                target /= count
        else:
            wide = np.float32 if data.dtype == np.float16 else np.float64
            total = data.sum(self.reduced_axes(data.ndim), dtype=wide, keepdims=True)
            output.assign((total / count).reshape(output.shape))

    @gradient
    def data_gradient(self, output_grad: Array, data_grad: Output) -> None:
        """The gradient divided by the count, repeated."""
        count = max(1, self.count(data_grad.shape))
        share = (widened(output_grad) / count).astype(output_grad.dtype)
        data_grad.assign(self.expanded(share, data_grad.ndim))


@operator("nansum")
class NanSum(Additive):
    """The sum along axes, where NaN counts as 0, and has no gradient.

    Shapes:
        data: (...)
        output: The axes that are kept; (1,) where there are none.

    Example:
        >>> import operad as od
        >>> od.nd.nansum(od.nd.array([[1, float("nan")], [3, 4]]), axis=1).asnumpy()
        array([1., 7.], dtype=float32)

    Source: ReduceAxesParam, src/operator/tensor/broadcast_reduce_op.h.
    """

    contract = Contract(
        nan_policy="NaN counts as 0: that is what the operator is for",
        reference=by_rows(lambda rows: np.nan_to_num(rows) @ np.ones(rows.shape[1])),
    )

    def forward(self, op_ctx: OpContext, data: Array, output: Output) -> None:
        """Replace, and add."""
        xp = op_ctx.xp
        self.write_sum(xp, xp.where(xp.isnan(data), data.dtype.type(0), data), output)

    @gradient
    def data_gradient(self, op_ctx: OpContext, output_grad: Array, data: Array, data_grad: Output) -> None:
        """The gradient, repeated where there is a number."""
        is_number = ~op_ctx.xp.isnan(data)
        data_grad.assign(self.expanded(output_grad, data.ndim) * is_number)

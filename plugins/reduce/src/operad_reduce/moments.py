"""`moments`: mean and variance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad.dtypes import DType
from operad.errors import DTypeError
from operad.operator import InferredTypes
from operad_reduce.reduction import Reduction, by_rows, normal_axes, widened
from operad_sdk import Array, Contract, OpContext, Output, gradient, operator, param


def _mean_and_variance(data: Array, axes: Any, keepdims: bool) -> tuple[Array, Array]:
    """The variance by its definition over all pairs, for the contract checks."""

    def variance(rows: Array) -> Array:
        return ((rows[:, :, None] - rows[:, None, :]) ** 2).sum((1, 2)) / (2 * np.square(rows.shape[1]))

    mean = by_rows(lambda rows: rows @ np.ones(rows.shape[1]) / rows.shape[1])
    return mean(data, axes, keepdims), by_rows(variance)(data, axes, keepdims)


@operator("moments")
class Moments(Reduction):
    """The mean and the variance along axes; the variance divides by the count. Of nothing, NaN.

    Shapes:
        data: (...), of a floating type.
        output0: The axes that are kept, the mean; (1,) where there are none.
        output1: As output0, the variance.

    Example:
        >>> import operad as od
        >>> mean, variance = od.nd.moments(od.nd.array([[1, 3], [2, 2]]), axes=1)
        >>> mean.asnumpy(), variance.asnumpy()
        (array([2., 2.], dtype=float32), array([1., 0.], dtype=float32))

    Source: MomentsParam, src/operator/nn/moments-inl.h. Differs: without `axes` all are reduced.
    """

    axis = None
    axes = param("shape", None, doc="The axes to reduce; left out: all of them.")
    spec = "data:(...) -> output0:(*R), output1:(*R)"
    contract = Contract(reference=_mean_and_variance)

    def reduced_axes(self, ndim: int) -> tuple[int, ...]:
        """The axes that are reduced."""
        return normal_axes(self.name, self.axes or range(ndim), ndim)

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """A floating type."""
        if in_types[0] is not None and in_types[0].kind != "f":
            raise DTypeError(f"moments: data is {in_types[0]}, expected a floating type; cast with astype")
        return super().infer_type(in_types)

    def forward(self, op_ctx: OpContext, data: Array, output0: Output, output1: Output) -> None:
        """The mean first, so that the variance is of small numbers."""
        xp, axes, count = op_ctx.xp, self.reduced_axes(data.ndim), self.count(data.shape)
        if count == 0:
            output0.assign(np.nan)
            output1.assign(np.nan)
            return
        wide = widened(data)
        mean = xp.sum(wide, axis=axes, keepdims=True)
        mean /= count
        output0.assign(mean.reshape(output0.shape))
        if output1.wanted:
            centred = wide - mean
            centred *= centred
            output1.assign((xp.sum(centred, axis=axes, keepdims=True) / count).reshape(output1.shape))

    @gradient
    def data_gradient(
        self, output0_grad: Array, output1_grad: Array, data: Array, output0: Array, data_grad: Output
    ) -> None:
        """`(dmean + 2 (data - mean) dvariance) / count`."""
        by_mean, by_variance, mean = (
            self.expanded(widened(array), data.ndim) for array in (output0_grad, output1_grad, output0)
        )
        grad = widened(data) - mean
        grad *= 2 * by_variance
        grad += by_mean
        grad /= max(1, self.count(data.shape))
        data_grad.assign(grad)

"""`moments`: mean and variance."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_reduce.reduction import KEEPDIMS, axes_of, by_rows, count, unreduced
from operad_sdk import Array, Contract, OperatorProperty, blocked_sum, operator, param


def _mean_and_variance(data: Array, axes: Any, keepdims: bool) -> tuple[Array, Array]:
    """Both by their definitions, for the contract checks."""

    def mean(rows: Array) -> Array:
        return rows.sum(1) / rows.shape[1]

    def variance(rows: Array) -> Array:
        return ((rows - mean(rows)[:, None]) ** 2).sum(1) / rows.shape[1]

    return by_rows(mean)(data, axes, keepdims), by_rows(variance)(data, axes, keepdims)


@operator("moments")
class Moments(OperatorProperty):
    """The mean and the variance along axes; the variance divides by the count. Of nothing, NaN.

    Shapes:
        data: (...); of integers, both are rounded towards zero.
        output0: The axes that are kept, the mean; (1,) where there are none.
        output1: As output0, the variance.

    Example:
        >>> import operad as od
        >>> mean, variance = od.nd.moments(od.nd.array([[1, 3], [2, 2]]), axes=1)
        >>> mean.asnumpy(), variance.asnumpy()
        (array([2., 2.], dtype=float32), array([1., 0.], dtype=float32))

    Source: MomentsParam, src/operator/nn/moments-inl.h. Differs: without `axes` all are reduced.
    """

    axes = param("shape", None, doc="The axes to reduce; left out: all of them.")
    keepdims = KEEPDIMS
    spec = "data:(*S) -> output0:(*reduced(S, axes, keepdims)), output1:(*reduced(S, axes, keepdims))"
    accepts = "number"
    integers_as = "float64"
    compute_dtype = "float32"
    contract = Contract(reference=_mean_and_variance, undefined="nothing has no mean")

    def forward(data: Array, axes: Any, output0: Array, output1: Array, wanted: frozenset[str]) -> None:
        """The mean first, so that the variance is of small numbers."""
        n, along = count(data.shape, axes) or np.nan, axes_of(data.ndim, axes)
        mean = unreduced(output0, data.shape, axes)
        blocked_sum(data, along, keepdims=True, out=mean)
        mean /= n
        if "output1" in wanted:
            centred = data - mean
            centred *= centred
            blocked_sum(centred, along, keepdims=True, out=unreduced(output1, data.shape, axes))
            output1 /= n

    def data_grad(
        output0_grad: Array, output1_grad: Array, data: Array, output0: Array, axes: Any, data_grad: Array
    ) -> None:
        """`dmean/dx = 1 / n`, `dvariance/dx = 2 (x - mean) / n`."""
        by_mean, by_variance, mean = (
            unreduced(array, data.shape, axes) for array in (output0_grad, output1_grad, output0)
        )
        np.subtract(data, mean, out=data_grad)
        data_grad *= 2 * by_variance
        data_grad += by_mean
        data_grad /= max(1, count(data.shape, axes))

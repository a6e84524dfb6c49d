"""`max` and `min`."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_reduce.reduction import Reduction, by_rows
from operad_sdk import Array, Contract, OpContext, Output, gradient, operator, param
from operad_sdk.domains import Distinct


class Extremum(Reduction):
    """A reduction that picks an element."""

    exclude = param(bool, False, doc="Reduce the axes that are not in `axis`.")
    spec = "data:(...) -> output:(*R)"

    def write_extremum(self, reduce: Any, data: Array, output: Output, of_nothing: Any) -> None:
        """Write what `reduce` picks; `of_nothing` where there is nothing to pick."""
        axes = self.reduced_axes(data.ndim)
        if self.count(data.shape) == 0:
            output.assign(of_nothing)
            return
        with output.writing() as out:
            reduce(data, axis=axes, keepdims=True, out=self.expanded(out, data.ndim))

    @gradient
    def data_gradient(self, output_grad: Array, data: Array, output: Array, data_grad: Output) -> None:
        """The gradient, for each element that equals the extremum."""
        is_picked = data == self.expanded(output, data.ndim)
        with data_grad.writing() as out:
            np.multiply(is_picked, self.expanded(output_grad, data.ndim), out=out)


def _limit(dtype: Any, sign: int) -> Any:
    """The largest value of a type, or the smallest."""
    if dtype.kind == "f":
        return sign * np.inf
    if dtype.kind == "b":
        return sign > 0
    return np.iinfo(dtype).max if sign > 0 else np.iinfo(dtype).min


@operator("max")
class Max(Extremum):
    """The largest element along axes. All equal largest ones get the gradient, as in MXNet.

    Shapes:
        data: (...)
        output: The axes that are kept; (1,) where there are none. Of no elements, the smallest value.

    Example:
        >>> import operad as od
        >>> od.nd.max(od.nd.array([[1, 2], [4, 3]]), axis=1).asnumpy()
        array([2., 4.], dtype=float32)

    Source: ReduceAxesParam, src/operator/tensor/broadcast_reduce_op.h.
    """

    contract = Contract(
        inputs={"data": Distinct()},  # equal ones all get the gradient
        reference=by_rows(lambda rows: np.sort(np.c_[rows, np.full(len(rows), -np.inf)], 1)[:, -1]),
    )

    def forward(self, op_ctx: OpContext, data: Array, output: Output) -> None:
        """Pick."""
        self.write_extremum(op_ctx.xp.max, data, output, _limit(data.dtype, -1))


@operator("min")
class Min(Extremum):
    """The smallest element along axes. All equal smallest ones get the gradient, as in MXNet.

    Shapes:
        data: (...)
        output: The axes that are kept; (1,) where there are none. Of no elements, the largest value.

    Example:
        >>> import operad as od
        >>> od.nd.min(od.nd.array([[1, 2], [4, 3]]), axis=1).asnumpy()
        array([1., 3.], dtype=float32)

    Source: ReduceAxesParam, src/operator/tensor/broadcast_reduce_op.h.
    """

    contract = Contract(
        inputs={"data": Distinct()},  # equal ones all get the gradient
        reference=by_rows(lambda rows: np.sort(np.c_[rows, np.full(len(rows), np.inf)], 1)[:, 0]),
    )

    def forward(self, op_ctx: OpContext, data: Array, output: Output) -> None:
        """Pick."""
        self.write_extremum(op_ctx.xp.min, data, output, _limit(data.dtype, 1))

"""`prod` and `nanprod`.

The gradient is the product of the other elements. It is the output divided by the element, except
where an element is 0: then only a single zero has a gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad.dtypes import DType
from operad.operator import InferredTypes
from operad_reduce.reduction import Reduction, by_rows, check_number, sum_type, widened
from operad_sdk import Array, Contract, OpContext, Output, gradient, operator, param


class Multiplicative(Reduction):
    """A reduction by multiplying; of integers in their own type, where products may wrap around."""

    exclude = param(bool, False, doc="Reduce the axes that are not in `axis`.")
    spec = "data:(...) -> output:(*R)"

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """A number type."""
        check_number(self.name, in_types)
        return super().infer_type(in_types)

    def write_product(self, xp: Any, data: Array, output: Output) -> None:
        """Write the product."""
        axes = self.reduced_axes(data.ndim)
        with output.writing() as out:
            target = self.expanded(out, data.ndim)
            xp.prod(data, axis=axes, dtype=sum_type(data.dtype), keepdims=True, out=target)

    def product_of_others(self, xp: Any, data: Array) -> Array:
        """For each element, the product of those that are reduced with it."""
        axes = self.reduced_axes(data.ndim)
        is_zero = data == 0
        factors = xp.where(is_zero, data.dtype.type(1), data)
        product = xp.prod(factors, axis=axes, keepdims=True)
        if not is_zero.any():
            return product / factors
        zeros = xp.sum(is_zero, axis=axes, keepdims=True)
        return xp.where(zeros - is_zero == 0, product / factors, data.dtype.type(0))


@operator("prod")
class Prod(Multiplicative):
    """The product along axes. Half precision is multiplied in single precision.

    Shapes:
        data: (...)
        output: The axes that are kept; (1,) where there are none.

    Example:
        >>> import operad as od
        >>> od.nd.prod(od.nd.array([[1, 2], [3, 4]]), axis=1).asnumpy()
        array([ 2., 12.], dtype=float32)

    Source: ReduceAxesParam, src/operator/tensor/broadcast_reduce_op.h. Differs: the gradient is right
    where an element is 0.
    """

    contract = Contract(reference=by_rows(lambda rows: np.multiply.reduce(rows, 1)))

    def forward(self, op_ctx: OpContext, data: Array, output: Output) -> None:
        """Multiply."""
        self.write_product(op_ctx.xp, data, output)

    @gradient
    def data_gradient(self, op_ctx: OpContext, output_grad: Array, data: Array, data_grad: Output) -> None:
        """The gradient times the product of the others."""
        others = self.product_of_others(op_ctx.xp, widened(data))
        others *= self.expanded(output_grad, data.ndim)
        data_grad.assign(others)


@operator("nanprod")
class NanProd(Multiplicative):
    """The product along axes, where NaN counts as 1, and has no gradient.

    Shapes:
        data: (...)
        output: The axes that are kept; (1,) where there are none.

    Example:
        >>> import operad as od
        >>> od.nd.nanprod(od.nd.array([[2, float("nan")], [3, 4]]), axis=1).asnumpy()
        array([ 2., 12.], dtype=float32)

    Source: ReduceAxesParam, src/operator/tensor/broadcast_reduce_op.h. Differs: the gradient is right
    where an element is 0.
    """

    contract = Contract(
        nan_policy="NaN counts as 1: that is what the operator is for",
        reference=by_rows(lambda rows: np.multiply.reduce(np.nan_to_num(rows, nan=1), 1)),
    )

    def forward(self, op_ctx: OpContext, data: Array, output: Output) -> None:
        """Replace, and multiply."""
        xp = op_ctx.xp
        self.write_product(xp, xp.where(xp.isnan(data), data.dtype.type(1), data), output)

    @gradient
    def data_gradient(self, op_ctx: OpContext, output_grad: Array, data: Array, data_grad: Output) -> None:
        """The gradient times the product of the others, where there is a number."""
        xp = op_ctx.xp
        is_number = ~xp.isnan(data)
        others = self.product_of_others(xp, widened(xp.where(is_number, data, data.dtype.type(1))))
        others *= self.expanded(output_grad, data.ndim)
        others *= is_number
        data_grad.assign(others)

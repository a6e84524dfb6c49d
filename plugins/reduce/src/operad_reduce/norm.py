"""`norm`: the length of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad.dtypes import DType, as_dtype
from operad.operator import InferredTypes
from operad_reduce.reduction import Reduction, by_rows, check_number, widened
from operad_sdk import Array, Contract, OpContext, Output, gradient, operator, param


def _norm(data: Array, axis: Any, keepdims: bool, ord: int) -> Array:
    """By a product with ones, for the contract checks."""
    return by_rows(lambda rows: (np.abs(rows) ** ord @ np.ones(rows.shape[1])) ** (1 / ord))(
        data, axis, keepdims
    )


@operator("norm")
class Norm(Reduction):
    """The root of the sum of squares along axes; with `ord=1`, the sum of absolute values.

    Half precision is computed in single precision, integers in double.

    Shapes:
        data: (...)
        output: The axes that are kept; (1,) where there are none.

    Example:
        >>> import operad as od
        >>> od.nd.norm(od.nd.array([[3, 4], [0, 2]]), axis=1).asnumpy()
        array([5., 2.], dtype=float32)

    Source: NormParam, src/operator/tensor/broadcast_reduce_op.h. Differs: the gradient of a norm that
    is 0 is 0, not NaN.
    """

    ord = param(int, 2, ge=1, le=2, doc="Which norm.")
    out_dtype = param("dtype", None, doc="Element type of the output; left out: the data's.")
    spec = "data:(...) -> output:(*R)"
    contract = Contract(reference=_norm)

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """A number type."""
        check_number(self.name, in_types)
        ins, outs, aux = super().infer_type(in_types)
        return ins, [as_dtype(self.out_dtype)] if self.out_dtype else outs, aux

    def forward(self, op_ctx: OpContext, data: Array, output: Output) -> None:
        """Sum, and take the root."""
        xp, wide = op_ctx.xp, _floating(data)
        terms = xp.abs(wide) if self.ord == 1 else xp.multiply(wide, wide)
        total = xp.sum(terms, axis=self.reduced_axes(data.ndim), keepdims=True)
        output.assign((total if self.ord == 1 else xp.sqrt(total)).reshape(output.shape))

    @gradient(when=lambda prop: prop.ord == 1)
    def sign_gradient(self, op_ctx: OpContext, output_grad: Array, data: Array, data_grad: Output) -> None:
        """The signs."""
        grad = op_ctx.xp.sign(data)
        grad *= self.expanded(output_grad, data.ndim).astype(data.dtype)
        data_grad.assign(grad)

    @gradient(when=lambda prop: prop.ord == 2)
    def unit_gradient(
        self, op_ctx: OpContext, output_grad: Array, data: Array, output: Array, data_grad: Output
    ) -> None:
        """The data divided by its norm."""
        xp = op_ctx.xp
        norm, ograd = (self.expanded(widened(array), data.ndim) for array in (output, output_grad))
        share = xp.where(norm == 0, norm.dtype.type(0), ograd) / xp.where(norm == 0, norm.dtype.type(1), norm)
        data_grad.assign(widened(data) * share)


def _floating(array: Array) -> Any:
    return widened(array) if array.dtype.kind == "f" else array.astype(np.float64)

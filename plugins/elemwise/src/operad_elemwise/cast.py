"""`Cast`: another element type."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, Output, operator, param


@operator("Cast")
class Cast(OperatorProperty):
    """Every element as another type; numbers with a fraction lose it where integers are asked for.

    Shapes:
        data: (...)
        output: (...), of type `dtype`

    Example:
        >>> import operad as od
        >>> od.nd.Cast(od.nd.array([1.5, -2.5]), dtype="int32").asnumpy()
        array([ 1, -2], dtype=int32)

    Source: CastParam, src/operator/tensor/elemwise_unary_op.h.
    """

    dtype = param("dtype", doc="Element type of the output.")
    spec = "data:any(...) -> output:dtype(...)"
    contract = Contract(reference=lambda data, dtype: data.astype(dtype))

    def forward(self, data: Array, output: Output) -> None:
        """Assignment casts."""
        _assign_cast(data, output)

    def backward(self, output_grad: Array, data_grad: Output) -> None:
        """The gradient as the argument's type."""
        _assign_cast(output_grad, data_grad)


def _assign_cast(value: Array, output: Output) -> None:
    with output.writing() as out, np.errstate(invalid="ignore", over="ignore"):
        np.copyto(out, value, casting="unsafe")

"""`Cast`: another element type."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, operator, param


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

    def forward(data: Array, output: Array) -> None:
        """Assign, which casts."""
        _cast(data, output)

    def data_grad(output_grad: Array, data_grad: Array) -> None:
        """`dy/dx = 1`, in the argument's type."""
        _cast(output_grad, data_grad)


def _cast(value: Array, out: Array) -> None:
    with np.errstate(invalid="ignore", over="ignore"):
        np.copyto(out, value, casting="unsafe")

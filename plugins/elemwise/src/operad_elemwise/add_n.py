"""`add_n`: the sum of any number of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, gradient, operator, param


@operator("add_n")
class AddN(OperatorProperty):
    """Sum of arrays of one shape, element by element.

    Shapes:
        arg0, arg1, ...: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> x = od.nd.array([1, 2])
        >>> od.nd.add_n(x, x, x).asnumpy()
        array([3., 6.], dtype=float32)

    Source: ElementWiseSumParam, src/operator/tensor/elemwise_sum.h.
    """

    num_args = param(int, ge=1, doc="Number of arrays; filled in by calls.")
    spec = "arg[num_args]:(...) -> output:(...)"
    key_var_num_args = "num_args"
    compute_dtype = "float32"
    inplace = "arg0 -> output"
    contract = Contract(reference=lambda *arrays: np.stack(arrays).sum(0))

    def forward(arg: Any, output: Array) -> None:
        """Add onto the output, which may be the first array."""
        if len(arg) == 1:
            np.copyto(output, arg[0])
            return
        np.add(arg[0], arg[1], output)
        for another in arg[2:]:
            np.add(output, another, output)

    @gradient(inplace="output_grad -> arg0_grad")
    def backward(output_grad: Array, num_args: int) -> list[Array]:
        """Give every array the gradient itself: `dy/da_i = 1`."""
        return [output_grad] * num_args

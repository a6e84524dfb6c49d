"""`add_n`: the sum of any number of arrays."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, Output, operator, param


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

    num_args = param(int, ge=1, doc="How many arrays are added; calls need not give it.")
    spec = "arg[num_args]:(...) -> output:(...)"
    key_var_num_args = "num_args"
    forward_inplace = (("arg0", "output"),)
    contract = Contract(reference=lambda *arrays: np.stack(arrays).sum(0))
    backward_inplace = (("output_grad", "arg0_grad"),)

    def forward(self, arg: tuple[Array, ...], output: Output) -> None:
        """Adds onto the output, which may be the first array."""
        with output.writing() as out:
            if len(arg) == 1:
                np.copyto(out, arg[0])
                return
            np.add(arg[0], arg[1], out=out)
            for another in arg[2:]:
                np.add(out, another, out=out)

    def backward(self, output_grad: Array, arg_grad: tuple[Output, ...]) -> None:
        """The gradient itself, for every array."""
        for grad in arg_grad:
            grad.assign(output_grad)

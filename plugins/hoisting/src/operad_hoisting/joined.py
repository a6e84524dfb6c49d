"""The operator that brings the rows of several arrays together."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, operator, param


@operator("_joined")
class Joined(OperatorProperty):
    """Arrays of one shape, one after another along the first axis. Passes make it; it has no name for users.

    Shapes:
        arg0, ...: (N, ...).
        output: (num_args * N, ...).

    Example:
        >>> import numpy as np
        >>> np.concatenate([np.ones((1, 2)), np.zeros((1, 2))])
        array([[1., 1.],
               [0., 0.]])
    """

    num_args = param(int, ge=1, doc="How many arrays.")
    key_var_num_args = "num_args"
    spec = "arg[num_args]:(N, *S) -> output:(num_args * N, *S)"
    element_cost = 0.1
    contract = Contract(reference=lambda *arrays: np.concatenate(arrays))

    def forward(arg: Any, output: Array) -> None:
        """Copy every array to its position."""
        np.concatenate(arg, out=output)

    def backward(output_grad: Array, arg_grad: Any, wanted: frozenset[str]) -> None:
        """`d/d arg_i`: its rows of `output_grad`."""
        for number, grad in enumerate(arg_grad):
            if f"arg{number}_grad" in wanted:
                grad[...] = output_grad[number * len(grad) : (number + 1) * len(grad)]

"""Reset of accumulators: many arrays set to zero in one call."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_optimizer.updates.family import step_contract
from operad_sdk import Array, DTypeError, OperatorProperty, operator, param


@operator("reset_arrays")
class ResetArrays(OperatorProperty):
    """Set every element of every array to 0.

    The arrays are states, which the call writes in place; it gives nothing. In a graph one hidden number
    stands for the node, so that an executor has an output to run it for.

    Example:
        >>> import operad as od
        >>> first, second = od.nd.array([1, 2]), od.nd.array([[3]])
        >>> od.nd.reset_arrays(first, second, num_arrays=2)
        []
        >>> first.asnumpy(), second.asnumpy()
        (array([0., 0.], dtype=float32), array([[0.]], dtype=float32))

    Source: ResetArraysKernel, src/operator/contrib/reset_arrays-inl.h. Differs: there is a symbol of it.
    """

    num_arrays = param(int, ge=1, doc="Number of arrays.")
    spec = "state data_[num_arrays]:(*S[i]) -> hidden done:float32(1)"
    has_gradient = False
    contract = step_contract(
        dtypes=("float16", "float32", "float64"),
        has_states=True,
        params={"num_arrays": (1, 2, 3)},
        narrowed=dict.fromkeys(("bulk", "large"), "its arrays are states, whose sizes the plan cannot name"),
        reference=lambda **data: (np.zeros(1), *map(np.zeros_like, data.values())),
    )

    def forward(data_: Any, done: Array) -> None:
        """Check the type of each array before the first is written, and write them all."""
        for number, array in enumerate(data_):
            if array.dtype.kind != "f":
                raise DTypeError(
                    f"data_{number} is {array.dtype}, expected float16, float32 or float64; "
                    "set integers to zero with array[:] = 0"
                )
        for array in (*data_, done):
            array.fill(0)

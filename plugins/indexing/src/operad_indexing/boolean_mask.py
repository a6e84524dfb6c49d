"""`_contrib_boolean_mask`: the rows that a mask chooses, however many they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_indexing.by_values import ShapedByValues
from operad_sdk import Array, Contract, Drawn, ParamError, gradient, operator, param


def _chosen(data: Array, index: Array) -> Array:
    """Row by row, for the contract checks."""
    rows = [row for row, holds in zip(data, index.tolist(), strict=True) if holds]
    return np.array(rows).reshape(len(rows), *data.shape[1:])


@operator("_contrib_boolean_mask")
class boolean_mask(ShapedByValues):
    """The rows of an array for which a mask is not 0.

    How many there are depends on the mask's values, for which a call waits; so there is no such operator in
    a symbol that is bound. `d output / d data` is 1 in the rows that were chosen.

    Shapes:
        data: (N, ...)
        index: (N,), of any type.
        output: (number of rows that are chosen, ...)

    Example:
        >>> import operad as od
        >>> data = od.nd.array([[1, 2], [3, 4], [5, 6]])
        >>> od.nd._contrib_boolean_mask(data, od.nd.array([1, 0, 1])).asnumpy()
        array([[1., 2.],
               [5., 6.]], dtype=float32)

    Source: BooleanMaskForward, src/operator/contrib/boolean_mask.cc.
    """

    axis = param(int, 0, doc="The axis of the mask; 0 is the only one.")
    spec = "data:(N, *S), index:any(N) -> output:(R, *S)"
    contract = Contract(
        inputs={"index": Drawn(lambda rng, shape, prop, shapes: rng.integers(0, 2, shape))},
        params={"axis": [0]},
        narrowed={"axis": "every other value is refused, as in MXNet"},
        nan_policy="a NaN in a row that is not chosen does not show",
        reference=_chosen,
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if self.axis != 0:
            raise ParamError(
                f"_contrib_boolean_mask: axis is {self.axis}, expected 0; transpose the data first"
            )

    def length(self, *arrays: Array) -> int:
        """The number of rows that the mask chooses."""
        return int(np.count_nonzero(arrays[1]))

    def forward(data: Array, index: Array, output: Array) -> None:
        """Copy the rows."""
        output[...] = data[index != 0]

    @gradient(accumulate=True)
    def data_grad(output_grad: Array, index: Array, data_grad: Array) -> None:
        """Add the gradient to the rows that were chosen."""
        chosen = np.flatnonzero(index)
        # A trace is tried with a mask of made-up values, which chooses another number of rows.
        data_grad[chosen] += output_grad[: len(chosen)]

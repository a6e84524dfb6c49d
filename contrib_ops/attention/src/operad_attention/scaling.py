"""`_contrib_div_sqrt_dim`: products of attention, scaled."""

from __future__ import annotations

from math import sqrt

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, operator


@operator("_contrib_div_sqrt_dim")
class DivSqrtDim(OperatorProperty):
    """`x / sqrt(D)`, where D is the length of the last axis.

    Shapes:
        data: (..., D).
        output: As data.

    Example:
        >>> import operad as od
        >>> od.nd._contrib_div_sqrt_dim(od.nd.array([[2, 4, 6, 8]])).asnumpy()
        array([[1., 2., 3., 4.]], dtype=float32)

    Source: DivSqrtDim, src/operator/contrib/transformer.cc. Differs: integers are refused.
    """

    accepts = "floating"
    compute_dtype = "float32"
    inplace = "data -> output"
    spec = "data:(*S, D) -> output:(*S, D)"
    contract = Contract(reference=lambda data: data / np.sqrt(max(data.shape[-1], 1)))

    def forward(data: Array, output: Array) -> None:
        """Divide; an axis of length 0 has nothing to divide."""
        np.divide(data, _root(data), output)

    def data_grad(output_grad: Array, data_grad: Array) -> None:
        """`d/dx = 1 / sqrt(D)`."""
        np.divide(output_grad, _root(output_grad), data_grad)


def _root(array: Array) -> float:
    return sqrt(max(array.shape[-1], 1))

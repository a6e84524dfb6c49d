"""Arrays of zeros and ones in the shape of another."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, unary


@unary("zeros_like", inplace="data", contract=Contract(reference=lambda data: np.zeros(data.shape)))
def zeros_like(data: Array, out: Array) -> None:
    """Zeros in the shape and element type of `data`.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd.zeros_like(od.nd.array([1, 2])).asnumpy()
        array([0., 0.], dtype=float32)
    """
    out.fill(0)


@unary("ones_like", inplace="data", contract=Contract(reference=lambda data: np.ones(data.shape)))
def ones_like(data: Array, out: Array) -> None:
    """Ones in the shape and element type of `data`.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd.ones_like(od.nd.array([1, 2])).asnumpy()
        array([1., 1.], dtype=float32)
    """
    out.fill(1)

"""`_copyto`: a copy."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, unary


@unary("_copyto", inplace="data", contract=Contract(reference=np.array))
def copyto(data: Array, out: Array) -> None:
    """A copy of `data`.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd._copyto(od.nd.array([1, 2])).asnumpy()
        array([1., 2.], dtype=float32)
    """
    np.copyto(out, data)


@copyto.gradient(inplace="ograd")
def _(ograd: Array, out: Array) -> None:
    np.copyto(out, ograd)

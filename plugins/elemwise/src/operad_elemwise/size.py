"""An array's shape and size, as arrays."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, unary


@unary(
    "shape_array",
    shape=lambda data: (len(data),),
    dtype="int64",
    contract=Contract(reference=lambda data: np.array(data.shape, int)),
)
def shape_array(data: Array, out: Array) -> None:
    """The lengths of the axes of `data`.

    Shapes:
        data: (...)
        output: int64 (number of axes)

    Example:
        >>> import operad as od
        >>> od.nd.shape_array(od.nd.array([[1, 2, 3]])).asnumpy()
        array([1, 3])
    """
    for axis, length in enumerate(data.shape):
        out[axis] = length


@unary(
    "size_array",
    shape=lambda data: (1,),
    dtype="int64",
    contract=Contract(reference=lambda data: np.array([np.prod(data.shape)])),
)
def size_array(data: Array, out: Array) -> None:
    """The number of elements of `data`.

    Shapes:
        data: (...)
        output: int64 (1)

    Example:
        >>> import operad as od
        >>> od.nd.size_array(od.nd.array([[1, 2, 3]])).asnumpy()
        array([3])
    """
    out.fill(data.size)

"""NumPy's reductions that MXNet 1.x has no operator for, as methods of arrays.

Over all axes they give an array of shape (1,), as the operators `sum` and `mean` do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from operad import NDArray, nd

Axis = int | Sequence[int] | None


def var(self: NDArray, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> NDArray:
    """The mean squared distance from the mean; of integers and bools in float64.

    Args:
        axis: The axes reduced; None: all.
        ddof: How many less than the number of elements the sum is divided by.
        keepdims: Whether reduced axes stay, with length 1.
    """
    x = self if self.dtype.kind == "f" else self.astype(np.float64)
    distance = x - _reduced("mean", x, axis, keepdims=True)
    count = math.prod(x.shape if axis is None else [x.shape[i] for i in np.atleast_1d(axis)])
    found = _reduced("mean", distance * distance, axis, keepdims)
    unbiased: NDArray = found / (max(count - ddof, 0) / count) if ddof and count else found
    return unbiased


def std(self: NDArray, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> NDArray:
    """The square root of `var`."""
    return nd.invoke("sqrt", (var(self, axis, ddof, keepdims),))


def every(self: NDArray, axis: Axis = None, keepdims: bool = False) -> NDArray:
    """True where no element is 0, along the axes."""
    return _reduced("prod", self != 0, axis, keepdims).astype(np.bool_)


def some(self: NDArray, axis: Axis = None, keepdims: bool = False) -> NDArray:
    """True where an element is not 0, along the axes."""
    none: NDArray = _reduced("prod", self == 0, axis, keepdims) == 0
    return none.astype(np.bool_)


def _reduced(op: str, x: NDArray, axis: Axis, keepdims: bool) -> NDArray:
    """`x` reduced by an operator, whose parameter `axis` is left out for all axes."""
    given = {"keepdims": keepdims} if axis is None else {"axis": axis, "keepdims": keepdims}
    return nd.invoke(op, (x,), given)

"""NumPy's reductions that MXNet 1.x has no operator for: `var`, `std`, `any` and `all`.

Over all axes they give an array of shape (1,), as the operators `sum` and `mean` do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from operad.ndarray.arithmetic import invoke

if TYPE_CHECKING:
    from operad.ndarray.ndarray import NDArray

Axis = int | Sequence[int] | None


class Reductions:
    """Mixed into `NDArray`."""

    __slots__ = ()

    def var(self, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> NDArray:
        """The mean squared distance from the mean; of integers and bools in float64.

        Args:
            axis: The axes reduced; None: all.
            ddof: How many less than the number of elements the sum is divided by.
            keepdims: Whether reduced axes stay, with length 1.
        """
        x = cast("NDArray", self)
        x = x if x.dtype.kind == "f" else x.astype(np.float64)
        distance = x - reduced("mean", x, axis, keepdims=True)
        count = math.prod(x.shape if axis is None else [x.shape[i] for i in np.atleast_1d(axis)])
        found: NDArray = reduced("mean", distance * distance, axis, keepdims)
        return found / (max(count - ddof, 0) / count) if ddof and count else found

    def std(self, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> NDArray:
        """The square root of `var`."""
        return invoke("sqrt", (self.var(axis, ddof, keepdims),))

    def all(self, axis: Axis = None, keepdims: bool = False) -> NDArray:
        """Whether no element is 0, as bool."""
        return reduced("prod", cast("Any", self) != 0, axis, keepdims).astype(np.bool_)

    def any(self, axis: Axis = None, keepdims: bool = False) -> NDArray:
        """Whether an element is not 0, as bool."""
        none = reduced("prod", cast("Any", self) == 0, axis, keepdims)
        return cast("NDArray", none == 0).astype(np.bool_)


def reduced(op: str, x: NDArray, axis: Axis, keepdims: bool) -> NDArray:
    """`x` reduced by an operator, whose parameter `axis` is left out for all axes."""
    return invoke(op, (x,), {"keepdims": keepdims} if axis is None else {"axis": axis, "keepdims": keepdims})

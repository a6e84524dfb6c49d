"""NumPy's reductions as methods of arrays, by the operators of their names.

Over all axes they give an array of shape (1,), as the operators `sum` and `mean` do.
"""

from __future__ import annotations

from collections.abc import Sequence

from operad import NDArray, nd

Axis = int | Sequence[int] | None


def var(self: NDArray, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> NDArray:
    """The mean squared distance from the mean; of integers and bools in float64.

    Args:
        axis: The axes reduced; None: all.
        ddof: How many less than the number of elements the sum is divided by.
        keepdims: Whether reduced axes stay, with length 1.
    """
    return nd.invoke("var", (self,), _over(axis, keepdims) | {"ddof": ddof})


def std(self: NDArray, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> NDArray:
    """The square root of `var`."""
    return nd.invoke("std", (self,), _over(axis, keepdims) | {"ddof": ddof})


def every(self: NDArray, axis: Axis = None, keepdims: bool = False) -> NDArray:
    """True where no element is 0, along the axes."""
    return nd.invoke("all", (self,), _over(axis, keepdims))


def some(self: NDArray, axis: Axis = None, keepdims: bool = False) -> NDArray:
    """True where an element is not 0, along the axes."""
    return nd.invoke("any", (self,), _over(axis, keepdims))


def _over(axis: Axis, keepdims: bool) -> dict[str, object]:
    """Parameters, of which `axis` is left out for all axes."""
    return {"keepdims": keepdims} if axis is None else {"axis": axis, "keepdims": keepdims}

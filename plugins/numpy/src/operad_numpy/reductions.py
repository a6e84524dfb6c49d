"""NumPy's reductions: sums, products, means and extremes, and what follows from them.

Over all axes they give an array of shape (1,), as the operators do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from operad import NDArray, nd
from operad.errors import ArgumentError, DTypeError

Axis = int | Sequence[int] | None
Reduction = Callable[..., NDArray]


def _reduction(op: str) -> Reduction:
    def reduce(a: NDArray, axis: Axis = None, *, keepdims: bool = False) -> NDArray:
        if axis == ():
            raise ArgumentError(
                f"numpy.{op}: axis=() reduces nothing in NumPy and everything here; leave it out"
            )
        return nd.invoke(op, (_wide(op, a),), _over(axis, keepdims))

    reduce.__name__, reduce.__doc__ = op, f"`numpy.{op}`, by the operator `{op}`."
    return reduce


def _over(axis: Axis, keepdims: bool) -> dict[str, Any]:
    return {"keepdims": keepdims} if axis is None else {"axis": axis, "keepdims": keepdims}


def _wide(op: str, a: NDArray) -> NDArray:
    """`a` in the type that NumPy computes a sum, a product or a mean of integers in."""
    if a.dtype.kind == "f" or op in ("max", "min"):
        return a
    return a.astype(np.float64 if op == "mean" else np.uint64 if a.dtype.kind == "u" else np.int64)


# Not by MXNet's own names, which are Python's.
total, product, mean, largest, smallest = map(_reduction, ("sum", "prod", "mean", "max", "min"))
nansum, nanprod = map(_reduction, ("nansum", "nanprod"))


def _position(op: str) -> Callable[..., NDArray]:
    def find(a: NDArray, axis: int | None = None, *, keepdims: bool = False) -> NDArray:
        return nd.invoke(op, (a,), _over(axis, keepdims))

    find.__name__, find.__doc__ = op, f"`numpy.{op}`, by the operator `{op}`, which counts in floats."
    return find


argmax, argmin = map(_position, ("argmax", "argmin"))


def cumsum(a: NDArray, axis: int | None = None) -> NDArray:
    """`numpy.cumsum`, by the operator `cumsum`."""
    found: NDArray = nd.cumsum(_wide("sum", a), axis=axis)
    return found


def norm(x: NDArray, ord: None = None, axis: Axis = None, keepdims: bool = False) -> NDArray:
    """`numpy.linalg.norm` of no order, the root of the sum of squares, by the operator `norm`.

    Raises:
        ArgumentError: For an order: vectors and matrices have other ones in NumPy.
        DTypeError: For integers, of which the operator gives integers.
    """
    if ord is not None:
        raise ArgumentError(
            f"numpy.linalg.norm: ord={ord!r} means something else here; use nd.norm, or x.asnumpy()"
        )
    if x.dtype.kind != "f":
        raise DTypeError(f"numpy.linalg.norm of an array of {x.dtype.name}; use x.astype('float32') first")
    return nd.invoke("norm", (x,), _over(axis, keepdims))

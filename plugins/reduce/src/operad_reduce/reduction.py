"""Declarations of reductions along axes, and references for the contract checks."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any, Final, Unpack

from operad_sdk import Array, OperatorProperty, Options, Shape, define, param, reduced, reduced_axes

AXIS: Final = param("shape", None, doc="The axes to reduce; all of them if left out or ().")
KEEPDIMS: Final = param(bool, False, doc="Keep reduced axes, with length 1.")
EXCLUDE: Final = param(bool, False, doc="Reduce the axes that are not in `axis`.")
_PARAMS: Final = {"axis": AXIS, "keepdims": KEEPDIMS, "exclude": EXCLUDE}
_SPEC: Final = "data:(*S) -> output:(*reduced(S, axis, keepdims, exclude))"
_SOURCE: Final = "ReduceAxesParam, src/operator/tensor/broadcast_reduce_op.h."


def reduction(
    name: str,
    function: Callable[..., Any],
    gradient: Callable[..., Any],
    summary: str,
    example: tuple[str, ...],
    *,
    differs: str = "",
    **options: Unpack[Options],
) -> type[OperatorProperty]:
    """One operator of the family whose parameters are axis, keepdims and exclude."""
    options |= {"params": _PARAMS}
    source = _SOURCE + differs
    return define(name, _SPEC, function, gradient, summary=summary, example=example, source=source, **options)


axes_of = lru_cache(maxsize=1024)(reduced_axes)
"""`reduced_axes`, remembered: it is asked in every call."""


def unreduced(array: Array, shape: Shape, axis: Any, exclude: bool = False) -> Array:
    """A view of an output, or of its gradient, that broadcasts to data of `shape`."""
    return array.reshape(_with_ones(shape, axis, exclude))


@lru_cache(maxsize=1024)
def _with_ones(shape: Shape, axis: Any, exclude: bool) -> Shape:
    return reduced(shape, axis, True, exclude)


def count(shape: Shape, axis: Any, exclude: bool = False) -> int:
    """Number of elements that become one."""
    return prod(shape[one] for one in axes_of(len(shape), axis, exclude))


def by_rows(function: Callable[[Array], Array]) -> Callable[..., Array]:
    """Reference for the contract checks from a function of rows, whose last axis it reduces.

    Args:
        function: Called with (rows, elements that become one).
    """

    def reference(data: Array, axis: Any, keepdims: bool, exclude: bool = False) -> Array:
        named = [one % data.ndim for one in axis or range(data.ndim)]
        kept = [one for one in range(data.ndim) if (one in named) == (exclude and bool(axis))]
        gone = [one for one in range(data.ndim) if one not in kept]
        lengths = [data.shape[one] for one in kept]
        elements = prod(data.shape[one] for one in gone)
        values = function(data.transpose(*kept, *gone).reshape(prod(lengths), elements))
        if keepdims:
            return values.reshape([length if one in kept else 1 for one, length in enumerate(data.shape)])
        return values.reshape(lengths or 1)

    return reference

"""`clip`: every element kept between two bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_sdk import Array, Contract, param, unary

# bounds that are equal, or the wrong way round, make it a constant that has no slope anywhere
_BOUNDS = Contract(
    params={"a_min": (-1.0, -0.5, 0.0), "a_max": (1.0, 0.5, 2.0)},
    reference=lambda data, a_min, a_max: np.where(data < a_min, a_min, np.where(data > a_max, a_max, data)),
)


@unary("clip", inplace="data", accepts="number", cost=2, contract=_BOUNDS)
def clip(
    data: Array,
    a_min: float = param(float, doc="Smallest value."),
    a_max: float = param(float, doc="Largest value."),
    *,
    out: Array,
) -> None:
    """Every element, or the bound that it lies beyond.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd.clip(od.nd.array([-3, 1, 3]), a_min=-1, a_max=2).asnumpy()
        array([-1.,  1.,  2.], dtype=float32)
    """
    np.clip(data, _as_element(a_min, data.dtype), _as_element(a_max, data.dtype), out=out)


@clip.gradient(inplace=("ograd", "data"))
def _(ograd: Array, data: Array, a_min: float, a_max: float, out: Array) -> None:
    inside = np.logical_and(data >= a_min, data <= a_max)
    np.multiply(ograd, inside, out=out)


def _as_element(bound: float, dtype: Any) -> float:
    """The bound as the element type has it; integers cannot hold every number."""
    if dtype.kind == "f":
        return bound
    limits = np.iinfo(dtype)
    return int(min(max(bound, limits.min), limits.max))

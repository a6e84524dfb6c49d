"""Operators that initializers draw from: seeded random numbers, in push order."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    Distribution,
    OpContext,
    OperatorProperty,
    ResourceRequest,
    operator,
    param,
)

_MANY: Final = (100, 100)
"""Shape of the draws that the contract checks look at."""


class _Draw(OperatorProperty):
    shape = param("shape", doc="Shape of the output.")
    dtype = param(
        "dtype", "float32", choices=("float16", "float32", "float64"), doc="Element type of the output."
    )
    spec = "-> output:dtype(*shape)"
    resource = ResourceRequest.RANDOM


@operator("_init_uniform")
class InitUniform(_Draw):
    """Numbers spread evenly between `low` and `high`.

    Shapes:
        output: `shape`, of type `dtype`

    Example:
        >>> import operad as od
        >>> x = od.nd._init_uniform(shape=(100,), low=1, high=2).asnumpy()
        >>> bool(x.min() >= 1 and x.max() <= 2)
        True
    """

    low = param(float, 0.0, doc="Lower end.")
    high = param(float, 1.0, doc="Upper end.")
    contract = Contract(
        distribution=Distribution(
            mean=lambda prop: (prop.low + prop.high) / 2,
            variance=lambda prop: (prop.high - prop.low) ** 2 / 12,
            cdf=lambda prop, x: (x - prop.low) / (prop.high - prop.low),
            params=({"shape": _MANY}, {"shape": _MANY, "low": -3.0, "high": -1.0}),
        )
    )

    def forward(shape: Any, dtype: str, low: float, high: float, op_ctx: OpContext) -> Array:
        """`low + (high - low) u`, of `u` between 0 and 1."""
        return op_ctx.requested[0].generator.random(shape, _drawn(dtype)) * (high - low) + low


@operator("_init_normal")
class InitNormal(_Draw):
    """Numbers of a normal distribution around 0.

    Shapes:
        output: `shape`, of type `dtype`

    Example:
        >>> import operad as od
        >>> x = od.nd._init_normal(shape=(100,), scale=0.1).asnumpy()
        >>> bool(abs(x).max() < 1)
        True
    """

    scale = param(float, 1.0, ge=0, doc="Standard deviation.")
    contract = Contract(
        distribution=Distribution(
            mean=lambda prop: 0.0,
            variance=lambda prop: prop.scale**2,
            params=({"shape": _MANY}, {"shape": _MANY, "scale": 0.25}),
        )
    )

    def forward(shape: Any, dtype: str, scale: float, op_ctx: OpContext) -> Array:
        """`scale z`, of `z` of standard deviation 1."""
        return op_ctx.requested[0].generator.standard_normal(shape, _drawn(dtype)) * scale


def _drawn(dtype: str) -> Any:
    """The type that is drawn: generators have single and double precision; others are rounded from it."""
    # mutant: equivalent, because draws have one distribution in either precision
    return np.float64 if dtype == "float64" else np.float32

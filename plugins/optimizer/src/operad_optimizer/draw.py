"""Operators that initializers draw from: seeded random numbers, in push order."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_sdk import (
    Contract,
    Distribution,
    OpContext,
    OperatorProperty,
    Output,
    ResourceRequest,
    operator,
    param,
)

_MANY: Final = (100, 100)
"""Shape of the draws that the contract checks look at."""


class _Draw(OperatorProperty):
    has_gradient = False
    shape = param("shape", doc="Shape of the output.")
    dtype = param("dtype", "float32", doc="Element type of the output.")
    spec = "-> output:dtype(*shape)"

    def forward_resource(self, in_shapes: Any) -> list[ResourceRequest]:
        """The device's random generator."""
        return [ResourceRequest.RANDOM]

    def drawing_type(self) -> Any:
        """Generators draw single and double precision; half precision is drawn in single."""
        return np.float64 if self.dtype == "float64" else np.float32


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

    def forward(self, op_ctx: OpContext, output: Output) -> None:
        """From numbers between 0 and 1."""
        generator = op_ctx.requested[0].generator
        output.assign(generator.random(output.shape, self.drawing_type()) * (self.high - self.low) + self.low)


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

    def forward(self, op_ctx: OpContext, output: Output) -> None:
        """From numbers of standard deviation 1."""
        generator = op_ctx.requested[0].generator
        output.assign(generator.standard_normal(output.shape, self.drawing_type()) * self.scale)

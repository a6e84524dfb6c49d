"""The scalar functions of gelu; they run as compiled code where arrays are large."""

from __future__ import annotations

from typing import Final

from operad_sdk.mapper import erf, exp, mapper

_ROOT_HALF: Final = 0.70710678118654752440
_DENSITY_AT_0: Final = 0.39894228040143267794


@mapper
def gelu(x: float) -> float:
    """`x` times the standard normal distribution function."""
    return 0.5 * x * (1.0 + erf(x * _ROOT_HALF))


@mapper
def gelu_gradient(output_grad: float, x: float) -> float:
    """`dy/dx = P(x) + x p(x)`, with the standard normal distribution P and its density p."""
    return output_grad * (0.5 * (1.0 + erf(x * _ROOT_HALF)) + x * _DENSITY_AT_0 * exp(-0.5 * x * x))

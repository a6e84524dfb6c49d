"""The scalar functions of gelu; they run as compiled code where arrays are large.

The smaller tail of the distribution is the one that is computed: `1 + erf(x / sqrt 2)` has no digit left from -6
on, where the function is -6e-9.
"""

from __future__ import annotations

from typing import Final

from operad_sdk.mapper import erfc, exp, mapper

_ROOT_HALF: Final = 0.70710678118654752440
_DENSITY_AT_0: Final = 0.39894228040143267794


@mapper
def gelu(x: float) -> float:
    """`x` times the standard normal distribution function."""
    tail = 0.5 * erfc(abs(x) * _ROOT_HALF)
    return x * (1.0 - tail if x > 0.0 else tail)


@mapper
def gelu_gradient(output_grad: float, x: float) -> float:
    """`dy/dx = P(x) + x p(x)`, with the standard normal distribution P and its density p."""
    tail = 0.5 * erfc(abs(x) * _ROOT_HALF)
    return output_grad * ((1.0 - tail if x > 0.0 else tail) + x * _DENSITY_AT_0 * exp(-0.5 * x * x))

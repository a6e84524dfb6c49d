"""The error function and its inverse.

The inverse has no short formula. A guess good to three digits is improved by two steps of Halley's
method, each of which triples the digits: they use erf where the argument is small and its
complement, which keeps its digits near 1, elsewhere.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from operad_elemwise.families import of_real
from operad_elemwise.mapped import of_mapper
from operad_sdk import Contract, copysign, erf, erfc, exp, log, mapper, sqrt

_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)
_HALF_ROOT_PI = math.sqrt(math.pi) / 2
_TAIL = 0.147  # of the guess; makes it good to 2e-3 everywhere


@mapper
def erf_value(data: float) -> float:
    """Error function."""
    return erf(data)


erf_ = of_mapper(
    "erf", erf_value, "Error function of every element, within 4 units in the last place of the type; "
    "`dy/dx = 2 / sqrt(pi) e^(-x^2)`.", ("[-1, 0, 0.5]", "[-0.8427,  0.    ,  0.5205]"),
    Contract(reference=np.vectorize(math.erf, otypes=[float])),
)  # fmt: skip


@mapper
def erfc_value(data: float) -> float:
    """Its complement."""
    return erfc(data)


erfc_ = of_mapper(
    "erfc", erfc_value, "One minus the error function of every element, without cancellation, within 8 units "
    "in the last place of the type; `dy/dx = -2 / sqrt(pi) e^(-x^2)`.",
    ("[-1, 0, 0.5]", "[1.8427, 1.    , 0.4795]"),
    Contract(reference=np.vectorize(math.erfc, otypes=[float])),
)  # fmt: skip


@mapper
def _improved(y: float, a: float) -> float:
    """A step of Halley's method towards the `y >= 0` whose error function is `a`."""
    if a < 0.75:
        excess = erf(y) - a
    else:
        excess = (1 - a) - erfc(y)
    return y - excess / (_TWO_OVER_ROOT_PI * exp(-y * y) + y * excess)


@mapper
def erfinv_value(x: float) -> float:
    """The inverse error function at one point; infinite at -1 and 1, NaN beyond.

    Source: the guess for large arguments is Winitzki, "A handy approximation for the error function
    and its inverse", 2008, equation 7; that for small ones is the Taylor series.
    """
    a = abs(x)
    if a > 1:
        return math.nan
    if a == 1:
        return copysign(math.inf, x)
    if a < 0.5:  # mutant: equivalent, because guesses on either side will do
        z = a * a
        # mutant: equivalent, because two steps make up for any guess that is near
        guess = _HALF_ROOT_PI * a * (1 + z * (math.pi / 12 + z * (7 * math.pi * math.pi / 480)))
    else:
        tail = log((1 - a) * (1 + a))
        half = 2 / (math.pi * _TAIL) + tail / 2
        guess = sqrt(sqrt(half * half - tail / _TAIL) - half)
    return copysign(_improved(_improved(guess, a), a), x)


@mapper
def _erfinv_gradient(output_grad: float, y: float) -> float:
    """`dy/dx = sqrt(pi) / 2 e^(y^2)`: 1 over the derivative of erf at y."""
    return output_grad * (_HALF_ROOT_PI * exp(y * y))


def _quantile(x: float) -> float:
    """The inverse error function as a quantile of the normal distribution, for the contract checks."""
    if abs(x) >= 1:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    return NormalDist(sigma=math.sqrt(0.5)).inv_cdf((1 + x) / 2)


erfinv = of_real(
    "erfinv", lambda data, output: erfinv_value.map(data, out=output),
    "`y` with `erf y = x`, within 4 units in the last place, infinite at -1 and 1, NaN beyond; "
    "`dy/dx = sqrt(pi) / 2 e^(y^2)`.", ("[-0.5, 0, 0.9]", "[-0.4769,  0.    ,  1.1631]"),
    lambda output_grad, output, data_grad: _erfinv_gradient.map(output_grad, output, out=data_grad),
    "output_grad, output", reference=np.vectorize(_quantile, otypes=[float]), element_cost=60,
)  # fmt: skip

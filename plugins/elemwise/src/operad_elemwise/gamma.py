"""The gamma function and its logarithm; both gradients need the digamma function."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from operad_elemwise.mapped import of_mapper
from operad_sdk import Array, Contract, mapper
from operad_sdk import digamma as digamma_function
from operad_sdk import gamma as gamma_function
from operad_sdk import lgamma as lgamma_function


@mapper
def gamma_value(data: float) -> float:
    """The gamma function."""
    return gamma_function(data)


@mapper
def gammaln_value(data: float) -> float:
    """The logarithm of its absolute value."""
    return lgamma_function(data)


@mapper
def digamma_value(data: float) -> float:
    """The slope of that."""
    return digamma_function(data)


def _each(function: Callable[[float], float], at_poles: float) -> Callable[[Array], Array]:
    """A function of Python's, which refuses the poles, as one of arrays; infinite at 0."""

    def at(x: float) -> float:
        return math.inf if x == 0 else at_poles if x < 0 and x == int(x) else function(x)

    return np.vectorize(at, otypes=[float])


def _psi(x: float) -> float:
    """The digamma function by its recurrence and asymptotic series, by reflection below 0."""
    if x <= 0:
        return math.nan if x == int(x) else _psi(1 - x) - math.pi / math.tan(math.pi * (x - round(x)))
    shift = 0.0
    while x < 30:
        shift, x = shift + 1 / x, x + 1
    return math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6) - shift


gamma = of_mapper(
    "gamma", gamma_value, "Gamma function of every element, `(x - 1)!` for integers, within 16 units in "
    "the last place of the type; `dy/dx = y digamma(x)`.", ("[1, 4, 0.5]", "[1.    , 6.    , 1.7725]"),
    Contract(
        reference=_each(math.gamma, math.nan), undefined="at its poles the gamma function has no value"
    ),
)  # fmt: skip
gammaln = of_mapper(
    "gammaln", gammaln_value, "Logarithm of the absolute value of the gamma function of every element, "
    "within 8 units in the last place of the type, or of the number 1 where the value is smaller; "
    "`dy/dx = digamma(x)`.", ("[1, 4, 100]", "[  0.    ,   1.7918, 359.1342]"),
    Contract(reference=_each(math.lgamma, math.inf)),
)  # fmt: skip
digamma = of_mapper(
    "digamma", digamma_value, "Slope of `gammaln` of every element, NaN at its poles, 0, -1, -2 and so on, "
    "within 4 units in the last place of the type, or of the number 1 where the value is smaller.",
    ("[1, 2, 0.5]", "[-0.5772,  0.4228, -1.9635]"),
    Contract(
        reference=np.vectorize(_psi, otypes=[float]),
        undefined="at its poles the digamma function has no value",
    ),
)  # fmt: skip

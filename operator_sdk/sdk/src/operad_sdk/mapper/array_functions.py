"""The functions that neither NumPy nor a few primitives have, over arrays: erf, erfc, gamma, lgamma.

Python's `math` has them for one number at a time, at some 300 ns; here they are polynomials over whole
arrays. All arithmetic is in float64, whatever the type of the array. The polynomials were made for this
project in 60 digits: interpolation at Chebyshev points for the error functions, at integers for
Lanczos' sum.

Source: the forms are those of Schonfelder, "Chebyshev expansions for the error and related functions",
    1978, and Lanczos, "A precision approximation of the gamma function", 1964, with g = 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

# erf(x) = x P(x**2) for abs(x) <= 1; the fit's error is 1e-17.
ERF: Final = (
    1.1283791670955126, -0.3761263890318375, 0.11283791670954879, -0.026866170645076792,
    0.0052239776248180145, -0.000854832698083379, 0.0001205533111164271, -1.4925595266831182e-05,
    1.6461000484121368e-06, -1.6350312701054695e-07, 1.4659775274047436e-08, -1.1372848856791674e-09,
    5.957176147748911e-11,
)  # fmt: skip
# erfc(x) = exp(-x**2) P(1 - 7 / (x + 3)) / (1 + 2 x) for x >= 1/2; the fit's error is 1e-18.
ERFC: Final = (
    1.2329951186255526, -0.12216847723549216, -0.003496013513368307, 0.04665458534673942,
    -0.04180651066501206, 0.022801799598951192, -0.008073603938415275, 0.0013920612482762244,
    0.0002474037667962374, -0.00019788758774368434, 1.747909345612059e-05, 1.8863176334576256e-05,
    -4.577221716433341e-06, -1.9134997922180564e-06, 7.237614584077894e-07, 2.4075515094152723e-07,
    -1.0493633580908085e-07, -3.8240659541961e-08, 1.4295999799819255e-08, 6.739054122679122e-09,
    -1.6431190855392502e-09, -1.0399737792480775e-09, 1.153860580340443e-10, 9.398532369577936e-11,
)  # fmt: skip
# gamma(x) = L(1 / x) y**(x - 1/2) exp(-y), y = x + 11/2; the error of L is 4e-17. Nothing cancels in it.
SHIFT: Final = 5.5
LANCZOS_NUMERATOR: Final = (
    2.5066282746310007, 210.45233222422775, 8042.466773623777, 185021.7088520868, 2854542.3486369574,
    31121552.072405715, 245914518.28275353, 1419327965.8590505, 5939836375.28029, 17581889681.347374,
    34947470779.44544, 41891731554.91311, 22906393301.026546,
)  # fmt: skip
LANCZOS_DENOMINATOR: Final = (
    1.0, 66.0, 1925.0, 32670.0, 357423.0, 2637558.0, 13339535.0, 45995730.0, 105258076.0, 150917976.0,
    120543840.0, 39916800.0,
)  # fmt: skip
# lgamma(1 + e) = e P(e) for abs(e) <= 1/4: -gamma, then (-1)**k zeta(k) / k; what is left out is below 1e-18.
NEAR_ONE: Final = (
    -0.5772156649015329, 0.8224670334241132, -0.40068563438653143, 0.27058080842778454, -0.207385551028674,
    0.16955717699740822, -0.14404989676884614, 0.12550966952474304, -0.11133426586956469,
    0.10009945751278179, -0.09095401714582904, 0.083353840546109, -0.0769325164113522, 0.07143294629536134,
    -0.06666870588242046, 0.06250095514121304, -0.05882397865868458, 0.055555767627403614,
    -0.05263167937961666, 0.05000004769810169, -0.04761907033014223, 0.04545455629320467,
    -0.04347826605304026, 0.04166666915034121, -0.04000000119214014, 0.03846153903467519,
    -0.037037037312989324, 0.03571428584733336,
)  # fmt: skip
_OVERFLOWS: Final = 184.0
"""Size of x from which gamma(x) and 1 / gamma(-x) overflow float64 while their factors do not."""
_TINY: Final = 1e-17
"""Size below which gamma(x) is 1 / x."""
_ERFC_IS_ZERO: Final = 28.0
_FACTORIALS: Final = np.array([float(math.factorial(n)) for n in range(23)])
"""Factorials that float64 holds exactly."""


def _in_float64(function: Callable[[Array], Array]) -> Callable[[npt.NDArray[Any]], npt.NDArray[Any]]:
    """The function for arrays of any floating type and shape."""

    @wraps(function)
    def evaluate(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        with np.errstate(all="ignore"):
            return function(x.astype(np.float64).ravel()).astype(x.dtype).reshape(x.shape)

    return evaluate


@_in_float64
def erf(x: Array) -> Array:
    """The error function."""
    small = x * _polynomial(x * x, ERF)
    large = np.copysign(1 - _tail(np.abs(x)), x)
    return np.where(np.abs(x) < 1, small, large)


@_in_float64
def erfc(x: Array) -> Array:
    """1 - erf(x), exact where that is small."""
    tail = _tail(np.abs(x))
    return np.where(np.abs(x) < 0.5, 1 - x * _polynomial(x * x, ERF), np.where(x < 0, 2 - tail, tail))


@_in_float64
def gamma(x: Array) -> Array:
    """The gamma function; NaN at negative integers, an infinity of its sign at 0, exact at factorials.

    Below 0 by reflection: gamma(x) gamma(-x) = -pi / (x sin(pi x)).
    """
    a = np.minimum(np.abs(x), _OVERFLOWS)
    b, is_small = _from_half(a)
    value, power = _gamma_factors(b)
    value = np.where(is_small, value / a, value)
    # One factor after the other: the product may overflow where its reciprocal is a subnormal number.
    reflected = -math.pi / (x * _sin_pi(x)) / value / power
    found = np.where(x < 0, reflected, value * power)
    is_whole = x == np.floor(x)
    found = np.where((x < 0) & is_whole, np.nan, found)
    is_factorial = (
        is_whole & (x >= 1) & (x <= len(_FACTORIALS))
    )  # a last digit less would be one less as integer
    found[is_factorial] = _FACTORIALS[x[is_factorial].astype(np.intp) - 1]
    return np.where(a < _TINY, 1 / x, found)


@_in_float64
def lgamma(x: Array) -> Array:
    """The logarithm of the absolute value of the gamma function; infinite at its poles, exact at its zeros.

    Near 1 by the series in zeta, and near 2 by gamma(2 + e) = (1 + e) gamma(1 + e).
    """
    a = np.abs(x)
    b, is_small = _from_half(a)
    value = np.log(_lanczos(b)) - (SHIFT + 0.5) + (b - 0.5) * (np.log(b + SHIFT) - 1)
    found = np.where(is_small, value - np.log(a), value)
    # gamma(a + 1) = a gamma(a), so that below 1/2 a itself drops out.
    sine = np.abs(_sin_pi(x))
    reflected = math.log(math.pi) - np.log(np.where(is_small, sine, sine * a)) - value
    found = np.where(x < 0, reflected, found)
    found = np.where(((x < 0) & (x == np.floor(x))) | np.isinf(x), np.inf, found)
    found = np.where(a < _TINY, -np.log(a), found)
    for zero in (1.0, 2.0):  # beside which nothing is left of the sum's digits
        near = np.abs(x - zero) <= 0.25
        if near.any():
            beyond = x[near] - zero
            found[near] = beyond * _polynomial(beyond, NEAR_ONE) + (zero - 1) * np.log1p(beyond)
    return found


def _polynomial(x: Array, coefficients: Sequence[float]) -> Array:
    """Horner's scheme in one array."""
    result = np.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result *= x
        result += coefficient
    return result


def _tail(x: Array) -> Array:
    """erfc(x) for x >= 1/2; some number below."""
    x = np.minimum(x, _ERFC_IS_ZERO)
    # The square of the leading half of x is exact, and so is what it leaves, up to its own rounding.
    leading = x.astype(np.float32).astype(np.float64)
    gauss = np.exp(-leading * leading) * np.exp((leading - x) * (leading + x))
    return gauss * _polynomial(1 - 7 / (x + 3), ERFC) / (1 + 2 * x)


def _from_half(a: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Arguments for Lanczos' sum, one larger below 1/2, and where that is."""
    is_small = a < 0.5
    return np.where(is_small, a + 1, a), is_small


def _lanczos(x: Array) -> Array:
    w = 1 / x
    return _polynomial(w, LANCZOS_NUMERATOR) / _polynomial(w, LANCZOS_DENOMINATOR)


def _gamma_factors(x: Array) -> tuple[Array, Array]:
    """Two factors of gamma(x), for x >= 1/2, which do not overflow by themselves."""
    y = x + SHIFT
    step = y - x
    rounding = (x - (y - step)) + (SHIFT - step)  # of y, which the power magnifies
    power = np.power(y, 0.5 * (x - 0.5))
    value = _lanczos(x) * np.exp(-y)
    value *= 1 - (SHIFT + 0.5) * rounding / y
    return value * power, power


def _sin_pi(x: Array) -> Array:
    """sin(pi x), exact to the last digits also beside the integers."""
    whole = np.rint(x)
    return np.where(whole % 2 == 0, 1.0, -1.0) * np.sin(math.pi * (x - whole))

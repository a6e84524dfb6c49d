"""Functions of the C library as short forms without branches, for vector code alone.

A call of the C library leaves the registers once for each lane. Largest errors are stated and tested in
`tests/vector/test_functions.py`.

Polynomials are interpolations at Chebyshev points made for this project in 60 digits; each comment gives the
largest error of the fit itself, float32 and float64.

Source: the reductions are those of Cody and Waite, Software Manual for the Elementary Functions, 1980.
"""

from __future__ import annotations

import math
from typing import Final

from operad_sdk.mapper.array_functions import ERF, ERFC
from operad_sdk.mapper.expansions import (
    exp,
    floor_quotient,
    fma,
    log,
    log1p,
    polynomial,
    with_sign_of_divisor,
)
from operad_sdk.mapper.precision import FLOAT32, FLOAT64, Precision
from operad_sdk.mapper.values import Value, call, select

# asin(x) = x + x**3 P(x**2) for abs(x) <= 1/2; 4e-9 and 2e-17
_ASIN: Final = (
    (0.16666666337430908, 0.07500094543497424, 0.04459940152851218, 0.03110066273549457, 0.017149238357677253,
     0.03369084720283012),
    (0.16666666666666669, 0.07499999999998433, 0.04464285714635543, 0.030381944138531247, 0.02237217294214989,
     0.017352392720869973, 0.013971212973552933, 0.011479177415184906, 0.01032281435018578,
     0.005457506718640358, 0.01740087944269402, -0.014851887071247204, 0.028757851367421566),
)  # fmt: skip
# atan(x) = x + x**3 P(x**2) for abs(x) <= sqrt(2) - 1; 2e-8 and 3e-17
_ATAN: Final = (
    (-0.3333333176116852, 0.19999540483648964, -0.1426395559798464, 0.10743731490791084,
     -0.06451928208121749),
    (-0.3333333333333333, 0.1999999999999552, -0.14285714284666542, 0.11111111015256361, -0.09090904578123903,
     0.07692183190826087, -0.06664511447381948, 0.0585814891280221, -0.0508544973794026, 0.03923165829558719,
     -0.01917688711906226),
)  # fmt: skip
# sin(x) = x + x**3 P(x**2) for abs(x) <= pi / 4; 3e-11 and 1e-20
SIN: Final = (
    (-0.1666666666385529, 0.008333331874710208, -0.00019840086735384846, 2.724992580305979e-06),
    (-0.16666666666666666, 0.008333333333333331, -0.00019841269841265065, 2.7557319219339167e-06,
     -2.5052106232447578e-08, 1.6058531618986147e-10, -7.586697117706918e-13),
)  # fmt: skip
# cos(x) = 1 - x**2 / 2 + x**4 P(x**2) for abs(x) <= pi / 4; 5e-13 and 1e-20
COS: Final = (
    (0.0416666666643212, -0.001388888767201679, 2.480060037715673e-05, -2.730095920390147e-07),
    (0.041666666666666664, -0.0013888888888888887, 2.4801587301584645e-05, -2.7557319221402824e-07,
     2.087675579108042e-09, -1.1470460887609959e-11, 4.7458719020432915e-14),
)  # fmt: skip
# The cube root from sqrt(1/2) to sqrt(2); 1e-5
_CBRT: Final = (
    0.45368850939437955, 0.8967392149830209, -0.5237666939876867, 0.2093460512115113, -0.03600019208330247,
)  # fmt: skip
_CBRT_OF_2: Final = 1.2599210498948732
_PI_2: Final = (
    (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
    (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
)
"""The half of pi in numbers of the type, each the nearest to what those before leave."""
_NEAR: Final = (2.0**17, 2.0**40)
"""Size up to which a multiple of pi is taken from an angle here; beyond, the C library does."""

_ERF_IS_ONE: Final = 6.0
_ERF_SLOPE: Final = 0.12837916709551257
"""Slope of the error function at 0, less 1."""


def _of(table: tuple[tuple[float, ...], ...], t: Precision) -> tuple[float, ...]:
    return table[t is FLOAT64]


def _quadrant(x: Value, t: Precision) -> tuple[Value, Value]:
    """Whole n and r of about pi / 4 at most with x = n pi / 2 + r.

    The first difference is exact: a multiple of the last digit of the first part, and below 1. So no digits
    of r are lost where the others cancel.
    """
    n = call("rint", x * (2 / math.pi))
    for part in _of(_PI_2, t):
        x = fma(-n, part, x)
    return n, x


def _sine_and_cosine(x: Value, t: Precision) -> tuple[Value, Value, Value]:
    """Those of what is left of an angle, and its quadrant, 0 to 3."""
    n, r = _quadrant(x, t)
    z = r * r
    sine = fma(r * z, polynomial(z, _of(SIN, t)), r)
    half = z * 0.5
    top = 1 - half
    cosine = top + fma(z * z, polynomial(z, _of(COS, t)), (1 - top) - half)
    return sine, cosine, n - call("floor", n * 0.25) * 4.0


def _far(op: str, x: Value, t: Precision, near: Value) -> Value:
    """The function where an angle is so large, or no number, that the C library computes it."""
    is_near = call("abs", x) <= _NEAR[t is FLOAT64]
    return select(is_near, near, call(op, select(is_near, 0.0, x)))


def _linear(x: Value, t: Precision, value: Value) -> Value:
    return select(call("abs", x) < (2.0**-13 if t is FLOAT32 else 2.0**-27), x, value)


def sin(x: Value, t: Precision) -> Value:
    """The sine."""
    sine, cosine, k = _sine_and_cosine(x, t)
    value = select((k == 1.0) | (k == 3.0), cosine, sine)
    return _far("sin", x, t, _linear(x, t, select(k >= 2.0, -value, value)))


def cos(x: Value, t: Precision) -> Value:
    """The cosine."""
    sine, cosine, k = _sine_and_cosine(x, t)
    value = select((k == 1.0) | (k == 3.0), sine, cosine)
    return _far("cos", x, t, select((k == 1.0) | (k == 2.0), -value, value))


def tan(x: Value, t: Precision) -> Value:
    """The tangent."""
    sine, cosine, k = _sine_and_cosine(x, t)
    is_odd = (k == 1.0) | (k == 3.0)
    value = select(is_odd, -cosine, sine) / select(is_odd, sine, cosine)
    return _far("tan", x, t, _linear(x, t, value))


def _asin_parts(x: Value, t: Precision) -> tuple[Value, Value, Value]:
    """Return whether a size is above 1/2; s, it or the root of half of what it lacks to 1; asin(s) - s."""
    a = call("abs", x)
    is_large = a > 0.5
    z = select(is_large, (1 - a) * 0.5, x * x)
    s = select(is_large, call("sqrt", z), a)
    return is_large, s, s * z * polynomial(z, _of(_ASIN, t))


def asin(x: Value, t: Precision) -> Value:
    """The inverse of the sine."""
    is_large, s, rest = _asin_parts(x, t)
    high, low = _of(_PI_2, t)[:2]
    large = high - (2 * s - (low - 2 * rest))
    return call("copysign", select(is_large, large, s + rest), x)


def acos(x: Value, t: Precision) -> Value:
    """The inverse of the cosine."""
    is_large, s, rest = _asin_parts(x, t)
    high, low = _of(_PI_2, t)[:2]
    double = 2 * s + 2 * rest
    large = select(x > 0.0, double, 2 * high - (double - 2 * low))
    return select(is_large, large, high - (x - (low - call("copysign", rest, x))))


def atan(x: Value, t: Precision) -> Value:
    """The inverse of the tangent."""
    a, (high, low) = call("abs", x), _of(_PI_2, t)[:2]
    is_large, is_middle = a > 1 + math.sqrt(2), a > math.sqrt(2) - 1
    over = select(is_large, -1.0, select(is_middle, a - 1, a))
    y = over / select(is_large, a, select(is_middle, a + 1, 1.0))
    z = y * y
    tail = y * z * polynomial(z, _of(_ATAN, t)) + select(is_large, low, select(is_middle, low / 2, 0.0))
    value = select(is_large, high, select(is_middle, high / 2, 0.0)) + (y + tail)
    return call("copysign", value, x)


def asinh(x: Value, t: Precision) -> Value:
    """The inverse of the hyperbolic sine."""
    a = call("abs", x)
    square = a * a
    small = log1p(a + square / (1 + call("sqrt", square + 1)), t)
    large = log(a, t) + math.log(2)
    return call("copysign", select(a > _far_out(t), large, small), x)


def acosh(x: Value, t: Precision) -> Value:
    """The inverse of the hyperbolic cosine."""
    d = x - 1
    small = log1p(d + call("sqrt", d * (d + 2)), t)
    value = select(x > _far_out(t), log(x, t) + math.log(2), small)
    return select(x < 1.0, math.nan, value)


def _far_out(t: Precision) -> float:
    """Size from which the square is all that counts of the square and 1."""
    return 2.0**14 if t is FLOAT32 else 2.0**28


def atanh(x: Value, t: Precision) -> Value:
    """The inverse of the hyperbolic tangent."""
    a = call("abs", x)
    return call("copysign", log1p((a + a) / (1 - a), t) * 0.5, x)


def cbrt(x: Value, t: Precision) -> Value:
    """The cube root: a polynomial, and Newton's steps, of which the last one rounds what is left over."""
    a = call("abs", x)
    is_subnormal = a < t.smallest_normal
    normal = select(is_subnormal, a * 2.0**t.subnormal_bits, a)
    e, m = call("exponent", normal), call("mantissa", normal)
    third = call("rint", e * (1 / 3))
    rest = e - 3 * third
    y = polynomial(m, _CBRT) * select(rest > 0.0, _CBRT_OF_2, select(rest < 0.0, 1 / _CBRT_OF_2, 1.0))
    cube = m * select(rest > 0.0, 2.0, select(rest < 0.0, 0.5, 1.0))
    for _ in range(1 if t is FLOAT32 else 2):
        square = y * y
        y = y - fma(square, y, -cube) / (square * 3)
    power = third - select(is_subnormal, t.subnormal_bits / 3, 0.0)
    found = call("copysign", call("scaled", y, power), x)
    return select((a > 0.0) & (a < math.inf), found, x)


def erf(x: Value, t: Precision) -> Value:
    """The error function of float64: what the complement rounds is small beside 1."""
    assert t is FLOAT64
    a = call("abs", x)
    a = select(a > _ERF_IS_ONE, _ERF_IS_ONE, a)
    tail = exp(-(a * a), t) * polynomial(1 - 7 / (a + 3), ERFC) / (1 + 2 * a)
    small = fma(x, polynomial(x * x, (_ERF_SLOPE, *ERF[1:])), x)
    return select(a < 1.0, small, call("copysign", 1 - tail, x))


def hypot(x: Value, y: Value, t: Precision) -> Value:
    """The root of the squares' sum, by a power of two that makes the larger one about 1."""
    a, b = call("abs", x), call("abs", y)
    large, small = select(a > b, a, b), select(a > b, b, a)
    k = call("exponent", large)
    s, r = call("scaled", large, -k), call("scaled", small, -k)
    found = call("scaled", call("sqrt", fma(s, s, r * r)), k)
    is_number = (a == a) & (b == b)  # noqa: PLR0124 -- false for NaN
    found = select(is_number, found, a + b)
    return select((a == math.inf) | (b == math.inf), math.inf, found)


def fmod(x: Value, y: Value, t: Precision) -> Value:
    """C's remainder, exact: a quotient of few digits is off by one at most, a fused product by nothing."""
    a, b = call("abs", x), call("abs", y)
    r = fma(-call("trunc", a / b), b, a)
    r = select(r < 0.0, r + b, r)
    r = select(r >= b, r - b, r)
    near = call("copysign", select(a < b, a, r), x)
    is_far = a > b * (2.0**22 if t is FLOAT32 else 2.0**51)
    return select(is_far, call("fmod", select(is_far, x, 0.0), y), near)


def remainder(x: Value, y: Value, t: Precision) -> Value:
    """Python's `%`."""
    return with_sign_of_divisor(fmod(x, y, t), y)


def floor_divide(x: Value, y: Value, t: Precision) -> Value:
    """Python's `//`, as `operad_sdk.mapper.expansions` computes it."""
    return floor_quotient(x, y, fmod(x, y, t))


def power(x: Value, y: Value, t: Precision) -> Value:
    """The power, of float32 by the logarithm in float64, whose error the exponent magnifies by 88 at most."""
    a = call("abs", x)
    value = exp(log(a.cast("float64"), FLOAT64) * y.cast("float64"), FLOAT64).cast("real")
    value = select((a == 1.0) & (y == y), 1.0, value)  # noqa: PLR0124 -- false for NaN
    is_whole, half = call("rint", y) == y, y * 0.5
    is_odd = is_whole & (call("rint", half) != half)
    value = select(is_odd, call("copysign", value, x), value)
    value = select((x < 0.0) & (x > -math.inf) & (call("rint", y) != y), math.nan, value)
    return select((x == 1.0) | (y == 0.0), 1.0, value)

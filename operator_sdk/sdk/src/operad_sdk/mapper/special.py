"""Functions that slopes need and that a few primitives make, in mapper code."""

from __future__ import annotations

import math
from functools import cache

from operad.operator import ScalarForm
from operad_sdk.mapper.functions import floor, log, tan, trunc
from operad_sdk.mapper.parse import parse

_ZERO_HIGH = 1.4616321325302124  # of float32, so that what is near is subtracted exactly
_ZERO_LOW = 1.2438149938918909e-08
_PI_HIGH = 3.1415927410125732
_PI_LOW = -8.742278000372486e-08


def digamma(x: float) -> float:
    """Slope of lgamma, within 4 ulp, and 1e-15 where such are smaller: beside its zeros.

    Below -6 two numbers of the size of `log(1 - x)`, which are rounded, cancel: within 3 ulp of that, where
    such are larger, which is 1.3e-15 above -53, 2.7e-15 above -2,979, and 5.3e-15 above -8.8 million.

    Nothing cancels above 0. From 1 to 3 it is a quotient of polynomials of positive coefficients, 9e-18 of
    the value, times the distance to the zero, from which the recurrence adds up to 10, and subtracts once
    below 1; the asymptotic series is left from 10 on, with 5e-17. Below 0 by reflection.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 6.3.5, 6.3.7 and 6.3.18.
    """
    if x <= 0.0 and x == floor(x):
        return math.nan
    y = 1.0 - x if x < 0.0 else x
    if y < 10.0:
        near = y + 1.0 if y < 1.0 else y if y < 3.0 else y - (floor(y) - 2.0)
        t = near - 1.0
        p = 0.02846995388328924 + t * (0.0012126256957015102 + t * 1.268189734106261e-05)
        p = 1.060284770672018 + t * (0.2594365425155906 + t * p)
        p = 1.2503801375034054 + t * (1.929929751380871 + t * p)
        q = 0.009461234027281799 + t * (0.0002962822812026847 + t * 2.0514361825976505e-06)
        q = 0.6475616939375297 + t * (0.11529832932531116 + t * q)
        q = 1.0 + t * (2.2270212301537557 + t * (1.7684516023494878 + t * q))
        more = 1 / (y - 7.0) if y >= 9.0 else 0.0
        more = more + (1 / (y - 6.0) if y >= 8.0 else 0.0)
        more = more + (1 / (y - 5.0) if y >= 7.0 else 0.0)
        more = more + (1 / (y - 4.0) if y >= 6.0 else 0.0)
        more = more + (1 / (y - 3.0) if y >= 5.0 else 0.0)
        more = more + (1 / (y - 2.0) if y >= 4.0 else 0.0)
        more = more + (1 / (y - 1.0) if y >= 3.0 else 0.0)
        more = more - (1 / y if y < 1.0 else 0.0)
        value = (near - _ZERO_HIGH - _ZERO_LOW) * (p / q) + more
    else:
        z = 1 / (y * y)
        tail = z * (1 / 240 - z * (1 / 132 - z * (691 / 32760 - z * (1 / 12))))
        value = log(y) - (0.5 / y + z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - tail))))
    if x < 0.0:
        # From the nearest integer, which keeps all digits of the distance beside a pole. Beyond 1/4
        # the cotangent is the tangent of what is left to a half, which keeps those where it is small.
        r = x - floor(x + 0.5)
        is_far = abs(r) > 0.25
        r = (0.5 - abs(r)) * (1.0 if r > 0.0 else -1.0) if is_far else r
        angle = math.pi * r
        slope = tan(angle)
        # What rounding took from the angle; the products of the leading bits are exact in float64.
        leading = trunc(r * 67108864.0) / 67108864.0
        rest = (_PI_HIGH * leading - angle) + (_PI_HIGH * (r - leading) + _PI_LOW * r)
        slope = slope + (1.0 + slope * slope) * rest
        return value - (math.pi * slope if is_far else math.pi / slope)
    return value


@cache
def digamma_form() -> ScalarForm:
    """The form of `digamma`."""
    return parse(digamma)

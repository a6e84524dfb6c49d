"""Functions that slopes need and that a few primitives make, in mapper code."""

from __future__ import annotations

import math
from functools import cache

from operad.operator import ScalarForm
from operad_sdk.mapper.functions import floor, log, tan
from operad_sdk.mapper.parse import parse


def digamma(x: float) -> float:
    """Slope of lgamma: recurrence up to 6, then the asymptotic series; reflection below 0.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 6.3.5, 6.3.7 and 6.3.18.
    """
    if x <= 0.0 and x == floor(x):
        return math.nan
    y = 1.0 - x if x < 0.0 else x
    shift = 0.0
    if y < 6.0:
        shift = 1 / y + 1 / (y + 1) + 1 / (y + 2) + 1 / (y + 3) + 1 / (y + 4) + 1 / (y + 5)
        y = y + 6.0
    z = 1 / (y * y)
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * (691 / 32760))))))
    value = log(y) - 0.5 / y - series - shift
    if x < 0.0:
        # from the nearest whole number, which keeps all digits of the distance beside a pole
        return value - math.pi / tan(math.pi * (x - floor(x + 0.5)))
    return value


@cache
def digamma_form() -> ScalarForm:
    """The form of `digamma`."""
    return parse(digamma)

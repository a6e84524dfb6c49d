"""The gamma function and its logarithm, for vector code: `array_functions` without branches, in float64.

float32 is rounded once. Of float64 there is the logarithm alone: the power in the gamma function magnifies
what a logarithm rounds.
"""

from __future__ import annotations

import math
from typing import Final

from operad_sdk.mapper.array_functions import LANCZOS_DENOMINATOR, LANCZOS_NUMERATOR, NEAR_ONE, SHIFT
from operad_sdk.mapper.expansions import exp, log, polynomial
from operad_sdk.mapper.precision import FLOAT32, FLOAT64, Precision
from operad_sdk.mapper.values import Value, call, select
from operad_sdk.mapper.vector_expansions import COS, SIN

# lgamma(2 + e) = e P(e) for abs(e) <= 3/4: 1 - gamma, then (-1)**k (zeta(k) - 1) / k; 1e-17.
_NEAR_TWO: Final = (
    0.42278433509846713, 0.3224670334241132, -0.0673523010531981, 0.020580808427784546,
    -0.007385551028673986, 0.0028905103307415234, -0.001192753911703261, 0.0005096695247430425,
    -0.00022315475845357939, 9.945751278180853e-05, -4.492623673813314e-05, 2.050721277567069e-05,
    -9.439488275268397e-06, 4.374866789907488e-06, -2.039215753801366e-06, 9.55141213040742e-07,
    -4.492469198764566e-07, 2.1207184805554665e-07, -1.0043224823968099e-07, 4.7698101693639804e-08,
    -2.2711094608943164e-08, 1.0838659214896955e-08, -5.183475041970047e-09, 2.4836745438024785e-09,
    -1.1921401405860912e-09, 5.731367241678862e-10, -2.7595228851242334e-10, 1.330476437424449e-10,
    -6.4229645638381e-11, 3.1044247747322276e-11, -1.5021384080754142e-11, 7.275974480239079e-12,
    -3.527742476575915e-12, 1.711991790559618e-12, -8.315385841420285e-13, 4.04220052528944e-13,
)  # fmt: skip
_TERMS: Final = (13, 18)
"""Of either series for float32."""
_OVERFLOWS: Final = 40.0
"""Size from which gamma(x) and 1 / gamma(x) overflow float32."""


def _parts(a: Value) -> tuple[Value, Value, Value]:
    """Return whether a size is below 1/2, the argument of Lanczos' sum, one larger then, and the sum."""
    is_small = a < 0.5
    b = select(is_small, a + 1, a)
    w = 1 / b
    return is_small, b, polynomial(w, LANCZOS_NUMERATOR) / polynomial(w, LANCZOS_DENOMINATOR)


def _sine(x: Value) -> Value:
    """Size of sin(pi x)."""
    d = call("abs", x - call("rint", x))
    is_far = d > 0.25
    r = math.pi * select(is_far, 0.5 - d, d)
    z = r * r
    cosine = 1 - z * 0.5 + z * z * polynomial(z, COS[1])
    return select(is_far, cosine, r + r * z * polynomial(z, SIN[1]))


def lgamma(x: Value, t: Precision) -> Value:
    """The logarithm of the size of the gamma function."""
    wide = x.cast("float64")
    a = call("abs", wide)
    is_small, b, lanczos = _parts(a)
    value = log(lanczos, FLOAT64) - (SHIFT + 0.5) + (b - 0.5) * (log(b + SHIFT, FLOAT64) - 1)
    is_below = wide < 0.0
    rest = log(select(is_below, _sine(wide) * select(is_small, a * 0 + 1, a), a), FLOAT64)
    found = select(is_small, value - rest, value)
    found = select(is_below, math.log(math.pi) - rest - value, found)
    one, two = wide - 1, wide - 2
    counts = _TERMS if t is FLOAT32 else (len(NEAR_ONE), len(_NEAR_TWO))
    found = select(call("abs", one) <= 0.25, one * polynomial(one, NEAR_ONE[: counts[0]]) + 0.0, found)
    found = select(call("abs", two) < 0.75, two * polynomial(two, _NEAR_TWO[: counts[1]]), found)
    is_pole = is_below & (call("floor", wide) == wide)
    return select(is_pole | (a == math.inf), math.inf, found).cast("real")


def gamma(x: Value, t: Precision) -> Value:
    """The gamma function of float32."""
    assert t is FLOAT32
    wide = x.cast("float64")
    size = call("abs", wide)
    a = select(size > _OVERFLOWS, _OVERFLOWS, size)
    is_small, b, lanczos = _parts(a)
    y = b + SHIFT
    value = lanczos * exp((b - 0.5) * log(y, FLOAT64) - y, FLOAT64)
    value = select(is_small, value / a, value)
    whole = call("floor", wide)
    half = whole * 0.5
    reflected = math.pi / (size * _sine(wide)) / value
    # sin(pi x) is below 0 where the integer before x is odd.
    reflected = select(call("rint", half) == half, reflected, -reflected)
    is_below = wide < 0.0
    value = select(is_below, reflected, value)
    value = select(is_below & (whole == wide), math.nan, value)
    return select(wide == 0.0, 1 / wide, value).cast("real")

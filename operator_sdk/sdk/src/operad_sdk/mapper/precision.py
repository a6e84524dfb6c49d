"""Constants and polynomial coefficients of the expansions, for float32 and for float64.

Polynomials are least-maximum fits made for this project (Remez exchange for float32, Chebyshev
interpolation for float64, both in extended precision); each comment gives the largest error of the
fit itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

Coefficients = tuple[float, ...]
"""Lowest power first."""


@final
@dataclass(frozen=True, slots=True)
class Precision:
    """Constants of a floating-point format that the expansions need.

    Attributes:
        ln2_high: Leading bits of log(2), few enough that a whole multiple is exact.
        ln2_low: The rest of log(2).
        log10_2_high: Leading bits of log10(2); `log10_2_low` is the rest.
        exp_range: Arguments below and above which exp is 0 and infinity.
        expm1_range: Arguments below and above which expm1 is -1 and infinity.
        smallest_normal: Least positive normal number.
        subnormal_bits: Power of two that makes every subnormal number normal.
        linear: Size up to which expm1(x) and log1p(x) are x.
        expm1: q in exp(r) = 1 + r + r**2 q(r), for abs(r) <= log(2) / 2.
        log_direct: q in log(1 + f) = f - f**2 / 2 + f**3 q(f), or empty.
        log_series: R in log(1 + f) = 2 s + s**3 R(s**2) with s = f / (2 + f), or empty.
        sinh: q in sinh(x) = x + x**3 q(x**2), for abs(x) <= 1.
    """

    ln2_high: float
    ln2_low: float
    log10_2_high: float
    log10_2_low: float
    exp_range: tuple[float, float]
    expm1_range: tuple[float, float]
    smallest_normal: float
    subnormal_bits: int
    linear: float
    expm1: Coefficients
    log_direct: Coefficients
    log_series: Coefficients
    sinh: Coefficients


FLOAT32: Final = Precision(
    ln2_high=0.69287109375,
    ln2_low=0.00027608680994530943,
    log10_2_high=0.301025390625,
    log10_2_low=4.605038981195226e-06,
    exp_range=(-104.5, 89.5),
    expm1_range=(-18.0, 88.9),
    smallest_normal=2.0**-126,
    subnormal_bits=24,
    linear=2.0**-25,
    # 1.4e-8 of r
    expm1=(
        0.5000000062902539, 0.16666541712786845, 0.04166627803419208, 0.00836675558696461,
        0.001394674810491526,
    ),
    # 7.3e-10 of f
    log_direct=(
        0.33333310445301334, -0.24999986576503977, 0.20002226322978228, -0.16669251814061353,
        0.14218663756852723, -0.12384335097764079, 0.11872926268274893, -0.11789865336033148,
        0.06915540300754795,
    ),
    log_series=(),
    # 1.8e-10 of x
    sinh=(0.16666666603884633, 0.008333347936670865, 0.0001983606319478402, 2.819036336403878e-06),
)  # fmt: skip

FLOAT64: Final = Precision(
    ln2_high=0.6931471803691238,
    ln2_low=1.9082149293851713e-10,
    log10_2_high=0.3010299955494702,
    log10_2_low=1.1451100899212592e-10,
    exp_range=(-746.0, 710.5),
    expm1_range=(-40.0, 709.9),
    smallest_normal=2.0**-1022,
    subnormal_bits=54,
    linear=2.0**-54,
    # 5.7e-19 of r
    expm1=(
        0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333325919, 0.0013888888888879194,
        0.0001984126987554932, 2.480158733995964e-05, 2.7557254527123227e-06, 2.755725752919366e-07,
        2.5105560646066528e-08, 2.0920552958633703e-09,
    ),
    log_direct=(),
    # 9.2e-18 of s
    log_series=(
        0.666666666666667, 0.3999999999989945, 0.28571428626001655, 0.22222211130355984, 0.18182889455457566,
        0.15331710350033345, 0.14616590488325,
    ),
    # 4.0e-19 of x
    sinh=(
        0.16666666666666666, 0.008333333333333299, 0.0001984126984132448, 2.75573191912727e-06,
        2.5052117715029102e-08, 1.6057678105712227e-10, 7.746222813005274e-13,
    ),
)  # fmt: skip

ERF_FLOAT32_LIMIT: Final = 3.95
"""Beyond it erf rounds to 1."""
# erf(x) = x + x p(x**2) for abs(x) <= 1, 1.2e-9 of the value.
ERF_FLOAT32_SMALL: Final = (
    0.1283791657267144, -0.3761262582419965, 0.11283585148264978, -0.02685381192283018,
    0.005188327665368703, -0.0008010193469071754, 7.853860896730073e-05,
)  # fmt: skip
# erf(x) = 1 - exp(-p(x)) from 1 to the limit, 1.1e-9 of the value.
ERF_FLOAT32_LARGE: Final = (
    0.0003415236174852925, 1.1270891877016993, 0.6381448370029333, 0.10310675073695277,
    -0.021838062038431978, 0.00294765776403994, -0.00018637913066279729,
)  # fmt: skip
ERFC_FLOAT32_LIMIT: Final = 10.1
"""Beyond it erfc rounds to 0."""
# erfc(x) = exp(-x**2) p((x - 3) / (x + 3)) / (x + 3) from 0 to the limit, 5.6e-9 of the value.
ERFC_FLOAT32: Final = (
    1.0740069062010808, -0.88339446121319963, 0.59022842527146337, -0.31046660821508959, 0.11952722216579931,
    -0.026836676401322861, -0.0012169644364867257, 0.0030780834423979675, -0.00049907123960064872,
    -0.00033382452282482641,
)  # fmt: skip

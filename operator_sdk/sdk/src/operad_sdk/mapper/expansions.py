"""Mathematical functions as short forms without branches, which vector code computes in all lanes at once.

A call of the C library takes a lane at a time. Where a polynomial of stated error does the same, the
primitive is replaced by one before code is written. Every expansion handles NaN, infinities, signed zeros and
subnormal numbers as IEEE arithmetic would. Longer ones are in `vector_expansions` and `gamma_expansions`;
functions that have none (erfc, gamma and power of float64, atan2) stay calls of the C library.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from operad.operator import ScalarForm
from operad_sdk.mapper.builder import Builder
from operad_sdk.mapper.precision import (
    ERF_FLOAT32_LARGE,
    ERF_FLOAT32_LIMIT,
    ERF_FLOAT32_SMALL,
    ERFC_FLOAT32,
    ERFC_FLOAT32_LIMIT,
    FLOAT32,
    FLOAT64,
    Coefficients,
    Precision,
)
from operad_sdk.mapper.values import Value, call, select

_LOG2_E: Final = 1 / math.log(2)
_HALVES: Final = 2.0**12 + 1
"""Factor by which a float32 is split into two halves of 12 bits each."""


def fma(a: Value, b: Value | float, c: Value | float) -> Value:
    """`a * b + c`, rounded once."""
    return call("fma", a, b, c)


def polynomial(x: Value, coefficients: Coefficients) -> Value:
    """Estrin's scheme: pairs, then pairs of pairs; half the latency of Horner's, which bounds these loops."""
    terms: list[Value | float] = list(coefficients)
    while len(terms) > 1:
        odd = [terms.pop()] if len(terms) % 2 else []
        terms = [*(fma(x, high, low) for low, high in zip(terms[::2], terms[1::2], strict=True)), *odd]
        x = x * x
    assert isinstance(terms[0], Value)
    return terms[0]


def _at_most(x: Value, limit: float) -> Value:
    return select(x > limit, limit, x)  # NaN stays


def _clamped(x: Value, limits: tuple[float, float]) -> Value:
    x = _at_most(x, limits[1])
    return select(x < limits[0], limits[0], x)


def _reduced(x: Value, t: Precision) -> tuple[Value, Value]:
    """Whole n and small r with x = n log(2) + r."""
    n = call("rint", x * _LOG2_E)
    return n, fma(n, -t.ln2_low, fma(n, -t.ln2_high, x))


def _expm1_small(r: Value, t: Precision) -> Value:
    return fma(r * r, polynomial(r, t.expm1), r)


def exp(x: Value, t: Precision, halvings: int = 0) -> Value:
    """The exponential over 2 ** halvings."""
    n, r = _reduced(_clamped(x, t.exp_range), t)
    return call("scaled", 1 + _expm1_small(r, t), n - halvings if halvings else n)


def _exp2(x: Value, t: Precision) -> Value:
    x = _clamped(x, (t.exp_range[0] * _LOG2_E, t.exp_range[1] * _LOG2_E))
    n = call("rint", x)
    return call("scaled", 1 + _expm1_small((x - n) * math.log(2), t), n)


def _expm1(x: Value, t: Precision) -> Value:
    n, r = _reduced(_clamped(x, t.expm1_range), t)
    # Half the result, since 2 ** n alone may overflow.
    scale = call("pow2", n - 1)
    half = fma(scale, _expm1_small(r, t), scale - 0.5)
    return select(call("abs", x) < t.linear, x, half + half)


def _log_tail(f: Value, t: Precision, low: Value | float) -> Value:
    """log(1 + f) - f + low."""
    square = f * f
    if t.log_direct:
        return fma(square, fma(f, polynomial(f, t.log_direct), -0.5), low)
    s = f / (2 + f)
    half, z = square * 0.5, s * s
    return fma(s, fma(z, polynomial(z, t.log_series), half), low - half)


def _log_parts(x: Value, t: Precision) -> tuple[Value, Value]:
    """Whole e and small f with x = 2 ** e * (1 + f), for positive x."""
    is_subnormal = x < t.smallest_normal
    normal = select(is_subnormal, x * 2.0**t.subnormal_bits, x)
    e = call("exponent", normal)
    e = select(is_subnormal, e - float(t.subnormal_bits), e)
    return e, call("mantissa", normal) - 1


def _with_poles(x: Value, zero: float, value: Value) -> Value:
    """`value` of a logarithm, corrected where `x` is infinite, at `zero` or below, or NaN."""
    value = select(x == math.inf, math.inf, value)
    value = select(x == zero, -math.inf, value)
    return select(x >= zero, value, math.nan)


def log(x: Value, t: Precision) -> Value:
    """The logarithm."""
    e, f = _log_parts(x, t)
    return _with_poles(x, 0.0, fma(e, t.ln2_high, f + _log_tail(f, t, e * t.ln2_low)))


def _log2(x: Value, t: Precision) -> Value:
    e, f = _log_parts(x, t)
    return _with_poles(x, 0.0, fma(f + _log_tail(f, t, 0.0), _LOG2_E, e))


def _log10(x: Value, t: Precision) -> Value:
    e, f = _log_parts(x, t)
    low = fma(f + _log_tail(f, t, 0.0), 1 / math.log(10), e * t.log10_2_low)
    return _with_poles(x, 0.0, fma(e, t.log10_2_high, low))


def log1p(x: Value, t: Precision) -> Value:
    """The logarithm of 1 + x."""
    u = 1 + x
    e = call("exponent", u)
    # Near zero x itself is f; elsewhere the rounding of 1 + x is made good.
    is_near = e == 0.0
    f = select(is_near, x, call("mantissa", u) - 1)
    lost = select(x > 1.0, 1 - (u - x), x - (u - 1)) / u
    low = fma(e, t.ln2_low, select(is_near, 0.0, lost))
    value = fma(e, t.ln2_high, f + _log_tail(f, t, low))
    return _with_poles(x, -1.0, select(call("abs", x) < t.linear, x, value))


def _tanh(x: Value, t: Precision) -> Value:
    """U / (u + 2) with u = expm1(2 abs(x)), which below the limit needs no guard at either end."""
    a = call("abs", x)
    a = _at_most(a + a, 40.0)
    n = call("rint", a * _LOG2_E)
    r = fma(n, -math.log(2), a)  # one constant: u / (u + 2) flattens as n, hence the error of n log(2), grows
    scale = call("pow2", n)
    growth = fma(scale, _expm1_small(r, t), scale - 1)
    return call("copysign", growth / (growth + 2), x)


def _erf(x: Value, t: Precision) -> Value:
    a = _at_most(call("abs", x), ERF_FLOAT32_LIMIT)
    n, r = _reduced(-polynomial(a, ERF_FLOAT32_LARGE), t)
    large = 1 - (1 + _expm1_small(r, t)) * call("pow2", n)
    return select(a < 1.0, fma(x, polynomial(x * x, ERF_FLOAT32_SMALL), x), call("copysign", large, x))


def _erfc(x: Value, t: Precision) -> Value:
    """The square's rounding error, which exp would magnify by the square, is taken from its argument.

    It is exact on every processor (Dekker's product): `fma(a, a, -square)` is 0 on one that rounds twice.
    """
    a = _at_most(call("abs", x), ERFC_FLOAT32_LIMIT)
    square, w = a * a, 1 / (a + 3)
    high = a * _HALVES - (a * _HALVES - a)
    low = a - high
    error = high * high - square + 2 * high * low + low * low
    n, r = _reduced(-square, t)
    share = polynomial((a - 3) * w, ERFC_FLOAT32) * w
    tail = call("scaled", fma(share, _expm1_small(r - error, t), share), n)
    return select(x < 0.0, 2 - tail, tail)


def _sinh(x: Value, t: Precision) -> Value:
    a, z = call("abs", x), x * x
    half = exp(a, t, halvings=1)
    large = call("copysign", half - 0.25 / half, x)
    return select(a < 1.0, fma(x * z, polynomial(z, t.sinh), x), large)


def _cosh(x: Value, t: Precision) -> Value:
    half = exp(call("abs", x), t, halvings=1)
    return half + 0.25 / half


def _sign(x: Value, t: Precision) -> Value:
    return select(x > 0.0, 1.0, select(x < 0.0, -1.0, select(x == 0.0, 0.0, x)))


def _maximum(a: Value, b: Value, t: Precision) -> Value:
    if _is_bound(b):
        return select(a <= b, b, a)
    return select((a > b) | (a != a), a, b)  # noqa: PLR0124 -- true for NaN


def _minimum(a: Value, b: Value, t: Precision) -> Value:
    if _is_bound(b):
        return select(a >= b, b, a)
    return select((a < b) | (a != a), a, b)  # noqa: PLR0124 -- true for NaN


def _is_bound(b: Value) -> bool:
    """Return whether a value is a number, beside which NaN is told from all others by one comparison."""
    return b.number is not None and not math.isnan(b.number)


def _is_other_sign(m: Value, b: Value) -> Value:
    """Return whether neither is 0 and one is below."""
    return ((m < 0.0) & (b > 0.0)) | ((m > 0.0) & (b < 0.0))


def _remainder(a: Value, b: Value, t: Precision) -> Value:
    """Python's `%`: fmod moved to the sign of `b`."""
    return with_sign_of_divisor(call("fmod", a, b), b)


def with_sign_of_divisor(m: Value, b: Value) -> Value:
    """Python's `%` for C's."""
    return select(m == 0.0, call("copysign", m, b), select(_is_other_sign(m, b), m + b, m))


def _floor_divide(a: Value, b: Value, t: Precision) -> Value:
    return floor_quotient(a, b, call("fmod", a, b))


def floor_quotient(a: Value, b: Value, m: Value) -> Value:
    """Python's `//` by C's remainder: an integer but for rounding, which is then made good.

    Source: what `float_floor_div` of CPython computes, without its branches.
    """
    exact = (a - m) / b
    quotient = select(_is_other_sign(m, b), exact - 1, exact)
    whole = call("floor", quotient)
    rounded = select(quotient - whole > 0.5, whole + 1, whole)
    return select(b == 0.0, a / b, select(quotient == 0.0, call("copysign", quotient, a / b), rounded))


Expansion = Callable[..., Value]
"""Takes the operands and the precision."""
LOGIC: Final[dict[str, Expansion]] = {
    "sign": _sign,
    "maximum": _maximum,
    "minimum": _minimum,
    "larger": lambda a, b, t: select(b > a, b, a),
    "smaller": lambda a, b, t: select(b < a, b, a),
    "isnan": lambda x, t: x != x,  # noqa: PLR0124 -- true for NaN
    "isinf": lambda x, t: call("abs", x) == math.inf,
    "isfinite": lambda x, t: call("abs", x) < math.inf,
    "remainder": _remainder,
    "floor_divide": _floor_divide,
}
"""Primitives that are a few comparisons."""
_MATHEMATICS: Final[dict[str, Expansion]] = {
    "exp": exp,
    "exp2": _exp2,
    "expm1": _expm1,
    "log": log,
    "log2": _log2,
    "log10": _log10,
    "log1p": log1p,
    "tanh": _tanh,
    "sinh": _sinh,
    "cosh": _cosh,
}


def expanded(
    form: ScalarForm, dtype: np.dtype[np.floating], more: Mapping[str, Expansion] = MappingProxyType({})
) -> ScalarForm:
    """An equal form in which every primitive that has an expansion for `dtype`, or in `more`, is replaced."""
    precision = FLOAT32 if dtype == np.float32 else FLOAT64
    rules = {**LOGIC, **_MATHEMATICS}
    if precision is FLOAT32:
        rules |= {"erf": _erf, "erfc": _erfc}
    return replaced(form, {**rules, **more}, precision)


def remainders_replaced(form: ScalarForm) -> ScalarForm:
    """An equal form without `%` and `//`, for targets that have fmod only."""
    return replaced(form, {name: LOGIC[name] for name in ("remainder", "floor_divide")}, FLOAT64)


def replaced(form: ScalarForm, rules: dict[str, Expansion], precision: Precision) -> ScalarForm:
    """An equal form in which primitives named in `rules` are replaced, if their operands are `real`."""
    steps = form.instructions
    builder = Builder(form.name, form.inputs, [step.kind for step in steps[: len(form.inputs)]])
    values = [Value(builder, position) for position in range(len(form.inputs))]
    for step in steps[len(values) :]:
        args = [values[i] for i in step.args]
        if step.op in rules and all(steps[i].kind == "real" for i in step.args):
            values.append(rules[step.op](*args, precision))
        else:
            values.append(Value(builder, builder.copy(step, [arg.position for arg in args])))
    results = [one._replace(position=values[one.position].position) for one in form.results]
    return builder.finish(*results, axes={i: steps[i].axes for i in range(len(form.inputs))})

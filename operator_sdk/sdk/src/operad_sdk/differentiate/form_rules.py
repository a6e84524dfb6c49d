"""Instructions of scalar forms for functions of NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from operad_sdk.mapper.builder import Builder
from operad_sdk.mapper.primitives import PRIMITIVES

_Emit = Callable[..., int]


def _applied(op: str) -> _Emit:
    return lambda builder, *args: builder.apply(op, *args)


def _not_both(builder: Builder, a: int, b: int) -> int:
    either, both = builder.apply("logical_or", a, b), builder.apply("logical_and", a, b)
    return builder.apply("logical_and", either, builder.apply("logical_not", both))


def _or_number(op: str) -> _Emit:
    """Rule of functions that give the other argument if one is NaN."""

    def emit(builder: Builder, a: int, b: int) -> int:
        chosen = builder.select(builder.apply("isnan", b), a, builder.apply(op, a, b))
        return builder.select(builder.apply("isnan", a), b, chosen)

    return emit


def _times(number: float) -> _Emit:
    return lambda builder, x: builder.apply("multiply", builder.constant(number, builder.kind(x)), x)


def _heaviside(builder: Builder, x: int, at_zero: int) -> int:
    zero, one = (builder.constant(number, builder.kind(x)) for number in (0, 1))
    step = builder.select(builder.apply("greater", x, zero), one, at_zero)
    step = builder.select(builder.apply("less", x, zero), zero, step)
    return builder.select(builder.apply("isnan", x), x, step)


def _log_of_sum(builder: Builder, a: int, b: int) -> int:
    """`log(e^a + e^b)`; two infinities of one sign have no difference."""
    apart = builder.apply("abs", builder.apply("subtract", a, b))
    rest = builder.apply("log1p", builder.apply("exp", builder.apply("negative", apart)))
    twice = builder.apply("add", a, builder.constant(math.log(2), builder.kind(a)))
    found = builder.apply("add", builder.apply("maximum", a, b), rest)
    return builder.select(builder.apply("equal", a, b), twice, found)


def labelled(builder: Builder, label: int, axis: int) -> tuple[int, int]:
    """Find whether an element is the one that a label names along an axis, and whether it names any."""
    zero, length = builder.constant(0, "int64"), builder.length(axis, "int64")
    is_below = builder.apply("less", label, zero)
    label = builder.select(is_below, builder.apply("add", label, length), label)
    is_label = builder.apply(
        "logical_and", builder.apply("greater_equal", label, zero), builder.apply("less", label, length)
    )
    # Compared element by element: half as wide as the labels are.
    narrow = builder.cast(builder.select(is_label, label, builder.constant(-1, "int64")), "int32")
    return builder.apply("equal", builder.position(axis, "int32"), narrow), is_label


RULES: Final[dict[np.ufunc, _Emit]] = {
    primitive.evaluate: _applied(name)
    for name, primitive in PRIMITIVES.items()
    if isinstance(primitive.evaluate, np.ufunc)
}
RULES.update(
    {
        np.power: lambda builder, base, exponent: builder.power(base, exponent),
        np.square: lambda builder, x: builder.apply("multiply", x, x),
        np.reciprocal: lambda builder, x: builder.apply("divide", builder.constant(1, builder.kind(x)), x),
        np.positive: lambda builder, x: x,
        np.conjugate: lambda builder, x: x,
        np.fabs: _applied("abs"),
        # none for np.degrees, whose factor for float32 is not the nearest to 180 / pi
        np.radians: _times(math.pi / 180),
        np.deg2rad: _times(math.pi / 180),
        np.fmax: _or_number("maximum"),
        np.fmin: _or_number("minimum"),
        np.heaviside: _heaviside,
        np.logaddexp: _log_of_sum,
        np.logical_xor: _not_both,
        np.bitwise_and: _applied("logical_and"),
        np.bitwise_or: _applied("logical_or"),
        np.bitwise_xor: _not_both,
        np.invert: _applied("logical_not"),
    }
)
OF_TRUTH: Final = frozenset((np.logical_and, np.logical_or, np.logical_not, np.logical_xor))
BITWISE: Final = frozenset((np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert))

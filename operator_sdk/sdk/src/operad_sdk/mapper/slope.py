"""Slopes: differentiating a form with respect to one of its inputs.

Forward mode over the instruction list: each value gets the value of its slope, or none where it
does not depend on the input, so that `0 * inf` never arises from a branch that was not taken. Rounding
has slope 0 everywhere, and where a comparison chooses, the slope is that of the branch it takes.

At their own kinks primitives have the mean of the slopes on either side: `abs` 0 at 0, `maximum`, `minimum`
and Python's `max` and `min` half of each argument's at a tie. For means go through sums and smooth functions
as slopes do, so that of parts whose kinks cancel the slope is right: that of
`min(x, 0) - log1p(exp(-abs(x)))`, which is smooth, is 1/2 at 0. Any other choice, that of the first
argument say, is wrong there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from operad.operator import Instruction, ScalarForm
from operad_sdk.mapper.builder import Builder
from operad_sdk.mapper.errors import MapperError
from operad_sdk.mapper.special import digamma_form
from operad_sdk.mapper.values import Value, call, select

_FLAT: Final = frozenset(("input", "constant", "sign", "floor", "ceil", "trunc", "rint", "floor_divide"))
_TWO_OVER_ROOT_PI: Final = 2 / math.sqrt(math.pi)


def _sqrt(x: Value) -> Value:
    return call("sqrt", x)


def _digamma(x: Value) -> Value:
    return Value(x.builder, x.builder.inline(digamma_form(), [x.position]))


def _of_base(a: Value, b: Value) -> Value:
    """`b a^(b - 1)`, 0 at 0^0; of a small base and exponent `(b / a) a^b`, as `a^(b - 1)` may overflow."""
    if b.number and abs(b.number) >= 2**-10:
        return b * call("power", a, b - 1)
    is_small = (call("abs", b) < 2**-10) & (a != 0) & (call("abs", a) < 1)
    power = call("power", a, select(is_small | ((a == 0) & (b == 0)), b, b - 1))
    return b / select(is_small, a, 1.0) * power


def _length(y: Value) -> Value:
    """Divisor of slopes of a length, which at 0 are 0 and do not change."""
    return select(y == 0, math.inf, y)


def _share(is_chosen: Value, a: Value, b: Value) -> Value:
    """The part of an argument's slope that counts: all where it is chosen, half at a tie."""
    return select(is_chosen, 1.0, select(a == b, 0.5, 0.0))


_UNARY: Final[dict[str, Callable[[Value, Value], Value | float]]] = {
    # slope at argument x where the value is y
    "negative": lambda x, y: -1,
    "abs": lambda x, y: call("sign", x),
    "sqrt": lambda x, y: 0.5 / y,
    "cbrt": lambda x, y: 1 / (3 * (y * y)),
    "exp": lambda x, y: y,
    "exp2": lambda x, y: math.log(2) * y,
    "expm1": lambda x, y: call("exp", x),
    "log": lambda x, y: 1 / x,
    "log1p": lambda x, y: 1 / (1 + x),
    "log2": lambda x, y: (1 / math.log(2)) / x,
    "log10": lambda x, y: (1 / math.log(10)) / x,
    "sin": lambda x, y: call("cos", x),
    "cos": lambda x, y: -call("sin", x),
    "tan": lambda x, y: 1 + y * y,
    # factors instead of 1 - x * x, which cancels near 1
    "asin": lambda x, y: 1 / _sqrt((1 - x) * (1 + x)),
    "acos": lambda x, y: -1 / _sqrt((1 - x) * (1 + x)),
    "atan": lambda x, y: 1 / (1 + x * x),
    "sinh": lambda x, y: call("cosh", x),
    "cosh": lambda x, y: call("sinh", x),
    "tanh": lambda x, y: 1 - y * y,
    "asinh": lambda x, y: 1 / call("hypot", x, 1.0),
    "acosh": lambda x, y: 1 / (_sqrt(x - 1) * _sqrt(x + 1)),
    "atanh": lambda x, y: 1 / ((1 - x) * (1 + x)),
    "erf": lambda x, y: _TWO_OVER_ROOT_PI * call("exp", -(x * x)),
    "erfc": lambda x, y: -_TWO_OVER_ROOT_PI * call("exp", -(x * x)),
    "gamma": lambda x, y: y * _digamma(x),
    "lgamma": lambda x, y: _digamma(x),
}

_BinaryRule = Callable[[Value, Value, Value], Value | float]
_BINARY: Final[dict[str, tuple[_BinaryRule, _BinaryRule]]] = {
    # slopes for both arguments, at a and b where the value is y
    "add": (lambda a, b, y: 1, lambda a, b, y: 1),
    "subtract": (lambda a, b, y: 1, lambda a, b, y: -1),
    "multiply": (lambda a, b, y: b, lambda a, b, y: a),
    "divide": (lambda a, b, y: 1 / b, lambda a, b, y: -(y / b)),
    "remainder": (lambda a, b, y: 1, lambda a, b, y: -call("floor_divide", a, b)),
    "fmod": (lambda a, b, y: 1, lambda a, b, y: -call("trunc", a / b)),
    "power": (
        lambda a, b, y: _of_base(a, b),
        lambda a, b, y: select(a == 0, 0.0, y * call("log", a)),
    ),
    "hypot": (lambda a, b, y: a / _length(y), lambda a, b, y: b / _length(y)),
    "atan2": (
        lambda a, b, y: b / call("hypot", a, b) / call("hypot", a, b),
        lambda a, b, y: -(a / call("hypot", a, b) / call("hypot", a, b)),
    ),
    "copysign": (lambda a, b, y: call("sign", a) * call("copysign", a * 0 + 1, b), lambda a, b, y: 0),
    **dict.fromkeys(
        ("maximum", "larger"), (lambda a, b, y: _share(a > b, a, b), lambda a, b, y: _share(a < b, a, b))
    ),
    **dict.fromkeys(
        ("minimum", "smaller"), (lambda a, b, y: _share(a < b, a, b), lambda a, b, y: _share(a > b, a, b))
    ),
}


def slope_form(form: ScalarForm, wrt: int = 0, *, result_name: str | None = None) -> ScalarForm:
    """The derivative of `form` with respect to its input number `wrt`.

    Args:
        form: What to differentiate.
        wrt: Which input.
        result_name: If given, a further input of that name stands for the value of `form`, which
            is then not computed again: the slope of tanh is 1 - y * y.

    Raises:
        MapperError: There is no such input, or the form is a boolean, which has no slope.
    """
    if not 0 <= wrt < len(form.inputs):
        raise MapperError(f"slope of {form.name!r}: no input {wrt}; it takes {', '.join(form.inputs)}")
    if form.kind == "bool":
        raise MapperError(f"slope of {form.name!r}: it returns a boolean, which has no slope")
    inputs = [*form.inputs, *([result_name] if result_name else [])]
    builder = Builder(f"{form.name}_slope_{form.inputs[wrt]}", inputs)
    values = [Value(builder, i) for i in builder.replay(form, range(len(form.inputs)))]
    if result_name:
        values[form.result] = Value(builder, len(form.inputs))
    slopes: list[Value | None] = []
    for position, step in enumerate(form.instructions):
        if position == wrt:
            slopes.append(Value(builder, builder.constant(1)))
        else:
            slopes.append(_slope(step, values[position], [values[i] for i in step.args], slopes))
    result = slopes[form.result]
    return builder.finish(builder.constant(0) if result is None else result.position)


def _slope(step: Instruction, value: Value, args: list[Value], slopes: list[Value | None]) -> Value | None:
    """The slope of one instruction by the chain rule; None where it is zero for all inputs."""
    inner = [slopes[i] for i in step.args]
    if step.kind == "bool" or step.op in _FLAT or all(slope is None for slope in inner):
        return None
    if step.op == "select":
        then, other = (0.0 if slope is None else slope for slope in inner[1:])
        return select(args[0], then, other)
    if step.op in _UNARY:
        return _times(inner[0], _UNARY[step.op](args[0], value))
    terms = [
        _times(slope, rule(args[0], args[1], value))
        for slope, rule in zip(inner, _BINARY[step.op], strict=True)
        if slope is not None
    ]
    return terms[0] if len(terms) == 1 else _sum(terms[0], terms[1])


def _sum(first: Value | None, second: Value | None) -> Value | None:
    if first is None or second is None:
        return first if second is None else second
    return first + second


def _times(slope: Value | None, factor: Value | float) -> Value | None:
    """A product; a factor of 0 is no slope, one of -1 a change of sign."""
    if slope is None or (not isinstance(factor, Value) and factor == 0):
        return None
    if slope.number == -1 and isinstance(factor, Value):
        return -factor
    return -slope if not isinstance(factor, Value) and factor == -1 else slope * factor

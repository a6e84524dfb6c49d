"""Slopes: differentiating a program with respect to one of its inputs.

Forward mode over the instruction list: each value gets the value of its slope, or none where it
does not depend on the input, so that `0 * inf` never arises from a branch that was not taken. At a
kink the slope is that of the branch the comparison takes; `abs` and `sign` have slope 0 at 0;
`maximum` and `minimum` take their first argument at a tie; rounding has slope 0 everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from operad_sdk.mapper.errors import MapperError
from operad_sdk.mapper.ir import Builder, Instruction, Program
from operad_sdk.mapper.special import digamma_program

_FLAT: Final = frozenset(("input", "constant", "sign", "floor", "ceil", "trunc", "rint", "floor_divide"))


class _Rules:
    """Slopes of the primitives: `x` is the argument, `y` the value; each returns dy/dx."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder

    def number(self, value: float) -> int:
        return self._builder.constant(value)

    def is_minus_one(self, position: int) -> bool:
        return bool(self._builder.number(position) == -1)

    def apply(self, op: str, *args: int) -> int:
        return self._builder.apply(op, *args)

    def over(self, numerator: float, denominator: int) -> int:
        return self.apply("divide", self.number(numerator), denominator)

    def plus(self, number: float, value: int) -> int:
        return self.apply("add", self.number(number), value)

    def minus_square(self, number: float, value: int) -> int:
        return self.apply("subtract", self.number(number), self.apply("multiply", value, value))

    def square_minus(self, value: int, number: float) -> int:
        return self.apply("subtract", self.apply("multiply", value, value), self.number(number))

    def square_plus(self, value: int, number: float) -> int:
        return self.apply("add", self.apply("multiply", value, value), self.number(number))

    def gaussian(self, scale: float, x: int) -> int:
        bell = self.apply("exp", self.apply("negative", self.apply("multiply", x, x)))
        return self.apply("multiply", self.number(scale), bell)

    def digamma(self, x: int) -> int:
        return self._builder.inline(digamma_program(), [x])

    def root_over(self, value: int) -> int:
        return self.over(1, self.apply("sqrt", value))


_Rule = Callable[[_Rules, int, int], int]
_TWO_OVER_ROOT_PI: Final = 2 / math.sqrt(math.pi)

_UNARY: Final[dict[str, _Rule]] = {
    "negative": lambda r, x, y: r.number(-1),
    "abs": lambda r, x, y: r.apply("sign", x),
    "sqrt": lambda r, x, y: r.over(0.5, y),
    "cbrt": lambda r, x, y: r.over(1, r.apply("multiply", r.number(3), r.apply("multiply", y, y))),
    "exp": lambda r, x, y: y,
    "exp2": lambda r, x, y: r.apply("multiply", r.number(math.log(2)), y),
    "expm1": lambda r, x, y: r.apply("exp", x),
    "log": lambda r, x, y: r.over(1, x),
    "log1p": lambda r, x, y: r.over(1, r.plus(1, x)),
    "log2": lambda r, x, y: r.over(1 / math.log(2), x),
    "log10": lambda r, x, y: r.over(1 / math.log(10), x),
    "sin": lambda r, x, y: r.apply("cos", x),
    "cos": lambda r, x, y: r.apply("negative", r.apply("sin", x)),
    "tan": lambda r, x, y: r.square_plus(y, 1),
    "asin": lambda r, x, y: r.root_over(r.minus_square(1, x)),
    "acos": lambda r, x, y: r.apply("negative", r.root_over(r.minus_square(1, x))),
    "atan": lambda r, x, y: r.over(1, r.square_plus(x, 1)),
    "sinh": lambda r, x, y: r.apply("cosh", x),
    "cosh": lambda r, x, y: r.apply("sinh", x),
    "tanh": lambda r, x, y: r.minus_square(1, y),
    "asinh": lambda r, x, y: r.root_over(r.square_plus(x, 1)),
    "acosh": lambda r, x, y: r.root_over(r.square_minus(x, 1)),
    "atanh": lambda r, x, y: r.over(1, r.minus_square(1, x)),
    "erf": lambda r, x, y: r.gaussian(_TWO_OVER_ROOT_PI, x),
    "erfc": lambda r, x, y: r.gaussian(-_TWO_OVER_ROOT_PI, x),
    "gamma": lambda r, x, y: r.apply("multiply", y, r.digamma(x)),
    "lgamma": lambda r, x, y: r.digamma(x),
}


def _power_base(r: _Rules, a: int, b: int, y: int) -> int:
    lower = r.apply("power", a, r.apply("subtract", b, r.number(1)))
    return r.apply("multiply", b, lower)


def _power_exponent(r: _Rules, a: int, b: int, y: int) -> int:
    # log(0) * 0 would be NaN where the power itself is constant.
    at_zero = r.apply("equal", a, r.number(0))
    return r.apply("select", at_zero, r.number(0), r.apply("multiply", y, r.apply("log", a)))


def _sum_of_squares(r: _Rules, a: int, b: int) -> int:
    return r.apply("add", r.apply("multiply", a, a), r.apply("multiply", b, b))


def _indicator(r: _Rules, condition: int) -> int:
    return r.apply("select", condition, r.number(1), r.number(0))


def _copysign(r: _Rules, a: int, b: int, y: int) -> int:
    one = r.number(1)
    return r.apply("multiply", r.apply("copysign", one, a), r.apply("copysign", one, b))


_BinaryRule = Callable[[_Rules, int, int, int], int]
_BINARY: Final[dict[str, tuple[_BinaryRule | None, _BinaryRule | None]]] = {
    "add": (lambda r, a, b, y: r.number(1), lambda r, a, b, y: r.number(1)),
    "subtract": (lambda r, a, b, y: r.number(1), lambda r, a, b, y: r.number(-1)),
    "multiply": (lambda r, a, b, y: b, lambda r, a, b, y: a),
    "divide": (
        lambda r, a, b, y: r.over(1, b),
        lambda r, a, b, y: r.apply("negative", r.apply("divide", y, b)),
    ),
    "remainder": (
        lambda r, a, b, y: r.number(1),
        lambda r, a, b, y: r.apply("negative", r.apply("floor_divide", a, b)),
    ),
    "fmod": (
        lambda r, a, b, y: r.number(1),
        lambda r, a, b, y: r.apply("negative", r.apply("trunc", r.apply("divide", a, b))),
    ),
    "power": (_power_base, _power_exponent),
    "hypot": (lambda r, a, b, y: r.apply("divide", a, y), lambda r, a, b, y: r.apply("divide", b, y)),
    "atan2": (
        lambda r, a, b, y: r.apply("divide", b, _sum_of_squares(r, a, b)),
        lambda r, a, b, y: r.apply("negative", r.apply("divide", a, _sum_of_squares(r, a, b))),
    ),
    "copysign": (_copysign, None),
    "maximum": (
        lambda r, a, b, y: _indicator(r, r.apply("greater_equal", a, b)),
        lambda r, a, b, y: _indicator(r, r.apply("less", a, b)),
    ),
    "minimum": (
        lambda r, a, b, y: _indicator(r, r.apply("less_equal", a, b)),
        lambda r, a, b, y: _indicator(r, r.apply("greater", a, b)),
    ),
}


def slope_program(program: Program, wrt: int = 0) -> Program:
    """The derivative of `program` with respect to its input number `wrt`.

    Raises:
        MapperError: There is no such input, or the program is a truth value, which has no slope.
    """
    if not 0 <= wrt < len(program.inputs):
        raise MapperError(f"slope of {program.name!r}: no input {wrt}; it takes {', '.join(program.inputs)}")
    if program.kind == "bool":
        raise MapperError(f"slope of {program.name!r}: it returns a truth value, which has no slope")
    builder = Builder(f"{program.name}_slope_{program.inputs[wrt]}", program.inputs)
    values = builder.replay(program, range(len(program.inputs)))
    rules = _Rules(builder)
    slopes: list[int | None] = []
    for position, step in enumerate(program.instructions):
        slopes.append(
            builder.constant(1) if position == wrt else _slope(rules, step, position, values, slopes)
        )
    result = slopes[program.result]
    return builder.finish(builder.constant(0) if result is None else result)


def _slope(
    rules: _Rules, step: Instruction, position: int, values: list[int], slopes: list[int | None]
) -> int | None:
    inner = [slopes[i] for i in step.args]
    args = [values[i] for i in step.args]
    if step.kind == "bool" or step.op in _FLAT or not any(slope is not None for slope in inner):
        return None
    if step.op == "select":
        zero = rules.number(0)
        then, other = (zero if slope is None else slope for slope in inner[1:])
        return rules.apply("select", args[0], then, other)
    if step.op in _UNARY:
        assert inner[0] is not None
        return _times(rules, inner[0], _UNARY[step.op](rules, args[0], values[position]))
    total: int | None = None
    for slope, rule in zip(inner, _BINARY[step.op], strict=True):
        if slope is not None and rule is not None:
            term = _times(rules, slope, rule(rules, args[0], args[1], values[position]))
            total = term if total is None else rules.apply("add", total, term)
    return total


def _times(rules: _Rules, outer: int, inner: int) -> int:
    """A product in which a factor of -1 is a change of sign."""
    for factor, other in ((outer, inner), (inner, outer)):
        if rules.is_minus_one(factor):
            return rules.apply("negative", other)
    return rules.apply("multiply", outer, inner)

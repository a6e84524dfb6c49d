"""Machine instructions that numba has no name for, as numba intrinsics.

Each becomes one LLVM instruction or a short sequence of them, of the argument's own type, which the
vectoriser understands; numba's `math.floor` and its like go through calls or double precision.
Importing this module imports numba.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

Generator = Callable[[Any, ir.Type, list[ir.Value]], ir.Value]


def _unary(generate: Generator, name: str) -> Any:
    def typed(typing_context: Any, x: Any) -> Any:
        return (x(x), _lowered(generate)) if isinstance(x, types.Float) else None

    typed.__name__ = name
    return intrinsic(typed)


def _binary(generate: Generator, name: str) -> Any:
    def typed(typing_context: Any, a: Any, b: Any) -> Any:
        return (a(a, a), _lowered(generate)) if isinstance(a, types.Float) and a == b else None

    typed.__name__ = name
    return intrinsic(typed)


def _ternary(generate: Generator, name: str) -> Any:
    def typed(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
        return (a(a, a, a), _lowered(generate)) if isinstance(a, types.Float) and a == b == c else None

    typed.__name__ = name
    return intrinsic(typed)


def _lowered(generate: Generator) -> Callable[..., ir.Value]:
    def lower(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
        return generate(builder, args[0].type, list(args))

    return lower


def _instruction(name: str) -> Generator:
    def generate(builder: Any, kind: ir.Type, args: list[ir.Value]) -> ir.Value:
        signature = ir.FunctionType(kind, [kind] * len(args))
        return builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [kind], signature), args)

    return generate


class _Format:
    """Bit layout of a floating-point type."""

    def __init__(self, kind: ir.Type) -> None:
        is_float = isinstance(kind, ir.FloatType)
        self.bits = ir.IntType(32 if is_float else 64)
        self.fraction_bits = 23 if is_float else 52
        self.bias = 127 if is_float else 1023
        # Upper bits of sqrt(1/2): subtracting them moves the exponent's boundary there.
        self.root_half = 0x3F3504F3 if is_float else 0x3FE6A09E667F3BCD
        # A number so large that the fraction's low bits count in ones.
        self.magic = 1.5 * 2.0**self.fraction_bits


def _pow2(builder: Any, kind: ir.Type, args: list[ir.Value]) -> ir.Value:
    # The low bits of n + magic + bias are the biased exponent; the shift drops the rest. No
    # conversion to an integer, which would be undefined for NaN.
    layout = _Format(kind)
    shifted = builder.fadd(args[0], ir.Constant(kind, layout.magic + layout.bias))
    bits = builder.bitcast(shifted, layout.bits)
    return builder.bitcast(builder.shl(bits, ir.Constant(layout.bits, layout.fraction_bits)), kind)


def _scaled(builder: Any, kind: ir.Type, args: list[ir.Value]) -> ir.Value:
    # In two steps, neither of which is beyond the range of exponents, so that subnormal results round once.
    value, n = args
    half = _instruction("rint")(builder, kind, [builder.fmul(n, ir.Constant(kind, 0.5))])
    value = builder.fmul(value, _pow2(builder, kind, [half]))
    return builder.fmul(value, _pow2(builder, kind, [builder.fsub(n, half)]))


def _from_boundary(builder: Any, layout: _Format, value: ir.Value) -> ir.Value:
    return builder.sub(builder.bitcast(value, layout.bits), ir.Constant(layout.bits, layout.root_half))


def _exponent(builder: Any, kind: ir.Type, args: list[ir.Value]) -> ir.Value:
    layout = _Format(kind)
    offset = _from_boundary(builder, layout, args[0])
    whole = builder.ashr(offset, ir.Constant(layout.bits, layout.fraction_bits))
    # Adding the integer to the bits of `magic` and subtracting `magic` converts it, vectorised.
    magic = ir.Constant(kind, layout.magic)
    summed = builder.add(whole, builder.bitcast(magic, layout.bits))
    return builder.fsub(builder.bitcast(summed, kind), magic)


def _mantissa(builder: Any, kind: ir.Type, args: list[ir.Value]) -> ir.Value:
    layout = _Format(kind)
    mask = ir.Constant(layout.bits, (1 << layout.fraction_bits) - 1)
    fraction = builder.and_(_from_boundary(builder, layout, args[0]), mask)
    return builder.bitcast(builder.add(fraction, ir.Constant(layout.bits, layout.root_half)), kind)


fabs = _unary(_instruction("fabs"), "fabs")
sqrt = _unary(_instruction("sqrt"), "sqrt")
floor = _unary(_instruction("floor"), "floor")
ceil = _unary(_instruction("ceil"), "ceil")
trunc = _unary(_instruction("trunc"), "trunc")
rint = _unary(_instruction("rint"), "rint")
copysign = _binary(_instruction("copysign"), "copysign")
fma = _ternary(_instruction("fmuladd"), "fma")
pow2 = _unary(_pow2, "pow2")
scaled = _binary(_scaled, "scaled")
exponent = _unary(_exponent, "exponent")
mantissa = _unary(_mantissa, "mantissa")

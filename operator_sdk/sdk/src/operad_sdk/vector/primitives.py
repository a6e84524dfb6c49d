"""Each primitive of scalar forms as instructions on vectors.

What has more to it than an instruction or two (`exp`, `tanh`, `sign`, ...) is written out in simpler
primitives beforehand, by `operad_sdk.mapper.expansions`, whose errors are stated and tested.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from operad.errors import OperadError
from operad_sdk.vector.writer import BITS, ELEMENTS, FLOATS, INTEGERS, Writer

Write = Callable[[Writer, str, list[str]], str]
"""`write(code, kind, args)`: `kind` is that of the arguments."""


class NoVectorCodeError(OperadError):
    """A form, or a processor, for which no vector code can be written; the message says why."""


def apply(code: Writer, op: str, kind: str, args: list[str]) -> str:
    """Write a primitive on vectors of one kind; only the condition of a selection is of another.

    Raises:
        NoVectorCodeError: The primitive has no vector code for this kind.
    """
    if op in _OF_ALL and kind != "float16":
        return _OF_ALL[op](code, kind, args)
    if op in _OF_FLOATS and kind in FLOATS:
        return _OF_FLOATS[op](code, kind, args)
    raise NoVectorCodeError(f"{op} of {kind} has no vector code")


def cast(code: Writer, value: str, old: str, new: str) -> str:
    """Write a conversion, as NumPy's `astype` does it.

    Raises:
        NoVectorCodeError: It is one to float16 from a type that float32 does not hold, which would be rounded
            twice, or one from a floating type to a whole one of which NumPy's result differs by processor.
    """
    if old == new:
        return value
    types = code.vector(old), code.vector(new)
    if "float16" in (old, new):
        return _cast_half(code, value, old, new)
    if new == "bool":
        return _compare("not_equal")(code, old, [value, code.constant(old, 0)])
    if old in FLOATS:
        if new not in FLOATS:
            return _cast_to_whole(code, value, old, new)
        word = "fpext" if new == "float64" else "fptrunc"
    elif new in FLOATS:
        word = "sitofp" if old.startswith("int") else "uitofp"
    elif BITS[new] < BITS[old] and old != "bool":
        word = "trunc"
    elif old != "bool" and BITS[new] == BITS[old]:
        return value  # of the other sign
    else:
        word = "sext" if old.startswith("int") else "zext"
    return code.value(f"{word} {types[0]} {value} to {types[1]}")


def _cast_half(code: Writer, value: str, old: str, new: str) -> str:
    if old == "float16":
        value = code.value(f"fpext {code.vector(old)} {value} to {code.vector('float32')}")
        return cast(code, value, "float32", new)
    if old != "float32" and (old in FLOATS or BITS[old] > 16):
        raise NoVectorCodeError(f"a cast from {old} to {new} has no vector code")
    value = cast(code, value, old, "float32")
    return code.value(f"fptrunc {code.vector('float32')} {value} to {code.vector(new)}")


def _cast_to_whole(code: Writer, value: str, old: str, new: str) -> str:
    """By way of int32, or of int64 where that does not hold the type; what fits neither becomes its least.

    That is what processors of Intel and AMD give, and with them NumPy, whose other results are undefined.
    """
    wide = "int32" if BITS[new] < 32 or new == "int32" else "int64"
    if new == "uint64":  # some numbers fit that do not fit int64
        raise NoVectorCodeError(f"a cast from {old} to {new} has no vector code")
    limit = 2.0 ** (BITS[wide] - 1)
    vector, least = code.vector(old), code.constant(wide, -int(limit))
    above = code.value(f"fcmp oge {vector} {value}, {code.constant(old, -limit)}")
    below = code.value(f"fcmp olt {vector} {value}, {code.constant(old, limit)}")
    fits = apply(code, "logical_and", "bool", [above, below])
    inside = apply(code, "select", old, [fits, value, code.constant(old, 0)])
    whole = code.value(f"fptosi {vector} {inside} to {code.vector(wide)}")
    return cast(code, apply(code, "select", wide, [fits, whole, least]), wide, new)


def _arithmetic(of_floats: str, of_integers: str) -> Write:
    def write(code: Writer, kind: str, args: list[str]) -> str:
        word = of_floats if kind in FLOATS else of_integers if kind in INTEGERS else ""
        if not word:
            raise NoVectorCodeError(f"{of_floats[1:]} of {kind} has no vector code")
        return code.value(f"{word} {code.vector(kind)} {args[0]}, {args[1]}")

    return write


_CONDITIONS: Final = {
    "less": ("olt", "lt"),
    "less_equal": ("ole", "le"),
    "greater": ("ogt", "gt"),
    "greater_equal": ("oge", "ge"),
    "equal": ("oeq", "eq"),
    "not_equal": ("une", "ne"),
}


def _compare(op: str) -> Write:
    of_floats, of_integers = _CONDITIONS[op]
    is_ordering = op not in ("equal", "not_equal")

    def write(code: Writer, kind: str, args: list[str]) -> str:
        if kind in FLOATS:
            words = f"fcmp {of_floats}"
        else:
            sign = ("s" if kind.startswith("int") else "u") if is_ordering else ""
            words = f"icmp {sign}{of_integers}"
        return code.value(f"{words} {code.vector(kind)} {args[0]}, {args[1]}")

    return write


def _logic(word: str) -> Write:
    def write(code: Writer, kind: str, args: list[str]) -> str:
        return code.value(f"{word} {code.vector('bool')} {args[0]}, {args[1]}")

    return write


def _not(code: Writer, kind: str, args: list[str]) -> str:
    return code.value(f"xor {code.vector('bool')} {args[0]}, {code.constant('bool', 1)}")


def _select(code: Writer, kind: str, args: list[str]) -> str:
    vector, condition = code.vector(kind), code.vector("bool")
    return code.value(f"select {condition} {args[0]}, {vector} {args[1]}, {vector} {args[2]}")


def _negative(code: Writer, kind: str, args: list[str]) -> str:
    vector = code.vector(kind)
    if kind in FLOATS:
        return code.value(f"fneg {vector} {args[0]}")
    return code.value(f"sub {vector} {code.constant(kind, 0)}, {args[0]}")


def _extremum(op: str) -> Write:
    """The larger or smaller of two integers; that of floating numbers is written out beforehand."""

    def write(code: Writer, kind: str, args: list[str]) -> str:
        if kind not in INTEGERS:
            raise NoVectorCodeError(f"an extremum of {kind} has no vector code")
        return _select(code, kind, [_compare(op)(code, kind, args), *args])

    return write


def _intrinsic(name: str) -> Write:
    def write(code: Writer, kind: str, args: list[str]) -> str:
        return code.intrinsic(name, kind, *args)

    return write


def _of_c(name: str) -> Write:
    """A function of the C library that LLVM has no name for, lane by lane.

    By way of memory: around each call both vectors would be saved. It is volatile, since one load of what
    several stores wrote waits for all of them.
    """

    def write(code: Writer, kind: str, args: list[str]) -> str:
        vector, element = code.vector(kind), ELEMENTS[kind]
        memory = code.on_stack(vector)
        code.line(f"store {vector} {args[0]}, ptr {memory}, align 64")

        places = [code.value(f"getelementptr {element}, ptr {memory}, i64 {i}") for i in range(code.lanes)]
        for at in places:
            given = code.value(f"load volatile {element}, ptr {at}")
            value = code.call(element, name if kind == "float64" else f"{name}f", (element, given))
            code.line(f"store {element} {value}, ptr {at}")
        found = "poison"
        for number, at in enumerate(places):
            value = code.value(f"load volatile {element}, ptr {at}")
            found = code.value(f"insertelement {vector} {found}, {element} {value}, i32 {number}")
        return found

    return write


def _rarely(write: Write, at_zero: float) -> Write:
    """Call of the C library for each lane; `at_zero`, and no call, where the first operand is 0 in all lanes.

    Expansions give 0 for all that they compute themselves, so that no register is saved for the call.
    """

    def call(code: Writer, kind: str, args: list[str]) -> str:
        vector, bits = code.vector(kind), f"i{code.lanes}"
        nonzero = code.value(f"fcmp une {vector} {args[0]}, {code.constant(kind, 0)}")
        word = code.value(f"bitcast {code.vector('bool')} {nonzero} to {bits}")
        is_any = code.value(f"icmp ne {bits} {word}, 0")
        otherwise = [(vector, code.constant(kind, at_zero))]
        return code.when(is_any, otherwise, lambda: [write(code, kind, args)])[0]

    return call


_REGISTER_BITS: Final = 512
_FRACTION: Final = {"float32": 23, "float64": 52}
_BIAS: Final = {"float32": 127, "float64": 1023}
_ROOT_HALF: Final = {"float32": 0x3F3504F3, "float64": 0x3FE6A09E667F3BCD}
"""Bits of sqrt(1/2); what is subtracted moves the boundary between exponents there."""


def _magic(kind: str) -> float:
    """A number so large that the lowest bit of its fraction counts ones."""
    return float(1.5 * 2.0 ** _FRACTION[kind])


def _as_bits(code: Writer, kind: str, value: str) -> tuple[str, str, str]:
    """The vector's bits, their vector type, and their element type's name."""
    bits = f"int{BITS[kind]}"
    return code.value(f"bitcast {code.vector(kind)} {value} to {code.vector(bits)}"), code.vector(bits), bits


def _pow2(code: Writer, kind: str, args: list[str]) -> str:
    # The low bits of n + magic + bias are the biased exponent, and the shift drops the others: no conversion
    # to an integer, which NaN has none.
    vector = code.vector(kind)
    number = code.constant(kind, _magic(kind) + _BIAS[kind])
    shifted, words, bits = _as_bits(code, kind, code.value(f"fadd {vector} {args[0]}, {number}"))
    shifted = code.value(f"shl {words} {shifted}, {code.constant(bits, _FRACTION[kind])}")
    return code.value(f"bitcast {words} {shifted} to {vector}")


def _scaled(code: Writer, kind: str, args: list[str]) -> str:
    vector, (value, n) = code.vector(kind), args
    if (
        code.has_scalef and code.lanes * BITS[kind] == _REGISTER_BITS
    ):  # which rounds once as well, so that the bits are the same
        suffix, mask = ("ps", "i16") if kind == "float32" else ("pd", "i8")
        return code.call(
            vector, f"llvm.x86.avx512.mask.scalef.{suffix}.512", (vector, value), (vector, n),
            (vector, "zeroinitializer"), (mask, "-1"), ("i32", "4"),
        )  # fmt: skip
    # In two steps, neither of which is beyond the range of exponents, so that subnormal results round once.
    half = code.intrinsic("rint", kind, code.value(f"fmul {vector} {n}, {code.constant(kind, 0.5)}"))
    value = code.value(f"fmul {vector} {value}, {_pow2(code, kind, [half])}")
    rest = code.value(f"fsub {vector} {n}, {half}")
    return code.value(f"fmul {vector} {value}, {_pow2(code, kind, [rest])}")


def _exponent(code: Writer, kind: str, args: list[str]) -> str:
    value, words, bits = _as_bits(code, kind, args[0])
    value = code.value(f"sub {words} {value}, {code.constant(bits, _ROOT_HALF[kind])}")
    value = code.value(f"ashr {words} {value}, {code.constant(bits, _FRACTION[kind])}")
    # Added to the bits of the magic number, which is then subtracted, an integer becomes a floating one.
    magic, vector = code.constant(kind, _magic(kind)), code.vector(kind)
    value = code.value(f"add {words} {value}, {_as_bits(code, kind, magic)[0]}")
    return code.value(f"fsub {vector} {code.value(f'bitcast {words} {value} to {vector}')}, {magic}")


def _mantissa(code: Writer, kind: str, args: list[str]) -> str:
    value, words, bits = _as_bits(code, kind, args[0])
    root = code.constant(bits, _ROOT_HALF[kind])
    value = code.value(f"sub {words} {value}, {root}")
    value = code.value(f"and {words} {value}, {code.constant(bits, (1 << _FRACTION[kind]) - 1)}")
    value = code.value(f"add {words} {value}, {root}")
    return code.value(f"bitcast {words} {value} to {code.vector(kind)}")


_OF_ALL: Final[dict[str, Write]] = {
    "add": _arithmetic("fadd", "add"),
    "subtract": _arithmetic("fsub", "sub"),
    "multiply": _arithmetic("fmul", "mul"),
    "negative": _negative,
    **{op: _compare(op) for op in _CONDITIONS},
    "maximum": _extremum("greater"),
    "minimum": _extremum("less"),
    "logical_and": _logic("and"),
    "logical_or": _logic("or"),
    "logical_not": _not,
    "select": _select,
}
_OF_FLOATS: Final[dict[str, Write]] = {
    "divide": _arithmetic("fdiv", ""),
    "abs": _intrinsic("fabs"),
    **{op: _intrinsic(op) for op in ("sqrt", "floor", "ceil", "trunc", "rint", "copysign", "fma")},
    # LLVM writes a call of the C library for each lane.
    "atan2": _intrinsic("atan2"),
    **{op: _rarely(_intrinsic(op), at_zero) for op, at_zero in (("sin", 0), ("cos", 1), ("tan", 0))},
    "power": _intrinsic("pow"),
    "fmod": _rarely(_arithmetic("frem", ""), 0),
    **{op: _of_c(name) for op, name in (("erfc", "erfc"), ("gamma", "tgamma"))},
    "pow2": _pow2,
    "scaled": _scaled,
    "exponent": _exponent,
    "mantissa": _mantissa,
}

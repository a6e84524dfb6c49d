"""The closed list of primitives that mapper forms are made of.

One record per primitive says everything a back end needs: how NumPy evaluates it, and how Python and
CUDA spell it. Adding a primitive is one line here and, where it has a slope, one
line in `slope.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, final

import numpy as np
from numpy.typing import NDArray

from operad.operator import function_of_elements
from operad_sdk.mapper import array_functions

Kind = Literal["real", "bool"]
"""Kind of a value: `real` has the element type of the arrays the form runs on."""


@final
@dataclass(frozen=True, slots=True)
class Primitive:
    """One operation of the mapper language.

    Attributes:
        name: Name in forms; for functions also the name in mapper code.
        arity: Number of arguments.
        evaluate: NumPy's form of it, for arrays and scalars.
        python: Template of the Python expression; arguments by position.
        cuda: Template of the CUDA expression; `{f}` is the suffix of math functions (`f` or empty).
        takes: Kind of every argument (`select` alone differs: bool, then two of one kind).
        gives: Kind of the result.
    """

    name: str
    arity: int
    evaluate: Callable[..., Any]
    python: str
    cuda: str
    takes: Kind = "real"
    gives: Kind = "real"


_MANY: Final = 256
"""Elements from which the polynomials of `array_functions`, 50 us and 30 ns per element, cost less."""


def _for_many(name: str, arrays: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[[Any], Any]:
    """A function that NumPy lacks: Python's for few numbers, ours for many."""
    numbers = function_of_elements(name)
    return lambda x: arrays(x) if np.size(x) >= _MANY else numbers(x)


def _infix(name: str, evaluate: np.ufunc, sign: str, gives: Kind = "real") -> Primitive:
    template = f"{{0}} {sign} {{1}}"
    return Primitive(name, 2, evaluate, template, template, gives=gives)


def _function(
    name: str, evaluate: Callable[..., Any], arity: int = 1, cuda: str | None = None, gives: Kind = "real"
) -> Primitive:
    arguments = ", ".join(f"{{{i}}}" for i in range(arity))
    return Primitive(
        name, arity, evaluate, f"{name}({arguments})", cuda or f"{name}{{f}}({arguments})", gives=gives
    )


_ARITHMETIC: Final = (
    _infix("add", np.add, "+"),
    _infix("subtract", np.subtract, "-"),
    _infix("multiply", np.multiply, "*"),
    _infix("divide", np.divide, "/"),
    _function("remainder", np.remainder, 2),
    _function("floor_divide", np.floor_divide, 2),
    Primitive("negative", 1, np.negative, "-{0}", "-{0}"),
)
_COMPARISON: Final = (
    _infix("less", np.less, "<", gives="bool"),
    _infix("less_equal", np.less_equal, "<=", gives="bool"),
    _infix("greater", np.greater, ">", gives="bool"),
    _infix("greater_equal", np.greater_equal, ">=", gives="bool"),
    _infix("equal", np.equal, "==", gives="bool"),
    _infix("not_equal", np.not_equal, "!=", gives="bool"),
    _function("isnan", np.isnan, cuda="isnan({0})", gives="bool"),
    _function("isinf", np.isinf, cuda="isinf({0})", gives="bool"),
    _function("isfinite", np.isfinite, cuda="isfinite({0})", gives="bool"),
)
_LOGIC: Final = (
    Primitive("logical_and", 2, np.logical_and, "({0} & {1})", "({0} && {1})", takes="bool", gives="bool"),
    Primitive("logical_or", 2, np.logical_or, "({0} | {1})", "({0} || {1})", takes="bool", gives="bool"),
    Primitive("logical_not", 1, np.logical_not, "(not {0})", "!{0}", takes="bool", gives="bool"),
    Primitive("select", 3, np.where, "({1} if {0} else {2})", "({0} ? {1} : {2})"),
)
_SIGN_CUDA: Final = "({0} > 0 ? 1 : {0} < 0 ? -1 : {0} == 0 ? 0 : {0})"  # the last case is NaN
_MAXIMUM_CUDA: Final = "(isnan({0}) || {0} > {1} ? {0} : {1})"
_MINIMUM_CUDA: Final = "(isnan({0}) || {0} < {1} ? {0} : {1})"
_FUNCTIONS: Final = (
    Primitive("abs", 1, np.absolute, "abs({0})", "fabs{f}({0})"),
    _function("sign", np.sign, cuda=_SIGN_CUDA),
    _function("sqrt", np.sqrt),
    _function("cbrt", np.cbrt),
    _function("exp", np.exp),
    _function("exp2", np.exp2),
    _function("expm1", np.expm1),
    _function("log", np.log),
    _function("log1p", np.log1p),
    _function("log2", np.log2),
    _function("log10", np.log10),
    _function("sin", np.sin),
    _function("cos", np.cos),
    _function("tan", np.tan),
    _function("asin", np.arcsin),
    _function("acos", np.arccos),
    _function("atan", np.arctan),
    _function("sinh", np.sinh),
    _function("cosh", np.cosh),
    _function("tanh", np.tanh),
    _function("asinh", np.arcsinh),
    _function("acosh", np.arccosh),
    _function("atanh", np.arctanh),
    _function("erf", _for_many("erf", array_functions.erf)),
    _function("erfc", _for_many("erfc", array_functions.erfc)),
    _function("gamma", _for_many("gamma", array_functions.gamma), cuda="tgamma{f}({0})"),
    _function("lgamma", _for_many("lgamma", array_functions.lgamma)),
    _function("floor", np.floor),
    _function("ceil", np.ceil),
    _function("trunc", np.trunc),
    _function("rint", np.rint),
    _function("power", np.power, 2, cuda="pow{f}({0}, {1})"),
    _function("atan2", np.arctan2, 2),
    _function("hypot", np.hypot, 2),
    _function("fmod", np.fmod, 2),
    _function("copysign", np.copysign, 2),
    _function("maximum", np.maximum, 2, cuda=_MAXIMUM_CUDA),
    _function("minimum", np.minimum, 2, cuda=_MINIMUM_CUDA),
)


def _fma(a: Any, b: Any, c: Any) -> Any:
    return (np.float64(a) * b + c).astype(np.asarray(a).dtype)


def _pow2(n: Any) -> Any:
    return np.ldexp(np.ones_like(n), n.astype(np.int32))


def _scaled(x: Any, n: Any) -> Any:
    return np.ldexp(x, n.astype(np.int32))


def _exponent(x: Any) -> Any:
    mantissa, exponent = np.frexp(x)
    return (exponent - (mantissa < _ROOT_HALF)).astype(np.asarray(x).dtype)


def _mantissa(x: Any) -> Any:
    mantissa = np.frexp(x)[0]
    return np.where(mantissa < _ROOT_HALF, mantissa * 2, mantissa)


_ROOT_HALF: Final = np.float32(math.sqrt(0.5))


_CHOICES: Final = tuple(
    Primitive(
        name,
        2,
        function_of_elements(name),
        f"({{1}} if {{1}} {sign} {{0}} else {{0}})",
        f"({{1}} {sign} {{0}} ? {{1}} : {{0}})",
    )
    for name, sign in (("smaller", "<"), ("larger", ">"))
)
_MACHINE: Final = (
    # Made by expansions only; authors cannot name them. None has a meaning for NaN.
    _function("fma", _fma, 3),  # a * b + c, rounded once where the machine can
    _function("pow2", _pow2),  # 2 ** n for whole n in the range of normal exponents
    _function("scaled", _scaled, 2),  # x * 2 ** n for whole n, rounded once; x in [1/2, 2]
    _function("exponent", _exponent),  # e of x = m * 2 ** e with m in [sqrt(1/2), sqrt(2)), x > 0 normal
    _function("mantissa", _mantissa),  # m of the same
)

PRIMITIVES: Final[dict[str, Primitive]] = {
    primitive.name: primitive
    for primitive in (*_ARITHMETIC, *_COMPARISON, *_LOGIC, *_FUNCTIONS, *_CHOICES, *_MACHINE)
}
"""Every primitive by name."""

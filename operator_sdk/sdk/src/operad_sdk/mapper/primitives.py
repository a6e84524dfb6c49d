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


def _infix(name: str, sign: str, gives: Kind = "real") -> Primitive:
    template = f"{{0}} {sign} {{1}}"
    return Primitive(name, 2, getattr(np, name), template, template, gives=gives)


def _function(
    name: str,
    evaluate: Callable[..., Any] | None = None,
    arity: int = 1,
    cuda: str | None = None,
    gives: Kind = "real",
) -> Primitive:
    """A function of `arity` numbers; without `evaluate` NumPy's of its name."""
    arguments = ", ".join(f"{{{i}}}" for i in range(arity))
    template, own = f"{name}({arguments})", cuda or f"{name}{{f}}({arguments})"
    return Primitive(name, arity, evaluate or getattr(np, name), template, own, gives=gives)


_INFIX: Final = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
_COMPARED: Final = {
    "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!=",
}  # fmt: skip
_ANGLES: Final = ("sin", "cos", "tan", "sinh", "cosh", "tanh")
_OF_ONE: Final = (
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "floor", "ceil", "trunc", "rint",
)  # fmt: skip
_SIGN_CUDA: Final = "({0} > 0 ? 1 : {0} < 0 ? -1 : {0} == 0 ? 0 : {0})"  # the last case is NaN
_EXTREME_CUDA: Final = "(isnan({{0}}) || {{0}} {} {{1}} ? {{0}} : {{1}})"
_OF_NUMPY: Final = (
    *(_infix(name, sign) for name, sign in _INFIX.items()),
    *(_infix(name, sign, "bool") for name, sign in _COMPARED.items()),
    *(_function(name) for name in (*_OF_ONE, *_ANGLES)),
    *(_function(f"a{name}", getattr(np, f"arc{name}")) for name in _ANGLES),
    *(_function(name, arity=2) for name in ("remainder", "floor_divide", "hypot", "fmod", "copysign")),
    *(_function(name, cuda=f"{name}({{0}})", gives="bool") for name in ("isnan", "isinf", "isfinite")),
    *(
        _function(name, arity=2, cuda=_EXTREME_CUDA.format(sign))
        for name, sign in (("maximum", ">"), ("minimum", "<"))
    ),
    _function("sign", cuda=_SIGN_CUDA),
    _function("power", arity=2, cuda="pow{f}({0}, {1})"),
    _function("atan2", np.arctan2, 2),
    Primitive("negative", 1, np.negative, "-{0}", "-{0}"),
    Primitive("abs", 1, np.absolute, "abs({0})", "fabs{f}({0})"),
)
_LOGIC: Final = (
    Primitive("logical_and", 2, np.logical_and, "({0} & {1})", "({0} && {1})", takes="bool", gives="bool"),
    Primitive("logical_or", 2, np.logical_or, "({0} | {1})", "({0} || {1})", takes="bool", gives="bool"),
    Primitive("logical_not", 1, np.logical_not, "(not {0})", "!{0}", takes="bool", gives="bool"),
    Primitive("select", 3, np.where, "({1} if {0} else {2})", "({0} ? {1} : {2})"),
)
_POLYNOMIALS: Final = tuple(
    _function(name, _for_many(name, getattr(array_functions, name)), cuda=cuda)
    for name, cuda in (("erf", None), ("erfc", None), ("gamma", "tgamma{f}({0})"), ("lgamma", None))
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
    primitive.name: primitive for primitive in (*_OF_NUMPY, *_LOGIC, *_POLYNOMIALS, *_CHOICES, *_MACHINE)
}
"""Every primitive by name."""

"""Functions of two operands, each an array, a symbol or a number: `nd.maximum(x, 0.5)`.

Source: python/mxnet/ndarray/ndarray.py (`_ufunc_helper`), python/mxnet/symbol/symbol.py.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final, NamedTuple, final

from operad import nd, sym
from operad.errors import ArgumentError


@final
class _Kinds(NamedTuple):
    """Operators of a function, by the kinds of its operands.

    Attributes:
        arrays: The operator of two arrays, which broadcasts.
        symbols: The operator of two symbols of one shape.
        scalar: The operator of an array and a number.
        reverse: That of a number and an array.
        plain: The function of two numbers.
    """

    arrays: str
    symbols: str
    scalar: str
    reverse: str
    plain: Callable[[Any, Any], Any]


def _number(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], float]:
    return lambda a, b: float(bool(compare(a, b)))


_ARITHMETIC: Final = {
    "add": _Kinds("broadcast_add", "elemwise_add", "_plus_scalar", "_plus_scalar", operator.add),
    "subtract": _Kinds("broadcast_sub", "elemwise_sub", "_minus_scalar", "_rminus_scalar", operator.sub),
    "multiply": _Kinds("broadcast_mul", "elemwise_mul", "_mul_scalar", "_mul_scalar", operator.mul),
    "divide": _Kinds("broadcast_div", "elemwise_div", "_div_scalar", "_rdiv_scalar", operator.truediv),
    "modulo": _Kinds("broadcast_mod", "_mod", "_mod_scalar", "_rmod_scalar", operator.mod),
    "power": _Kinds("broadcast_power", "_power", "_power_scalar", "_rpower_scalar", operator.pow),
    "maximum": _Kinds("broadcast_maximum", "_maximum", "_maximum_scalar", "_maximum_scalar", max),
    "minimum": _Kinds("broadcast_minimum", "_minimum", "_minimum_scalar", "_minimum_scalar", min),
    "hypot": _Kinds("broadcast_hypot", "_hypot", "_hypot_scalar", "_hypot_scalar", math.hypot),
}
_MIRRORED: Final = {
    "equal": "equal", "not_equal": "not_equal", "greater": "lesser", "greater_equal": "lesser_equal",
    "lesser": "greater", "lesser_equal": "greater_equal",
    "logical_and": "logical_and", "logical_or": "logical_or", "logical_xor": "logical_xor",
}  # fmt: skip
_COMPARE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "equal": operator.eq, "not_equal": operator.ne, "greater": operator.gt, "greater_equal": operator.ge,
    "lesser": operator.lt, "lesser_equal": operator.le,
    "logical_and": lambda a, b: a and b, "logical_or": lambda a, b: a or b,
    "logical_xor": lambda a, b: bool(a) != bool(b),
}  # fmt: skip
_KINDS: Final = (
    _ARITHMETIC
    | {"true_divide": _ARITHMETIC["divide"]}
    | {
        name: _Kinds(
            f"broadcast_{name}", f"_{name}", f"_{name}_scalar", f"_{mirror}_scalar", _number(_COMPARE[name])
        )
        for name, mirror in _MIRRORED.items()
    }
)
_FORMER: Final = {
    "_maximum_scalar": "_MaximumScalar", "_minimum_scalar": "_MinimumScalar", "_hypot_scalar": "_HypotScalar",
    "_power_scalar": "_PowerScalar", "_rpower_scalar": "_RPowerScalar",
}  # fmt: skip
"""Names by which MXNet's functions of symbols call operators, and after which nodes are called."""


def _function(
    name: str, face: Any, tensor: type, joined: str, words: tuple[str, str]
) -> Callable[[Any, Any], Any]:
    kinds = _KINDS[name]
    former = _FORMER if face is sym else {}

    def compute(lhs: Any, rhs: Any) -> Any:
        if isinstance(lhs, tensor):
            if isinstance(rhs, tensor):
                return getattr(face, joined)(lhs, rhs)
            return getattr(face, former.get(kinds.scalar, kinds.scalar))(lhs, scalar=_real(name, rhs))
        if isinstance(rhs, tensor):
            return getattr(face, former.get(kinds.reverse, kinds.reverse))(rhs, scalar=_real(name, lhs))
        return kinds.plain(_real(name, lhs), _real(name, rhs))

    # MXNet calls the operands differently here and there, and programs may name them.
    source = f"lambda {words[0]}, {words[1]}: compute({words[0]}, {words[1]})"
    function: Callable[[Any, Any], Any] = eval(source, {"compute": compute})  # noqa: S307 - made of two words
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{kinds.arrays}` of arrays or symbols, either of which may be a number."
    return function


def _real(name: str, value: Any) -> Any:
    if not isinstance(value, (int, float)) and not hasattr(value, "__float__"):
        raise ArgumentError(f"{name}: got {value!r}, expected a tensor or a number")
    return value


def _nd(name: str) -> Callable[[Any, Any], Any]:
    words = ("base", "exp") if name == "power" else ("lhs", "rhs")
    return _function(name, nd, nd.NDArray, _KINDS[name].arrays, words)


def _sym(name: str) -> Callable[[Any, Any], Any]:
    words = ("base", "exp") if name == "power" else ("left", "right")
    return _function(name, sym, sym.Symbol, _KINDS[name].symbols, words)


add, subtract, multiply, divide = map(_nd, ("add", "subtract", "multiply", "divide"))
modulo, power, maximum, minimum = map(_nd, ("modulo", "power", "maximum", "minimum"))
equal, not_equal, greater, greater_equal = map(_nd, ("equal", "not_equal", "greater", "greater_equal"))
lesser, lesser_equal = map(_nd, ("lesser", "lesser_equal"))
logical_and, logical_or, logical_xor = map(_nd, ("logical_and", "logical_or", "logical_xor"))
true_divide = _nd("true_divide")
sym_maximum, sym_minimum, sym_hypot, sym_pow = map(_sym, ("maximum", "minimum", "hypot", "power"))

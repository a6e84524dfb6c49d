"""Numbers of 160 digits, in arrays of which functions written for NumPy's are called.

NumPy calls the method of an element's class that has a ufunc's name. So a reference of a contract, which is a
function of arrays, computes in mpmath what it computes otherwise in double precision. A function that casts
to a type of NumPy's is noticed, and its result is no exact one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, final

import mpmath as mp
import numpy as np

DIGITS: Final = 160
_CONTEXT: Final = mp.mp.clone() if hasattr(mp.mp, "clone") else mp.mp
_CONTEXT.dps = DIGITS


@final
class Number:
    """A number of `DIGITS` digits.

    Attributes:
        casts: How many numbers were made floats so far: what is computed of those is not exact.
    """

    __slots__ = ("value",)
    casts = 0

    def __init__(self, value: Any) -> None:
        self.value = _CONTEXT.mpf(value)

    def __float__(self) -> float:
        Number.casts += 1
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"Number({self.value})"

    def conjugate(self) -> Number:
        """Itself."""
        return self

    def square(self) -> Number:
        """Its square."""
        return Number(self.value * self.value)

    def hypot(self, other: Any) -> Number:
        """As NumPy's."""
        return Number(_CONTEXT.hypot(self.value, _value(other)))

    def arctan2(self, other: Any) -> Number:
        """As NumPy's."""
        return Number(_CONTEXT.atan2(self.value, _value(other)))

    def rint(self) -> Number:
        """As NumPy's, ties to even."""
        return Number(_CONTEXT.nint(self.value))


def _value(other: Any) -> Any:
    return other.value if isinstance(other, Number) else _CONTEXT.mpf(_plain(other))


def _plain(other: Any) -> Any:
    return other.item() if isinstance(other, np.generic) else other


def _of_two(function: Callable[[Any, Any], Any], *, swapped: bool = False) -> Any:
    def method(self: Number, other: Any) -> Any:
        if not isinstance(other, (Number, int, float, np.generic)):
            return NotImplemented
        a, b = self.value, _value(other)
        with np.errstate(all="ignore"):
            return _as_number(function, *((b, a) if swapped else (a, b)))

    return method


def _as_number(function: Callable[..., Any], *args: Any) -> Any:
    try:
        found = function(*args)
    except ZeroDivisionError:
        is_pole = len(args) == 2 and args[0] != 0
        return Number(_CONTEXT.inf * _CONTEXT.sign(args[0]) if is_pole else "nan")
    except ValueError:
        return Number("nan")
    if isinstance(found, bool):
        return found
    return Number("nan" if isinstance(found, _CONTEXT.mpc) else found)  # a root of a number below zero


def _of_one(function: Callable[[Any], Any]) -> Any:
    return lambda self: _as_number(function, self.value)


_OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "truediv": lambda a, b: a / b, "pow": lambda a, b: a**b,
    "mod": lambda a, b: a - b * _CONTEXT.floor(a / b), "floordiv": lambda a, b: _CONTEXT.floor(a / b),
}  # fmt: skip
_COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "lt": lambda a, b: bool(a < b), "le": lambda a, b: bool(a <= b), "gt": lambda a, b: bool(a > b),
    "ge": lambda a, b: bool(a >= b), "eq": lambda a, b: bool(a == b), "ne": lambda a, b: bool(a != b),
}  # fmt: skip
_FUNCTIONS: Final[dict[str, Callable[[Any], Any]]] = {
    **{name: getattr(_CONTEXT, name) for name in
       ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "expm1", "log1p", "log10",
        "cbrt", "floor", "ceil", "degrees", "radians")},
    **{f"arc{name}": getattr(_CONTEXT, f"a{name}") for name in
       ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "log2": lambda x: _CONTEXT.log(x, 2), "exp2": lambda x: _CONTEXT.mpf(2) ** x,
    "reciprocal": lambda x: 1 / x, "fabs": abs, "sign": _CONTEXT.sign, "__abs__": abs,
    "trunc": lambda x: _CONTEXT.sign(x) * _CONTEXT.floor(abs(x)), "__neg__": lambda x: -x,
    "__pos__": lambda x: x, "deg2rad": _CONTEXT.radians, "rad2deg": _CONTEXT.degrees,
}  # fmt: skip
for _name, _function in _OPERATORS.items():
    setattr(Number, f"__{_name}__", _of_two(_function))
    setattr(Number, f"__r{_name}__", _of_two(_function, swapped=True))
for _name, _comparison in _COMPARISONS.items():
    setattr(Number, f"__{_name}__", _of_two(_comparison))
for _name, _one in _FUNCTIONS.items():
    setattr(Number, _name, _of_one(_one))


def exact(array: Any) -> Any:
    """An array of floats as one of numbers; any other as it is."""
    if array.dtype.kind != "f":
        return array
    found = np.empty(array.shape, object)
    found.reshape(-1)[:] = [Number(one) for one in array.reshape(-1).tolist()]
    return found


def is_exact(found: Any) -> bool:
    """Return whether a function gave numbers, or whole ones, for each element."""
    array = np.asarray(found)
    return array.dtype == object and all(isinstance(one, (Number, int, float)) for one in array.flat)


def split(array: Any) -> tuple[Any, Any]:
    """Numbers as float64, and what is left of each."""
    flat = [_value(one) for one in np.asarray(array, object).reshape(-1)]
    high = [float(one) for one in flat]
    low = [float(one - part) if math.isfinite(part) else 0.0 for one, part in zip(flat, high, strict=True)]
    return np.array(high).reshape(np.shape(array)), np.array(low).reshape(np.shape(array))

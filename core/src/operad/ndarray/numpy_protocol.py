"""NumPy's functions on arrays: `np.tanh(x)` is the operator, not a loop over elements.

NumPy hands a call that names an NDArray to `__array_ufunc__` or `__array_function__`. What an operator
computes as NumPy does goes to that operator, is recorded and stays asynchronous. What only looks at values
(`np.allclose`) works on copies. The rest is refused: NumPy would make a NumPy array, and a gradient would
silently be lost. `rint`, `round`, `sign` and `argmax` are refused too: the operators of these names round
halves another way, have a sign of NaN, and count in floats.

Ufuncs are here. Functions are what plugins add under the names of NumPy's, `numpy.concatenate`: operad-numpy.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from operad import registry
from operad.errors import ArgumentError, DTypeError
from operad.imperative import Array
from operad.ndarray.arithmetic import binary, converted, invoke
from operad.registry.packages import packages

if TYPE_CHECKING:
    from operad.ndarray.ndarray import NDArray

_OPERATORS: Final[dict[Any, Callable[..., Any]]] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul, np.divide: operator.truediv,
    np.floor_divide: operator.floordiv, np.remainder: operator.mod, np.power: operator.pow,
    np.matmul: operator.matmul, np.negative: operator.neg, np.absolute: operator.abs,
    np.equal: operator.eq, np.not_equal: operator.ne, np.greater: operator.gt,
    np.greater_equal: operator.ge, np.less: operator.lt, np.less_equal: operator.le,
    np.bitwise_and: operator.and_, np.bitwise_or: operator.or_, np.bitwise_xor: operator.xor,
    np.invert: operator.invert,
}  # fmt: skip
"""Ufuncs that are Python's operators."""

_SAME_NAME: Final = (
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "ceil", "cos", "cosh", "degrees",
    "exp", "expm1", "floor", "log", "log10", "log1p", "log2", "logical_not", "radians", "reciprocal",
    "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
)  # fmt: skip
_UNARY: Final = {
    **{getattr(np, name): name for name in _SAME_NAME},
    np.fabs: "abs", np.deg2rad: "radians", np.rad2deg: "degrees",
}  # fmt: skip
"""Ufuncs of one argument, and their operators."""

_CHECKS: Final[dict[Any, Callable[..., Any]]] = {
    np.isnan: lambda x: x != x,  # noqa: PLR0124 - what differs from itself is no number
    np.isinf: lambda x: abs(x) == math.inf,
    np.isfinite: lambda x: abs(x) < math.inf,
}
"""Ufuncs that are comparisons, which give 0s and 1s here."""

_SYMMETRIC: Final = {
    getattr(np, name): binary(f"_{name}", f"broadcast_{name}", f"_{name}_scalar")
    for name in ("hypot", "logical_and", "logical_or", "logical_xor", "maximum", "minimum")
}
"""Ufuncs of two arguments whose order does not matter."""


def array_ufunc(array: NDArray, ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: Any) -> Any:
    """What `ufunc` gives of `inputs`, one of which is `array`.

    Raises:
        ArgumentError: No operator computes it; a TypeError, too.
        DTypeError: An operator of integers would cut off what NumPy's floats keep.
    """
    what = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    if method != "__call__" or options:
        raise _refused(what + "".join(f" with {key}=" for key in options))
    values = [_operand(array, value) for value in inputs]
    if ufunc in _OPERATORS or ufunc in _CHECKS:
        return (_OPERATORS.get(ufunc) or _CHECKS[ufunc])(*values)
    if ufunc not in _SYMMETRIC and ufunc not in _UNARY:
        raise _refused(what)
    _check_rounding(what, ufunc, array)
    if ufunc in _UNARY:
        return invoke(_UNARY[ufunc], (array,))
    values.sort(key=lambda value: not isinstance(value, Array))
    return _SYMMETRIC[ufunc](*values)


def _check_rounding(what: str, ufunc: np.ufunc, array: NDArray) -> None:
    """Raise DTypeError where NumPy gives floats of integers, and the operator integers."""
    if array.dtype.kind == "f":
        return
    if ufunc.resolve_dtypes((*[array.dtype] * ufunc.nin, None))[-1].kind == "f":
        raise DTypeError(
            f"numpy.{what} of an array of {array.dtype.name}: the operator gives {array.dtype.name}, "
            "and NumPy floats; use x.astype('float32') first"
        )


def _operand(array: NDArray, value: Any) -> Any:
    """An operand as Python's operators of `array` take it, and not NumPy's again."""
    if isinstance(value, np.generic):
        return value.item()
    return converted(array, value) if isinstance(value, (np.ndarray, list, tuple)) else value


def array_function(array: NDArray, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """What a function of NumPy gives, one of whose arguments is `array`; by the entry point of its name.

    Raises:
        ArgumentError: No operator computes it, or not with these arguments; a TypeError, too.
    """
    if function in _ON_COPIES:
        return function(*map(_copied, args), **{name: _copied(value) for name, value in named.items()})
    name = f"{function.__module__}.{function.__name__}".removeprefix("numpy.")
    found: Any = registry.on_face("numpy", name)
    if found is None:
        known = packages("operad.faces").get(f"numpy.{name}")
        raise _refused(name, f"{known.install_line()}, or " if known else "")
    try:
        signature(found).bind(*args, **named)
    except TypeError as error:
        raise _refused(f"{name} with these arguments") from error
    return found(*args, **named)


def _refused(what: str, remedy: str = "") -> ArgumentError:
    """The error for what no operator computes as NumPy does.

    Args:
        what: The function, and what is special about the call.
        remedy: What would help first; the operator of the same name if there is none.
    """
    name = what.split(maxsplit=1)[0]
    if not remedy and registry.find(name) is not None:
        remedy = f"use the operator nd.{name}, or "
    return ArgumentError(
        f"numpy.{what} of an NDArray: no operator computes what NumPy gives; {remedy}"
        "give it a NumPy copy, x.asnumpy()"
    )


def _copied(value: Any) -> Any:
    return value.asnumpy() if isinstance(value, Array) else value  # type: ignore[attr-defined]


_ON_COPIES: Final = frozenset({
    np.allclose, np.array2string, np.array_equal, np.array_repr, np.array_str, np.isclose, np.ndim, np.save,
    np.savetxt, np.shape, np.size,
})  # fmt: skip
"""Functions that only look at values."""

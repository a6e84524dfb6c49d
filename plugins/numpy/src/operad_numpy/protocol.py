"""NumPy's functions on arrays: `np.tanh(x)` is the operator, not a loop over elements.

NumPy hands a call that names an NDArray to `__array_ufunc__` or `__array_function__`, and those to the
functions here. What an operator computes as NumPy does goes to that operator, is recorded and stays
asynchronous. What only looks at values (`np.allclose`) works on copies. The rest is refused: NumPy would make
a NumPy array, and a gradient would silently be lost. `rint` and `sign` are refused too: the operators of
these names round halves another way, and have a sign of NaN. `argmax`, `argmin` and `round` are the operators
all the same, as in MXNet, where NumPy calls the array's methods: they count in floats, and round halves away
from 0.

Ufuncs are here, but for Python's operators, which are the core's. Functions are what plugins add under the
names of NumPy's, `numpy.concatenate`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any, Final

import numpy as np

from operad import NDArray, nd
from operad.errors import ArgumentError, DTypeError, OperatorNotFoundError
from operad.front import added
from operad_numpy.operators import alike

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

_EXPRESSIONS: Final[dict[Any, Callable[..., Any]]] = {
    np.negative: operator.neg,
    np.absolute: operator.abs,
    np.invert: operator.invert,
}
"""Ufuncs of one argument that are an expression in Python."""

_SYMMETRIC: Final = {
    getattr(np, name): nd.binary(f"_{name}", f"broadcast_{name}", f"_{name}_scalar")
    for name in ("hypot", "logical_and", "logical_or", "logical_xor", "maximum", "minimum")
}
"""Ufuncs of two arguments whose order does not matter."""

_AS_NUMPY: Final = {
    getattr(np, name): name
    for name in (
        "arctan2", "bitwise_and", "bitwise_or", "bitwise_xor", "copysign", "exp2", "fmod", "isfinite",
        "isinf", "isnan", "left_shift", "logaddexp", "matmul", "right_shift",
    )
}  # fmt: skip
"""Ufuncs whose operator has NumPy's result types."""


def array_ufunc(array: NDArray, ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: Any) -> Any:
    """Apply `ufunc` to `inputs`, one of which is `array`, and none another array or scalar of NumPy's.

    Raises:
        ArgumentError: No operator computes it; a TypeError, too.
        DTypeError: An operator of integers would cut off what NumPy's floats keep.
    """
    what = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    if method != "__call__" or options:
        raise _refused(what + "".join(f" with {key}=" for key in options))
    if ufunc in _EXPRESSIONS:
        return _EXPRESSIONS[ufunc](array)
    if ufunc in _AS_NUMPY:
        return nd.invoke(_AS_NUMPY[ufunc], alike(inputs))
    if ufunc not in _SYMMETRIC and ufunc not in _UNARY:
        raise _refused(what)
    _check_rounding(what, ufunc, array)
    if ufunc in _UNARY:
        return nd.invoke(_UNARY[ufunc], (array,))
    return _SYMMETRIC[ufunc](*sorted(inputs, key=lambda value: not isinstance(value, NDArray)))


def _check_rounding(what: str, ufunc: np.ufunc, array: NDArray) -> None:
    """Raise DTypeError where NumPy gives floats of integers, and the operator integers."""
    if array.dtype.kind == "f":
        return
    if ufunc.resolve_dtypes((*[np.dtype(array.dtype)] * ufunc.nin, None))[-1].kind == "f":
        raise DTypeError(
            f"numpy.{what} of an array of {array.dtype.name}: the operator gives {array.dtype.name}, "
            "and NumPy floats; use x.astype('float32') first"
        )


def array_function(array: NDArray, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """Call operad's function of the same name as NumPy's `function`; one of the arguments is `array`.

    Raises:
        ArgumentError: No operator computes it, or not with these arguments; a TypeError, too.
    """
    if function in _ON_COPIES:
        return function(*map(_copied, args), **{name: _copied(value) for name, value in named.items()})
    name = f"{function.__module__}.{function.__name__}".removeprefix("numpy.")
    try:
        found = added("numpy", name)
    except AttributeError as error:
        raise _refused(name) from error
    try:
        signature(found).bind(*args, **named)
    except TypeError as error:
        raise _refused(f"{name} with these arguments") from error
    return found(*args, **named)


def _refused(what: str) -> ArgumentError:
    """The error for what no operator computes as NumPy does.

    Args:
        what: The function, and what is special about the call.
    """
    name = what.split(maxsplit=1)[0]
    try:
        nd.operator_function(name, NDArray)
    except OperatorNotFoundError:
        remedy = ""
    else:
        remedy = f"use the operator nd.{name}, or "
    return ArgumentError(
        f"numpy.{what} of an NDArray: no operator computes what NumPy gives; {remedy}"
        "give it a NumPy copy, x.asnumpy()"
    )


def _copied(value: Any) -> Any:
    return value.asnumpy() if isinstance(value, NDArray) else value


_ON_COPIES: Final = frozenset({
    np.allclose, np.array2string, np.array_equal, np.array_repr, np.array_str, np.isclose, np.ndim, np.save,
    np.savetxt, np.shape, np.size,
})  # fmt: skip
"""Functions that only look at values."""

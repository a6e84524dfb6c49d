"""NumPy's functions on arrays: `np.float32(2) * x`, `np.tanh(x)`.

NumPy hands a call that names an NDArray to `__array_ufunc__` or `__array_function__`. Here are the ufuncs by
which NumPy's values compute Python's operators. The others, and functions, are in operad-numpy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from operad import registry
from operad.errors import ArgumentError, OperatorNotFoundError
from operad.ndarray.arithmetic import converted

if TYPE_CHECKING:
    from operad.ndarray.ndarray import NDArray

OPERATORS: Final[dict[Any, Callable[[Any, Any], Any]]] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul, np.divide: operator.truediv,
    np.floor_divide: operator.floordiv, np.remainder: operator.mod, np.power: operator.pow,
    np.matmul: operator.matmul, np.equal: operator.eq, np.not_equal: operator.ne, np.greater: operator.gt,
    np.greater_equal: operator.ge, np.less: operator.lt, np.less_equal: operator.le,
    np.bitwise_and: operator.and_, np.bitwise_or: operator.or_, np.bitwise_xor: operator.xor,
}  # fmt: skip
"""Ufuncs of two arguments that are Python's operators."""


def array_ufunc(array: NDArray, ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: Any) -> Any:
    """Result of `ufunc` of `inputs`, one of which is `array`.

    Raises:
        ArgumentError: Neither Python's operators nor a plugin compute it; a TypeError, too.
    """
    values = [_operand(array, value) for value in inputs]
    if ufunc in OPERATORS and method == "__call__" and not options:
        return OPERATORS[ufunc](*values)
    return _added("__array_ufunc__", ufunc)(array, ufunc, method, values, options)


def array_function(array: NDArray, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """Result of a function of NumPy, one of whose arguments is `array`.

    Raises:
        ArgumentError: No plugin computes it; a TypeError, too.
    """
    return _added("__array_function__", function)(array, function, args, named)


def _operand(array: NDArray, value: Any) -> Any:
    """An operand as Python's operators of `array` take it, and not NumPy's again."""
    if isinstance(value, np.generic):
        return value.item()
    return converted(array, value) if isinstance(value, (np.ndarray, list, tuple)) else value


def _added(method: str, function: Any) -> Any:
    """The plugin's part of a special method, by which NumPy asks for `function`."""
    try:
        return registry.entry("operad.attributes", f"NDArray.{method}")
    except OperatorNotFoundError as error:
        raise ArgumentError(
            f"numpy.{function.__name__} of an NDArray: {error}, or give it a NumPy copy, x.asnumpy()"
        ) from error

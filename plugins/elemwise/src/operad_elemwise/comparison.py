"""Comparisons and logic of two arrays, or of an array and a number.

The result has the element type of the arrays: 1 where it holds and 0 where it does not, as in
MXNet 1.x. Nothing here has a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from operad_elemwise.documentation import binary_doc, unary_doc
from operad_sdk import Contract, Scalar, SimpleFunction, from_ufunc

# What the contract checks compare with: each condition by subtraction and multiplication.
_HOLDS: Final[Mapping[np.ufunc, Callable[[Any, Any], Any]]] = {
    np.equal: lambda left, right: np.sign(left - right) == 0,
    np.not_equal: lambda left, right: np.sign(left - right) ** 2,
    np.greater: lambda left, right: np.sign(left - right) == 1,
    np.greater_equal: lambda left, right: np.sign(left - right) != -1,
    np.less: lambda left, right: np.sign(left - right) == -1,
    np.less_equal: lambda left, right: np.sign(left - right) != 1,
    np.logical_and: lambda left, right: np.sign(left * right) ** 2,
    np.logical_or: lambda left, right: np.sign(left**2 + right**2),
    np.logical_xor: lambda left, right: np.abs(np.sign(left) ** 2 - np.sign(right) ** 2),
}


def _of_arrays(ufunc: np.ufunc, name: str, condition: str, output: str) -> SimpleFunction:
    doc = binary_doc(name, f"1 where {condition}, else 0.", "[0, 1, 2]", "[0, 2, 1]", output)
    return from_ufunc(ufunc, name=name, doc=doc, contract=Contract(reference=_HOLDS[ufunc]))


def _with_scalar(ufunc: np.ufunc, name: str, condition: str, output: str) -> SimpleFunction:
    doc = unary_doc(name, f"1 where {condition}, else 0.", "[0, 1, 2]", output, "scalar=1")
    number = Scalar(default=1.0, doc="The number; cast to the array's element type.")
    contract = Contract(reference=lambda data, scalar: _HOLDS[ufunc](data, scalar))  # noqa: PLW0108 - the name says what is passed
    return from_ufunc(ufunc, name=name, scalar=number, doc=doc, contract=contract)


equal = _of_arrays(np.equal, "_equal", "the elements are equal", "[1., 0., 0.]")
not_equal = _of_arrays(np.not_equal, "_not_equal", "the elements differ", "[0., 1., 1.]")
greater = _of_arrays(np.greater, "_greater", "the left element is larger", "[0., 0., 1.]")
greater_equal = _of_arrays(
    np.greater_equal, "_greater_equal", "the left element is not smaller", "[1., 0., 1.]"
)
lesser = _of_arrays(np.less, "_lesser", "the left element is smaller", "[0., 1., 0.]")
lesser_equal = _of_arrays(np.less_equal, "_lesser_equal", "the left element is not larger", "[1., 1., 0.]")
logical_and = _of_arrays(np.logical_and, "_logical_and", "neither element is 0", "[0., 1., 1.]")
logical_or = _of_arrays(np.logical_or, "_logical_or", "an element is not 0", "[0., 1., 1.]")
logical_xor = _of_arrays(np.logical_xor, "_logical_xor", "exactly one element is not 0", "[0., 0., 0.]")

equal_scalar = _with_scalar(np.equal, "_equal_scalar", "the element equals the number", "[0., 1., 0.]")
not_equal_scalar = _with_scalar(
    np.not_equal, "_not_equal_scalar", "the element differs from the number", "[1., 0., 1.]"
)
greater_scalar = _with_scalar(
    np.greater, "_greater_scalar", "the element is larger than the number", "[0., 0., 1.]"
)
greater_equal_scalar = _with_scalar(
    np.greater_equal, "_greater_equal_scalar", "the element is not smaller than the number", "[0., 1., 1.]"
)
lesser_scalar = _with_scalar(
    np.less, "_lesser_scalar", "the element is smaller than the number", "[1., 0., 0.]"
)
lesser_equal_scalar = _with_scalar(
    np.less_equal, "_lesser_equal_scalar", "the element is not larger than the number", "[1., 1., 0.]"
)
logical_and_scalar = _with_scalar(
    np.logical_and, "_logical_and_scalar", "neither the element nor the number is 0", "[0., 1., 1.]"
)
logical_or_scalar = _with_scalar(
    np.logical_or, "_logical_or_scalar", "the element or the number is not 0", "[1., 1., 1.]"
)
logical_xor_scalar = _with_scalar(
    np.logical_xor, "_logical_xor_scalar", "exactly one of element and number is not 0", "[1., 0., 0.]"
)

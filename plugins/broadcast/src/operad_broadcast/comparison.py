"""Comparisons and logic of two arrays that broadcast.

The result has the element type of the arrays: 1 where it holds and 0 where it does not, as in
MXNet 1.x. Nothing here has a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from operad_broadcast.documentation import doc
from operad_broadcast.shapes import shape_for
from operad_sdk import Contract, SimpleFunction, from_ufunc

# What the contract checks compare with: each condition by subtraction and multiplication.
_HOLDS: Final[Mapping[np.ufunc, Callable[[Any, Any], Any]]] = {
    np.equal: lambda lhs, rhs: np.sign(lhs - rhs) == 0,
    np.not_equal: lambda lhs, rhs: np.sign(lhs - rhs) ** 2,
    np.greater: lambda lhs, rhs: np.sign(lhs - rhs) == 1,
    np.greater_equal: lambda lhs, rhs: np.sign(lhs - rhs) != -1,
    np.less: lambda lhs, rhs: np.sign(lhs - rhs) == -1,
    np.less_equal: lambda lhs, rhs: np.sign(lhs - rhs) != 1,
    np.logical_and: lambda lhs, rhs: np.sign(lhs * rhs) ** 2,
    np.logical_or: lambda lhs, rhs: np.sign(lhs**2 + rhs**2),
    np.logical_xor: lambda lhs, rhs: np.abs(np.sign(lhs) ** 2 - np.sign(rhs) ** 2),
}


def _condition(ufunc: np.ufunc, name: str, condition: str, output: str) -> SimpleFunction:
    text = doc(name, f"1 where {condition}, else 0.", "[0, 2]", output)
    made = from_ufunc(ufunc, name=name, doc=text, contract=Contract(reference=_HOLDS[ufunc]))
    made.shape(shape_for(name))
    return made


broadcast_equal = _condition(
    np.equal, "broadcast_equal", "the elements are equal", "[[0., 0.],\n           [0., 1.]]"
)
broadcast_not_equal = _condition(
    np.not_equal, "broadcast_not_equal", "the elements differ", "[[1., 1.],\n           [1., 0.]]"
)
broadcast_greater = _condition(
    np.greater, "broadcast_greater", "the left element is larger", "[[1., 0.],\n           [1., 0.]]"
)
broadcast_greater_equal = _condition(
    np.greater_equal,
    "broadcast_greater_equal",
    "the left element is not smaller",
    "[[1., 0.],\n           [1., 1.]]",
)
broadcast_lesser = _condition(
    np.less, "broadcast_lesser", "the left element is smaller", "[[0., 1.],\n           [0., 0.]]"
)
broadcast_lesser_equal = _condition(
    np.less_equal,
    "broadcast_lesser_equal",
    "the left element is not larger",
    "[[0., 1.],\n           [0., 1.]]",
)
broadcast_logical_and = _condition(
    np.logical_and, "broadcast_logical_and", "neither element is 0", "[[0., 1.],\n           [0., 1.]]"
)
broadcast_logical_or = _condition(
    np.logical_or, "broadcast_logical_or", "an element is not 0", "[[1., 1.],\n           [1., 1.]]"
)
broadcast_logical_xor = _condition(
    np.logical_xor,
    "broadcast_logical_xor",
    "exactly one element is not 0",
    "[[1., 0.],\n           [1., 0.]]",
)

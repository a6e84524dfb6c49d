"""Comparisons and logic of two arrays that broadcast.

The result has the element type of the arrays: 1 where it holds and 0 where it does not, as in
MXNet 1.x. Nothing here has a gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from operad_sdk import BROADCAST, OperatorProperty, define


def _condition(
    name: str, ufunc: np.ufunc, sign: str, output: str, holds: Callable[[Any, Any], Any]
) -> type[OperatorProperty]:
    """The condition `lhs sign rhs`.

    Args:
        output: What it gives for the column 1, 2 and the row 0, 2.
        holds: The same by subtraction and multiplication, for the contract checks.
    """
    return define(
        f"broadcast_{name}", BROADCAST, ufunc, summary=f"1 where `lhs {sign} rhs`, else 0.",
        example=("[[1], [2]]", "[0, 2]", output), inplace="lhs, rhs", reference=holds,
    )  # fmt: skip


broadcast_equal = _condition(
    "equal", np.equal, "==", "[[0., 0.],\n       [0., 1.]]", lambda a, b: np.sign(a - b) == 0
)
broadcast_not_equal = _condition(
    "not_equal", np.not_equal, "!=", "[[1., 1.],\n       [1., 0.]]", lambda a, b: np.sign(a - b) ** 2
)
broadcast_greater = _condition(
    "greater", np.greater, ">", "[[1., 0.],\n       [1., 0.]]", lambda a, b: np.sign(a - b) == 1
)
broadcast_greater_equal = _condition(
    "greater_equal", np.greater_equal, ">=", "[[1., 0.],\n       [1., 1.]]", lambda a, b: np.sign(a - b) != -1
)
broadcast_lesser = _condition(
    "lesser", np.less, "<", "[[0., 1.],\n       [0., 0.]]", lambda a, b: np.sign(a - b) == -1
)
broadcast_lesser_equal = _condition(
    "lesser_equal", np.less_equal, "<=", "[[0., 1.],\n       [0., 1.]]", lambda a, b: np.sign(a - b) != 1
)
broadcast_logical_and = _condition(
    "logical_and", np.logical_and, "and", "[[0., 1.],\n       [0., 1.]]", lambda a, b: np.sign(a * b) ** 2
)
broadcast_logical_or = _condition(
    "logical_or", np.logical_or, "or", "[[1., 1.],\n       [1., 1.]]", lambda a, b: np.sign(a**2 + b**2)
)
broadcast_logical_xor = _condition(
    "logical_xor", np.logical_xor, "xor", "[[1., 0.],\n       [1., 0.]]",
    lambda a, b: np.abs(np.sign(a) ** 2 - np.sign(b) ** 2),
)  # fmt: skip

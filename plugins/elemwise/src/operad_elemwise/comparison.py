"""Comparisons and logic of two arrays, or of an array and a number.

The result has the element type of the arrays: 1 where it holds and 0 where it does not, as in
MXNet 1.x. Nothing here has a gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from operad_elemwise.families import NUMBER, TYPES_BESIDE_NUMBERS, Declared, promote_scalar
from operad_sdk import BINARY, UNARY, Contract, define


def _conditions(
    name: str, ufunc: np.ufunc, sign: str, of_arrays: str, with_one: str, holds: Callable[[Any, Any], Any]
) -> tuple[Declared, Declared]:
    """The condition of two arrays, and of an array and a number.

    Args:
        sign: What stands between the operands.
        of_arrays: What it gives for `[0, 1, 2]` and `[0, 2, 1]`.
        with_one: What it gives for `[0, 1, 2]` and 1.
        holds: The same by subtraction and multiplication, for the contract checks.
    """
    two = define(
        f"_{name}", BINARY, ufunc, summary=f"1 where `lhs {sign} rhs`, else 0.",
        example=("[0, 1, 2]", "[0, 2, 1]", of_arrays), inplace="lhs, rhs", reference=holds,
    )  # fmt: skip
    one = define(
        f"_{name}_scalar", UNARY, ufunc, summary=f"1 where `data {sign} scalar`, else 0.",
        example=("[0, 1, 2]", "scalar=1", with_one), inplace="data", params=NUMBER, promote=promote_scalar,
        scalar_beyond="keep",
        contract=Contract(
            reference=lambda data, scalar: holds(data, scalar), result_types=TYPES_BESIDE_NUMBERS
        ),
    )  # fmt: skip
    return two, one


equal, equal_scalar = _conditions(
    "equal", np.equal, "==", "[1., 0., 0.]", "[0., 1., 0.]", lambda a, b: np.sign(a - b) == 0
)
not_equal, not_equal_scalar = _conditions(
    "not_equal", np.not_equal, "!=", "[0., 1., 1.]", "[1., 0., 1.]", lambda a, b: np.sign(a - b) ** 2
)
greater, greater_scalar = _conditions(
    "greater", np.greater, ">", "[0., 0., 1.]", "[0., 0., 1.]", lambda a, b: np.sign(a - b) == 1
)
greater_equal, greater_equal_scalar = _conditions(
    "greater_equal", np.greater_equal, ">=", "[1., 0., 1.]", "[0., 1., 1.]", lambda a, b: np.sign(a - b) != -1
)
lesser, lesser_scalar = _conditions(
    "lesser", np.less, "<", "[0., 1., 0.]", "[1., 0., 0.]", lambda a, b: np.sign(a - b) == -1
)
lesser_equal, lesser_equal_scalar = _conditions(
    "lesser_equal", np.less_equal, "<=", "[1., 1., 0.]", "[1., 1., 0.]", lambda a, b: np.sign(a - b) != 1
)
logical_and, logical_and_scalar = _conditions(
    "logical_and", np.logical_and, "and", "[0., 1., 1.]", "[0., 1., 1.]", lambda a, b: np.sign(a * b) ** 2
)
logical_or, logical_or_scalar = _conditions(
    "logical_or", np.logical_or, "or", "[0., 1., 1.]", "[1., 1., 1.]", lambda a, b: np.sign(a**2 + b**2)
)
logical_xor, logical_xor_scalar = _conditions(
    "logical_xor", np.logical_xor, "xor", "[0., 0., 0.]", "[1., 0., 0.]",
    lambda a, b: np.abs(np.sign(a) ** 2 - np.sign(b) ** 2),
)  # fmt: skip

"""Quotients and remainders, of integers too, and gradients of powers and lengths.

Operators of two arrays, of an array and a number, and of arrays that are repeated compute these alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def divide_integers(lhs: Any, rhs: Any, output: Any) -> None:
    """The quotient rounded towards zero, as C divides; 0 where the divisor is 0."""
    with np.errstate(all="ignore"):
        np.floor_divide(lhs - np.fmod(lhs, rhs), rhs, output)  # the remainder has the sign of `lhs`


def remainder(lhs: Any, rhs: Any, output: Any) -> None:
    """The remainder with the sign of the divisor; 0 where the divisor is 0."""
    is_zero = np.equal(rhs, 0)
    with np.errstate(all="ignore"):
        np.remainder(lhs, rhs, output)
    np.copyto(output, 0, where=is_zero)


def slope_of_base(output_grad: Any, lhs: Any, rhs: Any) -> Any:
    """`b a^(b - 1)`, and 0 at 0^0; for a small exponent and base `(b / a) a^b`, as `a^(b - 1)` may overflow.

    A guard wherever `b` is 0 would hide that the slope of this along `b` is `1 / a` there.
    """
    # mutant: equivalent, because both formulas hold on either side of the limits
    is_small = np.logical_and(np.abs(rhs) < 2**-10, np.logical_and(lhs != 0, np.abs(lhs) < 1))
    is_flat = np.logical_and(lhs == 0, rhs == 0)
    exponent = np.where(np.logical_or(is_small, is_flat), rhs, rhs - 1)
    return output_grad * (rhs / np.where(is_small, lhs, 1) * np.power(lhs, exponent))


def slope_of_exponent(output_grad: Any, lhs: Any, output: Any) -> Any:
    """`a^b ln(a)`, 0 where `a` is."""
    # mutant: 1 becomes 2: equivalent, because of 0^0 alone, which has no derivative
    return output_grad * (np.where(lhs == 0, 0, output) * np.log(np.where(lhs == 0, 1, lhs)))


def slope_of_angle(output_grad: Any, side: Any, other: Any) -> Any:
    """`side / (side^2 + other^2)` without overflow; 0 at the origin, where angles have no slope."""
    length = np.hypot(side, other)
    length = np.where(length == 0, length.dtype.type(np.inf), length)
    return output_grad * (side / length / length)


def slope_of_length(output_grad: Any, data: Any, output: Any) -> Any:
    """`a / y`, and 0 where the length `y` is, which has no slope there."""
    return output_grad * (data / np.where(output == 0, output.dtype.type(np.inf), output))

"""Quotients and remainders, of integers too."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_sdk import KernelCall


def is_integer(call: KernelCall) -> bool:
    """Return whether the results are integers."""
    return call.prop.promote(call.in_types[0]).kind in "iu"


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

"""What integers need beside the ufuncs of floating numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad_sdk import Array, Shape


def is_integer(prop: Any, in_shapes: Sequence[Shape], in_types: Sequence[Any]) -> bool:
    """Whether the first array is one of integers."""
    return in_types[0].kind in "iu"


def truncating_divide(lhs: Any, rhs: Any, out: Array) -> None:
    """Write the quotient rounded towards zero, as C divides, into `out`; 0 where the divisor is 0."""
    divisible = np.not_equal(rhs, 0)
    divisor = np.where(divisible, rhs, 1).astype(out.dtype, copy=False)  # 64 bits wide for a number
    remainder = np.remainder(lhs, divisor)
    inexact_and_negative = np.logical_and(remainder != 0, np.less(lhs, 0) != np.less(rhs, 0))
    np.floor_divide(lhs, divisor, out=out)
    np.add(out, inexact_and_negative, out=out, casting="unsafe")
    np.copyto(out, 0, where=~divisible)

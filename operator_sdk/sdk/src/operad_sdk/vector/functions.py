"""Functions that vector code computes itself, where a C library is called otherwise, once for each lane."""

from __future__ import annotations

from typing import Final

import numpy as np

from operad_sdk.mapper import gamma_expansions, vector_expansions
from operad_sdk.mapper.expansions import Expansion

_OF_BOTH: Final = (
    "sin", "cos", "tan", "asin", "acos", "atan", "asinh", "acosh", "atanh", "cbrt", "hypot", "fmod",
    "remainder", "floor_divide",
)  # fmt: skip


def functions_of(dtype: np.dtype[np.floating]) -> dict[str, Expansion]:
    """The expansions for an element type, by primitive."""
    found: dict[str, Expansion] = {name: getattr(vector_expansions, name) for name in _OF_BOTH}
    found["lgamma"] = gamma_expansions.lgamma
    if dtype == np.float32:
        found |= {"power": vector_expansions.power, "gamma": gamma_expansions.gamma}
    else:
        found["erf"] = vector_expansions.erf
    return found

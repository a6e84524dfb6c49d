"""Functions for authors that are mappers themselves, because a few primitives make them."""

from __future__ import annotations

from operad_sdk.mapper import mapper, special
from operad_sdk.mapper.functions import sqrt

digamma = mapper(special.digamma)


@mapper
def rsqrt(x: float) -> float:
    """One over the square root."""
    return 1 / sqrt(x)

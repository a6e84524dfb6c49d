"""Size and order of arrays for optimizers that move several weights in one operator call."""

from __future__ import annotations

from collections.abc import Sequence

from operad import NDArray
from operad.config import settings


def aggregation_size(default: int) -> int:
    """Number of weights that one call moves: as the environment says, else `default`."""
    found = settings().optimizer_aggregation_size
    return default if found is None else found


def in_turn(*groups: Sequence[NDArray]) -> list[NDArray]:
    """The first array of each group, then the second of each, as operators on several weights take them."""
    return [array for each in zip(*groups, strict=True) for array in each]

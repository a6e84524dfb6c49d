"""Size and order of arrays for optimizers that move several weights in one operator call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from operad import NDArray
from operad.config import at_least, plugin_setting

SIZE: Final = plugin_setting(
    "OPERAD_OPTIMIZER_AGGREGATION_SIZE",
    at_least(0),
    None,
    "Weights that one call of an update operator moves; 0: one; default: the optimizer's, 4 of SGD.",
)


def aggregation_size(default: int) -> int:
    """Number of weights that one call moves: as the environment says, else `default`."""
    found: int | None = SIZE.read()
    return default if found is None else found


def in_turn(*groups: Sequence[NDArray]) -> list[NDArray]:
    """The first array of each group, then the second of each, as operators on several weights take them."""
    return [array for each in zip(*groups, strict=True) for array in each]


def pays_together(weights: Sequence[NDArray], most: int = 0) -> bool:
    """Return whether one call moves weights in less time than a call for each: on devices, else by size.

    Args:
        most: Elements of a weight up to which it does on the host.
    """
    return all(weight.context.is_gpu or weight.size <= most for weight in weights)

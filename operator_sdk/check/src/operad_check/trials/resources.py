"""Stand-ins for the resources that operators request, with no engine behind them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, final

import numpy as np

from operad.errors import OutOfMemoryError
from operad.operator import Array
from operad.resource import ResourceRequest

SPACE_FILL = 0xFF
"""Byte that temp space is filled with: a NaN in every floating type."""


@final
class SeededRandom:
    """A random generator, or several, that a seed determines."""

    def __init__(self, seed: Sequence[int]) -> None:
        self._seed = list(seed)
        self.generator = np.random.default_rng(self._seed)
        self._parallel: list[np.random.Generator] = []

    def generators(self, count: int) -> list[np.random.Generator]:
        """The first `count` independent generators."""
        while len(self._parallel) < count:
            self._parallel.append(np.random.default_rng([*self._seed, 1 + len(self._parallel)]))
        return self._parallel[:count]


@final
class FilledSpace:
    """Scratch memory with chosen contents.

    Attributes:
        fill: The byte that each space is filled with when it is asked for.
    """

    def __init__(self, fill: int = SPACE_FILL) -> None:
        self.fill = fill

    def get_space(self, shape: tuple[int, ...], dtype: Any) -> Array:
        """An array full of `fill`.

        Raises:
            OutOfMemoryError: There is no memory for it, as of an engine's resource.
        """
        size = prod(shape) * np.dtype(dtype).itemsize
        try:
            memory = np.full(size, self.fill, np.uint8)
        except (MemoryError, ValueError) as error:  # NumPy raises either, by size
            raise OutOfMemoryError(f"temp space: no memory for {size:,} bytes, of shape {shape}") from error
        return memory.view(dtype).reshape(shape)


def resources_for(requests: Sequence[ResourceRequest], seed: int, fill: int = SPACE_FILL) -> tuple[Any, ...]:
    """One stand-in per request; the same seed gives the same random numbers."""
    return tuple(
        FilledSpace(fill) if request is ResourceRequest.TEMP_SPACE else SeededRandom([seed, place])
        for place, request in enumerate(requests)
    )

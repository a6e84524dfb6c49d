"""Scratch memory, cut into arrays."""

from __future__ import annotations

from math import prod
from typing import Final, final

from operad_sdk import Array


@final
class Scratch:
    """One array of scratch memory, handed out from the front.

    Args:
        memory: One axis; its element type is that of the arrays.
    """

    def __init__(self, memory: Array) -> None:
        self._memory: Final = memory
        self._used = 0

    def take(self, *shape: int) -> Array:
        """An array of undefined contents."""
        start, self._used = self._used, self._used + prod(shape)
        assert self._used <= len(self._memory), "too little scratch memory was asked for"
        return self._memory[start : self._used].reshape(shape)

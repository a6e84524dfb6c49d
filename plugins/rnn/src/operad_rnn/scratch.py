"""Scratch memory, cut into arrays; and targets whose memory is in one piece."""

from __future__ import annotations

from math import prod
from typing import Any, Final, final

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


@final
class Targets:
    """Arrays to be filled, as their matrices of all steps need them.

    There is a view of several axes as one, into which a product can be written, only where memory is
    contiguous. An array that is not gets a stand-in, which is copied at the end.
    """

    def __init__(self, xp: Any) -> None:
        self._xp: Final = xp
        self._stand_ins: Final[list[tuple[Array, Array]]] = []

    def contiguous(self, array: Array | None) -> Array | None:
        """The array, or a stand-in to be filled instead; None for None."""
        if array is None or array.flags.c_contiguous:
            return array
        stand_in = self._xp.empty(array.shape, array.dtype)
        self._stand_ins.append((array, stand_in))
        return stand_in

    def write_back(self) -> None:
        """Copy the stand-ins to the arrays."""
        for array, stand_in in self._stand_ins:
            array[...] = stand_in

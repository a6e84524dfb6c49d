"""Where the windows of a pooling lie along one axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, final

import numpy as np

from operad_sdk import Array


@final
class Tap(NamedTuple):
    """One element of every window: the outputs whose window has it inside the data, and its places."""

    outputs: slice
    places: slice
    covers_all: bool


@final
class Window(NamedTuple):
    """Windows along one axis.

    Attributes:
        size: Elements of the data.
        out: Number of windows.
        kernel: Elements of a window.
        stride: Distance of windows.
        pad: How far the first window begins before the data.
        pad_end: How far the padding reaches behind the data.
    """

    size: int
    out: int
    kernel: int
    stride: int
    pad: int
    pad_end: int

    @property
    def is_whole(self) -> bool:
        """Whether there is one window, of exactly the data."""
        return self.out == 1 and self.pad == 0 and self.kernel >= self.size

    @property
    def is_tiled(self) -> bool:
        """Whether the windows cover each element exactly once."""
        return self.pad == 0 and self.stride == self.kernel and self.out * self.kernel == self.size

    def taps(self) -> Iterator[Tap]:
        """The elements of the windows, first to last."""
        for tap in range(self.kernel):
            offset = tap - self.pad
            first = min(self.out, max(0, -(offset // self.stride)))
            last = max(first, min(self.out, (self.size - 1 - offset) // self.stride + 1))
            start = first * self.stride + offset
            places = slice(start, start + (last - first) * self.stride, self.stride)
            yield Tap(slice(first, last), places, (first, last) == (0, self.out))

    def counts(self, with_padding: bool) -> Array:
        """How many elements each window has; at least 1."""
        start = np.arange(self.out) * self.stride - self.pad
        end = start + self.kernel
        if with_padding:
            return np.maximum(np.minimum(end, self.size + self.pad_end) - start, 1)
        return np.maximum(np.minimum(end, self.size) - np.maximum(start, 0), 1)


def along(axis: int, part: slice) -> tuple[slice, ...]:
    """An index that takes `part` of `axis`."""
    return (*[slice(None)] * axis, part)

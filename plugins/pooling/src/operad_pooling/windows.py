"""The windows of one pooling along one axis.

Windows are intervals along each axis, so their border is found once per axis, by arithmetic: no
element is ever tested for lying inside the data, and no data is padded. There are two ways to visit
all windows: by their *spans* (few long windows) and by *taps* (many short ones), where a tap is one
position within the window together with all outputs for which it lies inside the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, final

Index = tuple[slice, ...]


class Tap(NamedTuple):
    """A position within the window: the outputs for which it is inside the data, and the elements there."""

    outputs: slice
    elements: slice


@final
@dataclass(frozen=True, slots=True)
class Axis:
    """Windows along one axis.

    Attributes:
        axis: Which axis of the arrays.
        size: Length of the data.
        count: Number of windows.
        kernel: Length of a window.
        stride: Distance of two windows.
        pad: Positions before the data at which the first window starts.
    """

    axis: int
    size: int
    count: int
    kernel: int
    stride: int
    pad: int

    @property
    def has_few_windows(self) -> bool:
        """Return whether it takes fewer steps to visit spans than taps."""
        return self.count < self.kernel

    @property
    def overlaps(self) -> bool:
        """Return whether an element may be in two windows."""
        return self.stride < self.kernel and self.count > 1

    @property
    def tiles(self) -> bool:
        """Return whether every element is in exactly one window, and every window has all its elements."""
        return self.stride == self.kernel and self.pad == 0 and self.count * self.kernel == self.size

    def at(self, part: slice) -> Index:
        """The index that takes `part` of this axis and all of those before and after."""
        return (*(slice(None),) * self.axis, part)


@lru_cache(maxsize=1024)
def spans(axis: Axis) -> tuple[slice, ...]:
    """The elements of each window; an empty slice where it lies outside the data."""
    starts = [window * axis.stride - axis.pad for window in range(axis.count)]
    firsts = [min(max(0, start), axis.size) for start in starts]
    lasts = [min(axis.size, start + axis.kernel) for start in starts]
    return tuple(slice(first, max(first, last)) for first, last in zip(firsts, lasts, strict=True))


@lru_cache(maxsize=1024)
def taps(axis: Axis) -> tuple[Tap, ...]:
    """Those taps that are inside the data for some output, in order."""
    found = []
    for position in range(axis.kernel):
        offset = position - axis.pad
        first = max(0, -(offset // axis.stride))
        last = min(axis.count, (axis.size - 1 - offset) // axis.stride + 1)
        if first < last:
            start, stop = (output * axis.stride + offset for output in (first, last - 1))
            found.append(Tap(slice(first, last), slice(start, stop + 1, axis.stride)))
    return tuple(found)


@lru_cache(maxsize=1024)
def lengths(axis: Axis, counts_pad: bool) -> tuple[int, ...]:
    """Number of positions of each window that count; at least 1, so that they can divide.

    Padding on the far side counts up to `pad` positions beyond the data.
    """
    if not counts_pad:
        return tuple(max(1, span.stop - span.start) for span in spans(axis))
    starts = (window * axis.stride for window in range(axis.count))
    return tuple(max(1, min(axis.kernel, axis.size + 2 * axis.pad - start)) for start in starts)

"""The windows of a convolution as columns of a matrix, each element sampled where its offset says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, final

import numpy as np

from operad_deformable.points import Corner, Place, corners, weighted
from operad_sdk import Array, Shape


class Windows(NamedTuple):
    """Places of windows before they are moved.

    Attributes:
        kernel: Height and width of a window; `stride`, `dilate` and `pad` as of a convolution.
        groups: How many groups of channels have offsets of their own.
        is_padded: Whether zeros lie around the data, between which and the edge is interpolated. Else a
            sample before the first pixel is 0, and one up to a pixel after the last has its value.
    """

    kernel: Shape
    stride: Shape
    dilate: Shape
    pad: Shape
    groups: int
    is_padded: bool

    @property
    def taps(self) -> int:
        """Elements of a window."""
        return self.kernel[0] * self.kernel[1]

    def places(self, out: Shape, dtype: Any) -> Iterator[Array]:
        """Rows, and columns, of the elements of all windows: (taps, height, width)."""
        tap = np.indices(self.kernel).reshape(2, -1)
        at = np.indices(out)
        for axis in (0, 1):
            first = at[axis] * self.stride[axis] - self.pad[axis]
            yield (tap[axis][:, None, None] * self.dilate[axis] + first).astype(dtype)


def _to_the_edge(y: Place, x: Place, shape: tuple[int, int], is_inside: Array) -> list[Corner]:
    """The corners around points, of which those behind the last pixel are moved there and do not move on."""
    is_last = [place.low >= size - 1 for place, size in zip((y, x), shape, strict=True)]
    edge_y, edge_x = (
        place._replace(beyond=np.where(last, 0, place.beyond))
        for place, last in zip((y, x), is_last, strict=True)
    )
    return [
        corner._replace(
            slope_y=np.where(is_last[0], 0, corner.slope_y), slope_x=np.where(is_last[1], 0, corner.slope_x)
        )
        for corner in corners(edge_y, edge_x, shape, is_inside)
    ]


@final
class Columns:
    """The columns of one image.

    Args:
        windows: Where they lie.
        image: (C, H, W).
        offset: (2 groups taps, height, width): y and x of each element of a window, group by group.
        mask: What each element is multiplied with, (groups taps, height, width); None: 1.
    """

    def __init__(
        self, xp: Any, windows: Windows, image: Array, offset: Array, mask: Array | None = None
    ) -> None:
        self._xp = xp
        self._groups = windows.groups
        self.out = offset.shape[1:]
        moves = offset.reshape(windows.groups, windows.taps, 2, *self.out)
        y, x = (
            Place(xp.asarray(first) + np.floor(move), move - np.floor(move))
            for first, move in zip(
                windows.places(self.out, offset.dtype), (moves[:, :, 0], moves[:, :, 1]), strict=True
            )
        )
        height, width = image.shape[1:]
        least = -1 if windows.is_padded else 0
        is_inside = (y.low >= least) & (x.low >= least) & (y.low < height) & (x.low < width)
        around = corners if windows.is_padded else _to_the_edge
        found = around(y, x, (height, width), is_inside)
        flat = (windows.groups, 1, -1)
        self._corners = [Corner(*(part.reshape(flat) for part in corner)) for corner in found]
        self._image = image.reshape(windows.groups, len(image) // windows.groups, height, width)
        self._mask = None if mask is None else mask.reshape(flat)
        self._group = xp.arange(windows.groups)[:, None, None]
        self._channel = xp.arange(self._image.shape[1])[None, :, None]

    def _pixels(self, corner: Corner) -> Array:
        """(groups, channels of a group, taps height width)."""
        return self._image[self._group, self._channel, corner.row, corner.column]

    def values(self, is_masked: bool = True) -> Array:
        """(groups, channels of a group, taps height width)."""
        found: Any = sum(weighted(self._pixels(corner), corner.weight) for corner in self._corners)
        return found if self._mask is None or not is_masked else found * self._mask

    def spread(self, grad: Array, image_grad: Array) -> None:
        """Add to the image's gradient what each pixel has in the columns."""
        target = image_grad.reshape(self._image.shape)
        sent = grad if self._mask is None else grad * self._mask
        for corner in self._corners:
            index = (self._group, self._channel, corner.row, corner.column)
            self._xp.add.at(target, index, sent * corner.weight)

    def offset_grad(self, grad: Array) -> Array:
        """The gradient of the offsets, in their shape."""
        sent = grad if self._mask is None else grad * self._mask
        sums = []
        for slope in ("slope_y", "slope_x"):
            moved: Any = sum(
                weighted(self._pixels(corner), getattr(corner, slope)) for corner in self._corners
            )
            sums.append((sent * moved).sum(axis=1).reshape(self._groups, -1, *self.out))
        return self._xp.stack(sums, axis=2).reshape(-1, *self.out)

    def mask_grad(self, grad: Array) -> Array:
        """The gradient of the mask, in its shape."""
        return (grad * self.values(is_masked=False)).sum(axis=1).reshape(-1, *self.out)

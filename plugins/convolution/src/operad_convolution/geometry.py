"""The sizes of one correlation, brought to three spatial axes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, prod
from typing import Final, NamedTuple, final

from operad_sdk import Array, Shape

Triple = tuple[int, int, int]

_COLUMNS: Final = 512
_ELEMENTS: Final = 32768
"""Columns and elements that the right side of a product should have to be worth a call of BLAS."""
_MOST_PARTS: Final = 8
_PART_OPERATIONS: Final = 50_000_000
"""Multiplications and additions that make a part worth handing to another thread."""
_BUFFER_BYTES: Final = 16 << 20
"""Size that the row buffer should not exceed, so that it stays in cache."""


class Tap(NamedTuple):
    """A kernel position along depth, and along height where rows of the buffer cannot express it."""

    depth: int
    height: int


@final
@dataclass(frozen=True, slots=True)
class Geometry:
    """A correlation of images (N, C, D, H, W) with filters (M, C / groups, *kernel).

    Attributes:
        size: The images' depth, height and width.
        out: The output's.
    """

    batch: int
    channels: int
    filters: int
    groups: int
    size: Triple
    out: Triple
    kernel: Triple
    stride: Triple
    dilate: Triple
    pad: Triple

    @classmethod
    def of(
        cls, data: Shape, out: Shape, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape, groups: int
    ) -> Geometry:
        """From shapes with one to three spatial axes; those that are missing come first, with size 1.

        Args:
            data: Shape of the images, (N, C, ...).
            out: Shape of the output, (N, M, ...).
        """
        return cls(
            data[0],
            data[1],
            out[1],
            groups,
            _triple(data[2:], 1),
            _triple(out[2:], 1),
            _triple(kernel, 1),
            _triple(stride, 1),  # mutant: 1 becomes 2: equivalent, because a missing axis has one position
            _triple(dilate, 1),
            _triple(pad, 0),
        )

    def adjoint(self) -> Geometry | None:
        """The correlation that maps gradients of the output to gradients of the images, if it is cheap.

        That is one with the filters turned round, where windows touch (stride 1). It has as many
        positions as the images, so it is not worth it where the output has far fewer.
        """
        pad = tuple(
            dilate * (kernel - 1) - pad
            for kernel, dilate, pad in zip(self.kernel, self.dilate, self.pad, strict=True)
        )
        # mutant: equivalent, because it decides between two ways to the same
        is_near = prod(self.size) * 3 <= prod(self.out) * 4
        if self.stride != (1, 1, 1) or min(pad) < 0 or not is_near:
            return None
        return replace(
            self,
            channels=self.filters,
            filters=self.channels,
            size=self.out,
            out=self.size,
            pad=_triple(pad, 0),
        )

    @property
    def group_channels(self) -> int:
        """Channels that one filter sees."""
        return self.channels // self.groups

    @property
    def group_filters(self) -> int:
        """Filters of one group."""
        return self.filters // self.groups

    @property
    def rows_together(self) -> int:
        """Kernel rows that one matrix product covers: all, unless they are dilated."""
        return self.kernel[1] if self.dilate[1] == 1 else 1

    @property
    def taps(self) -> list[Tap]:
        """The matrix products that are summed."""
        heights = range(0, self.kernel[1], self.rows_together)
        return [Tap(depth, height) for depth in range(self.kernel[0]) for height in heights]

    @property
    def length(self) -> int:
        """Inner length of each matrix product."""
        return self.rows_together * self.group_channels * self.kernel[2]

    @property
    def images_together(self) -> int:
        """Number of images that are treated at once."""
        columns = max(_COLUMNS, _ELEMENTS // max(1, self.length))
        wanted = ceil(columns / max(1, self.out[2]))
        one = 4 * max(1, self.buffer_size(1))
        return max(1, min(self.batch, wanted, _BUFFER_BYTES // one, ceil(self.batch / self._parts_worth)))

    @property
    def _parts_worth(self) -> int:
        """Number of parts with work enough for a thread each."""
        products = self.batch * prod(self.out) * self.filters * self.group_channels * prod(self.kernel)
        return max(1, min(_MOST_PARTS, 2 * products // _PART_OPERATIONS))

    def buffer_shape(self, images: int) -> Shape:
        """Shape of the row buffer: (group, depth, height, channel, tap, image, column)."""
        depth, height = (self._reach(axis) for axis in (0, 1))
        return (
            self.groups,
            depth,
            height,
            self.group_channels,
            self.kernel[2],
            images,
            self.out[2],
        )

    def buffer_size(self, images: int) -> int:
        """Elements of the row buffer."""
        return prod(self.buffer_shape(images))

    def product_shape(self, images: int) -> Shape:
        """Shape of the products: (group, depth, height, filter, image and column)."""
        return (self.groups, self.out[0], self.out[1], self.group_filters, images * self.out[2])

    def product_size(self, images: int) -> int:
        """Elements of the products."""
        return self.filters * self.out[0] * self.out[1] * images * self.out[2]

    def _reach(self, axis: int) -> int:
        """Padded positions along `axis` that any window touches."""
        return (self.out[axis] - 1) * self.stride[axis] + self.dilate[axis] * (self.kernel[axis] - 1) + 1


def _triple(values: Shape, missing: int) -> Triple:
    first, second, third = (missing,) * (3 - len(values)) + tuple(values)
    return first, second, third


def with_three_axes(array: Array) -> Array:
    """A view of `array` (N, C, ...) with three spatial axes."""
    return array[(slice(None), slice(None), *[None] * (5 - array.ndim))]

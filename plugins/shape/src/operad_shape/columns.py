"""`im2col` and `col2im`: sliding blocks of images as columns, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from operad.errors import ShapeError
from operad_sdk import (
    Array,
    Contract,
    OpContext,
    OperatorProperty,
    Output,
    PartialShape,
    Shape,
    gradient,
    operator,
    param,
)
from operad_shape.rearrange import is_complete
from operad_shape.references import blocks_as_columns, sum_of_blocks

_LENGTHS: Final = (1, 2, 3) * 4 + (0,)
"""Batches and channels in the contract checks, which can compare nothing where there are none."""


class Columns(OperatorProperty):
    """The relation of images (N, C, *S) and columns (N, C * prod(kernel), number of blocks)."""

    kernel = param("shape", ge=1, doc="Size of a block.")
    stride = param("shape", (), ge=1, doc="Step between blocks; 1 if empty.")
    dilate = param("shape", (), ge=1, doc="Step between pixels of a block; 1 if empty.")
    pad = param("shape", (), ge=0, doc="Zeros on both sides of each axis; 0 if empty.")

    @property
    def along_axes(self) -> Iterator[tuple[int, int, int, int]]:
        """Kernel, stride, dilate and pad of each axis."""
        stride, dilate, pad = self._full(self.stride, 1), self._full(self.dilate, 1), self._full(self.pad, 0)
        return zip(self.kernel, stride, dilate, pad, strict=True)

    def _full(self, values: Shape, default: int) -> Shape:
        return tuple(values) or (default,) * len(self.kernel)

    def block_counts(self, size: Shape) -> Shape:
        """How many blocks there are along each axis of images of `size`.

        Raises:
            ShapeError: A parameter has another number of axes, or a block is larger than the image.
        """
        stride, dilate, pad = self._full(self.stride, 1), self._full(self.dilate, 1), self._full(self.pad, 0)
        if not len(size) == len(self.kernel) == len(stride) == len(dilate) == len(pad):
            raise ShapeError(
                f"{self.name}: kernel={self.kernel}, stride={stride}, dilate={dilate} and pad={pad} must "
                f"have as many numbers as the images' size {size}, output_size or data's axes from 2 on"
            )
        counts = tuple(
            (length + 2 * p - d * (k - 1) - 1) // s + 1
            for length, k, s, d, p in zip(size, self.kernel, stride, dilate, pad, strict=True)
        )
        if any(count < 1 for count in counts):
            raise ShapeError(f"{self.name}: a block of {self.kernel} does not fit the padded image {size}")
        return counts

    def unfold(self, xp: Any, images: Array, columns: Array) -> None:
        """Write the blocks of `images` into `columns`, which is C-contiguous or a view of it."""
        size, counts = images.shape[2:], self.block_counts(images.shape[2:])
        padded = self._padded(xp, images)
        view = columns.reshape(*images.shape[:2], *self.kernel, *counts)
        for offset, part in self._parts(size, counts):
            view[(slice(None), slice(None), *offset)] = padded[part]
        if view.base is None:  # the columns were not contiguous, so reshaping made a copy
            columns[...] = view.reshape(columns.shape)

    def fold(self, xp: Any, columns: Array, images: Array) -> None:
        """Write into `images` the sum of the blocks in `columns` that cover each pixel."""
        size, counts = images.shape[2:], self.block_counts(images.shape[2:])
        wide = np.float32 if images.dtype == np.float16 else images.dtype
        pad = self._full(self.pad, 0)
        total = xp.zeros((*images.shape[:2], *(n + 2 * p for n, p in zip(size, pad, strict=True))), wide)
        view = columns.reshape(*images.shape[:2], *self.kernel, *counts)
        for offset, part in self._parts(size, counts):
            total[part] += view[(slice(None), slice(None), *offset)]
        images[...] = total[(..., *(slice(p, p + n) for n, p in zip(size, pad, strict=True)))]

    def _padded(self, xp: Any, images: Array) -> Array:
        pad = self._full(self.pad, 0)
        return xp.pad(images, ((0, 0), (0, 0), *((p, p) for p in pad))) if any(pad) else images

    def _parts(self, size: Shape, counts: Shape) -> Iterator[tuple[Shape, tuple[Any, ...]]]:
        """Each pixel of a block, and the slices of the padded images where the blocks have it."""
        stride, dilate = self._full(self.stride, 1), self._full(self.dilate, 1)
        for offset in np.ndindex(*self.kernel):
            slices = [
                slice(o * d, o * d + (count - 1) * s + 1, s)
                for o, d, s, count in zip(offset, dilate, stride, counts, strict=True)
            ]
            yield offset, (slice(None), slice(None), *slices)


def _image_shapes(prop: Columns, choose: Callable[[Sequence[int]], int]) -> list[Shape]:
    """Images with room for one to three blocks along each axis."""
    counts = (1, 2, 3) if len(prop.kernel) < 3 else (1, 2)
    size = [
        max(1, (choose(counts) - 1) * stride + dilate * (kernel - 1) + 1 - 2 * pad + choose(range(stride)))
        for kernel, stride, dilate, pad in prop.along_axes
    ]
    return [(choose(_LENGTHS), choose(_LENGTHS), *size)]


def _column_shapes(prop: col2im, choose: Callable[[Sequence[int]], int]) -> list[Shape]:
    """As many blocks as images of `output_size` have."""
    blocks = prod(prop.block_counts(tuple(prop.output_size)))
    return [(choose(_LENGTHS), choose(_LENGTHS) * prod(prop.kernel), blocks)]


@operator("im2col")
class im2col(Columns):
    """Sliding blocks of images as columns.

    Shapes:
        data: (N, C, *S).
        output: (N, C * product of kernel, number of blocks).

    Example:
        >>> import operad as od
        >>> x = od.nd.array([[[[1, 2, 3], [4, 5, 6]]]])
        >>> od.nd.im2col(x, kernel=(2, 2)).asnumpy()[0].T
        array([[1., 2., 4., 5.],
               [2., 3., 5., 6.]], dtype=float32)

    Source: Im2colParam, src/operator/nn/im2col.h.
    """

    contract = Contract(shapes=_image_shapes, reference=blocks_as_columns)

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> Any:
        """Blocks along the last axis."""
        shape = in_shapes[0]
        if not is_complete(shape):
            return [shape], [None], []
        assert shape is not None
        if len(shape) < 3:
            raise ShapeError(f"im2col: data has shape {shape}, expected (N, C, ...)")
        n, c, *size = shape
        counts = self.block_counts(tuple(size))  # type: ignore[arg-type]
        return [shape], [(n, c * prod(self.kernel), prod(counts))], []

    def forward(self, op_ctx: OpContext, data: Array, output: Output) -> None:
        """Copy the blocks."""
        with output.writing() as out:
            self.unfold(op_ctx.xp, data, out)

    @gradient
    def data_gradient(self, op_ctx: OpContext, output_grad: Array, data_grad: Output) -> None:
        """Add the blocks."""
        with data_grad.writing() as grad:
            self.fold(op_ctx.xp, output_grad, grad)


@operator("col2im")
class col2im(Columns):
    """The sum of blocks, given as columns, where they lie in images.

    Shapes:
        data: (N, C * product of kernel, number of blocks).
        output: (N, C, *output_size).

    Example:
        >>> import operad as od
        >>> blocks = od.nd.array([[[1, 10], [2, 20]]])
        >>> od.nd.col2im(blocks, output_size=(1, 3), kernel=(1, 2)).asnumpy()[0, 0]
        array([[ 1., 12., 20.]], dtype=float32)

    Source: Col2imParam, src/operator/nn/im2col.h.
    """

    output_size = param("shape", ge=1, doc="Size of the images.")
    contract = Contract(shapes=_column_shapes, reference=sum_of_blocks)

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> Any:
        """Images of `output_size`."""
        shape = in_shapes[0]
        if not is_complete(shape):
            return [shape], [None], []
        blocks, block_size = prod(self.block_counts(tuple(self.output_size))), prod(self.kernel)
        if shape is None or len(shape) != 3 or shape[1] % block_size or shape[2] != blocks:
            raise ShapeError(f"col2im: data has shape {shape}, expected (N, C * {block_size}, {blocks})")
        return [shape], [(shape[0], shape[1] // block_size, *self.output_size)], []

    def forward(self, op_ctx: OpContext, data: Array, output: Output) -> None:
        """Add the blocks."""
        with output.writing() as out:
            self.fold(op_ctx.xp, data, out)

    @gradient
    def data_gradient(self, op_ctx: OpContext, output_grad: Array, data_grad: Output) -> None:
        """Copy the blocks."""
        with data_grad.writing() as grad:
            self.unfold(op_ctx.xp, output_grad, grad)

"""`im2col` and `col2im`: sliding blocks of images as columns, and back.

Images (N, C, *S) have columns (N, C * prod(kernel), number of blocks).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, ClassVar, Final

import numpy as np

from operad_sdk import Array, Contract, OpContext, OperatorProperty, Shape, ShapeError, operator, param
from operad_shape.references import blocks_as_columns, sum_of_blocks

_LENGTHS: Final = (1, 2, 3) * 4 + (0,)
"""Batches and channels in the contract checks, which can compare nothing where there are none."""

_WINDOW: Final[Any] = (
    param("shape", ge=1, doc="Size of a block."),
    param("shape", (), ge=1, per="kernel", fill=1, doc="Step between blocks; 1 if empty."),
    param("shape", (), ge=1, per="kernel", fill=1, doc="Step between pixels of a block; 1 if empty."),
    param("shape", (), ge=0, per="kernel", fill=0, doc="Zeros on both sides of each axis; 0 if empty."),
)


def _counts(size: Shape, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape) -> Shape:
    """Numbers of blocks along each axis of images of `size`."""
    if len(size) != len(kernel):
        raise ShapeError(
            f"kernel={kernel} must have as many numbers as the images' size {size}, output_size or data's "
            "axes from 2 on"
        )
    counts = tuple(
        (length + 2 * p - d * (k - 1) - 1) // s + 1
        for length, k, s, d, p in zip(size, kernel, stride, dilate, pad, strict=True)
    )
    if any(count < 1 for count in counts):
        raise ShapeError(f"a block of {kernel} does not fit the padded image {size}")
    return counts


def _number(*window: Shape) -> Shape:
    """Number of blocks, as the one axis of that length."""
    return (prod(_counts(*window)),)


def _parts(counts: Shape, kernel: Shape, stride: Shape, dilate: Shape) -> Iterator[tuple[Any, Any]]:
    """Each pixel of a block in the columns, and the slices of the padded images where the blocks have it."""
    for offset in np.ndindex(*kernel):
        slices = [
            slice(o * d, o * d + (count - 1) * s + 1, s)
            for o, d, s, count in zip(offset, dilate, stride, counts, strict=True)
        ]
        yield (slice(None), slice(None), *offset), (..., *slices)


def _unfold(images: Array, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape, columns: Array) -> None:
    """Write the blocks of `images` into `columns`, whose split axes are a view."""
    counts = _counts(images.shape[2:], kernel, stride, dilate, pad)
    padded = np.pad(images, ((0, 0), (0, 0), *((p, p) for p in pad))) if any(pad) else images
    view = columns.reshape(*images.shape[:2], *kernel, *counts)
    for offset, part in _parts(counts, kernel, stride, dilate):
        view[offset] = padded[part]


def _fold(
    xp: Any, columns: Array, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape, images: Array
) -> None:
    """Write into `images` the sum of the blocks in `columns` that cover each pixel."""
    size = images.shape[2:]
    counts = _counts(size, kernel, stride, dilate, pad)
    total = xp.zeros((*images.shape[:2], *(n + 2 * p for n, p in zip(size, pad, strict=True))), images.dtype)
    view = columns.reshape(*images.shape[:2], *kernel, *counts)
    for offset, part in _parts(counts, kernel, stride, dilate):
        total[part] += view[offset]
    images[...] = total[(..., *(slice(p, p + n) for n, p in zip(size, pad, strict=True)))]


def _image_shapes(prop: im2col, choose: Callable[[Sequence[int]], int]) -> list[Shape]:
    """Images with room for one to three blocks along each axis."""
    counts = (1, 2, 3) if len(prop.kernel) < 3 else (1, 2)
    size = [
        max(1, (choose(counts) - 1) * stride + dilate * (kernel - 1) + 1 - 2 * pad + choose(range(stride)))
        for kernel, stride, dilate, pad in zip(prop.kernel, prop.stride, prop.dilate, prop.pad, strict=True)
    ]
    return [(choose(_LENGTHS), choose(_LENGTHS), *size)]


@operator("im2col")
class im2col(OperatorProperty):
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

    kernel, stride, dilate, pad = _WINDOW
    spec = "data:(N, C, *S) -> output:(N, C * prod(kernel), *number(S, kernel, stride, dilate, pad))"
    functions: ClassVar = {"number": _number}
    compute_dtype = "float32"
    contract = Contract(shapes=_image_shapes, reference=blocks_as_columns)

    def forward(data: Array, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape, output: Array) -> None:
        """Copy the blocks."""
        _unfold(data, kernel, stride, dilate, pad, output)

    def data_grad(
        output_grad: Array, op_ctx: OpContext, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape,
        data_grad: Array,
    ) -> None:  # fmt: skip
        """`d/d data = col2im(output_grad)`: the sum of the blocks at each pixel."""
        _fold(op_ctx.xp, output_grad, kernel, stride, dilate, pad, data_grad)


@operator("col2im")
class col2im(OperatorProperty):
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
    kernel, stride, dilate, pad = _WINDOW
    spec = (
        "data:(N, C * prod(kernel), *number(output_size, kernel, stride, dilate, pad))"
        " -> output:(N, C, *output_size)"
    )
    functions: ClassVar = {"number": _number}
    compute_dtype = "float32"
    contract = Contract(reference=sum_of_blocks)

    def forward(
        data: Array, op_ctx: OpContext, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape, output: Array
    ) -> None:
        """Add the blocks."""
        _fold(op_ctx.xp, data, kernel, stride, dilate, pad, output)

    def data_grad(
        output_grad: Array, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape, data_grad: Array
    ) -> None:
        """`d/d data = im2col(output_grad)`: a copy of the blocks."""
        _unfold(output_grad, kernel, stride, dilate, pad, data_grad)

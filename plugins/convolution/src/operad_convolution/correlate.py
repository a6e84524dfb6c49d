"""Correlation of images with filters, and its two adjoints, as matrix products.

Images are treated a few at a time, so that what is unrolled (see `operad_convolution.rows`) stays in
cache; these parts run side by side where threads are to be had. Each thread has a piece of scratch memory,
whose element type is what is computed in. Arrays of images may have one to three spatial axes.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from operad_convolution.geometry import Geometry, with_three_axes
from operad_convolution.rows import add_back, fill, windows
from operad_sdk import Array, DType, OpContext

_ROWS_ELEMENTS: Final = 1 << 18
_TOTALS: Final = 8
"""Most sums of weight gradients that are kept; cut by shapes alone, so that sums round alike."""

Part = Callable[[slice, Array, Array], None]
"""Treats some images, with a row buffer and the products' array."""


def correlate(
    op_ctx: OpContext, geometry: Geometry, images: Array, weight: Array, bias: Array | None, out: Array
) -> None:
    """Write the correlation of `images` with the filters `weight` into `out`.

    Args:
        images: (N, C, ...).
        weight: (M, C / groups, ...) with the kernel's axes.
        bias: (M,), added to each channel of the output; or None.
        out: (N, M, ...), overwritten.
    """
    xp, images, out = op_ctx.xp, with_three_axes(images), with_three_axes(out)
    matrices = _matrices(xp, geometry, weight)

    def treat(part: slice, buffer: Array, product: Array) -> None:
        fill(geometry, images[part], buffer)
        for tap, matrix in zip(geometry.taps, matrices, strict=True):
            if tap == (0, 0):
                xp.matmul(matrix, windows(xp, geometry, buffer, tap), out=product)
            else:
                np.add(product, xp.matmul(matrix, windows(xp, geometry, buffer, tap)), out=product)
        target = out[part]
        _grouped(geometry, target)[...] = _as_images(geometry, product, len(target))
        if bias is not None:
            target += bias.reshape(-1, 1, 1, 1)

    _each_part(op_ctx, geometry, weight.dtype, treat)


def correlate_weight_gradient(
    op_ctx: OpContext, geometry: Geometry, images: Array, output_grad: Array, weight_grad: Array
) -> None:
    """Write the gradient of the filters, where `output_grad` is that of the output, into `weight_grad`."""
    xp, images, output_grad = op_ctx.xp, with_three_axes(images), with_three_axes(output_grad)
    scratch, count = _scratch(op_ctx, geometry, output_grad.dtype), _part_count(geometry)
    chunks = min(count, _TOTALS)
    shape = (len(geometry.taps), geometry.groups, geometry.group_filters, geometry.length)
    totals = xp.zeros((chunks, *shape), scratch.dtype)
    # As many output rows per call as their products, which are summed, stay in cache.
    # mutant: equivalent, because results do not depend on how many there are
    together = max(1, _ROWS_ELEMENTS // max(1, prod(shape[1:])))

    def add_chunk(chunk: int, slot: int) -> None:
        for number in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            part, buffer, product = _part(geometry, scratch[slot], number)
            fill(geometry, images[part], buffer)
            _as_images(geometry, product, part.stop - part.start)[...] = _grouped(geometry, output_grad[part])
            for index, tap in enumerate(geometry.taps):
                columns = windows(xp, geometry, buffer, tap).swapaxes(-1, -2)
                for depth, rows in np.ndindex(geometry.out[0], -(-geometry.out[1] // together)):
                    some = (slice(None), depth, slice(rows * together, (rows + 1) * together))
                    totals[chunk, index] += xp.matmul(product[some], columns[some]).sum(1)

    op_ctx.parallel(add_chunk, chunks, len(scratch))
    total = _as_weight(geometry, totals[0] if chunks == 1 else totals.sum(0))
    weight_grad[...] = total.reshape(weight_grad.shape)


def correlate_data_gradient(
    op_ctx: OpContext, geometry: Geometry, head: Array, weight: Array, bias: Array | None, images: Array
) -> None:
    """Write the gradient of the images, where `head` is that of the output, into `images`.

    Args:
        bias: (C,), added to each channel of the images; or None.
    """
    xp, adjoint = op_ctx.xp, geometry.adjoint()
    if adjoint is not None:
        correlate(op_ctx, adjoint, head, _turned(geometry, weight), bias, images)
        return
    images, head = with_three_axes(images), with_three_axes(head)
    matrices = [matrix[:, 0, 0].swapaxes(-1, -2) for matrix in _matrices(xp, geometry, weight)]

    def treat(part: slice, buffer: Array, product: Array) -> None:
        _as_images(geometry, product, part.stop - part.start)[...] = _grouped(geometry, head[part])
        buffer[...] = 0
        share = xp.empty((geometry.groups, geometry.length, product.shape[-1]), product.dtype)
        for tap, matrix in zip(geometry.taps, matrices, strict=True):
            for depth, height in np.ndindex(geometry.out[:2]):
                xp.matmul(matrix, product[:, depth, height], out=share)
                plane = depth * geometry.stride[0] + tap.depth * geometry.dilate[0]
                row = height * geometry.stride[1] + tap.height * geometry.dilate[1]
                rows = buffer[:, plane, row : row + geometry.rows_together]
                rows += share.reshape(rows.shape)
        add_back(geometry, buffer, images[part])
        if bias is not None:
            images[part] += bias.reshape(-1, 1, 1, 1)

    _each_part(op_ctx, geometry, weight.dtype, treat)


def _each_part(op_ctx: OpContext, geometry: Geometry, dtype: DType, treat: Part) -> None:
    """Have `treat` work on all images, part by part, in as many threads as there are pieces of scratch."""
    scratch = _scratch(op_ctx, geometry, dtype)

    def run(number: int, slot: int) -> None:
        treat(*_part(geometry, scratch[slot], number))

    op_ctx.parallel(run, _part_count(geometry), len(scratch))


def _part_count(geometry: Geometry) -> int:
    return -(-geometry.batch // geometry.images_together)


def _part(geometry: Geometry, scratch: Array, number: int) -> tuple[slice, Array, Array]:
    """The images of a part, its row buffer and its products' array."""
    start = number * geometry.images_together
    images = min(geometry.images_together, geometry.batch - start)
    split = geometry.buffer_size(images)
    end = split + geometry.product_size(images)
    buffer = scratch[:split].reshape(geometry.buffer_shape(images))
    product = scratch[split:end].reshape(geometry.product_shape(images))
    return slice(start, start + images), buffer, product


def _scratch(op_ctx: OpContext, geometry: Geometry, dtype: DType) -> Array:
    """Memory for the unrolled rows and the products of a part, for each thread."""
    images = geometry.images_together
    size = geometry.buffer_size(images) + geometry.product_size(images)
    return op_ctx.requested[0].get_space((op_ctx.num_threads, size), dtype)


def _turned(geometry: Geometry, weight: Array) -> Array:
    """The filters of the adjoint: (C, M / groups, *kernel), each turned round."""
    shape = (geometry.groups, geometry.group_filters, geometry.group_channels, *geometry.kernel)
    turned = weight.reshape(shape)[..., ::-1, ::-1, ::-1].swapaxes(1, 2)
    return turned.reshape(geometry.channels, geometry.group_filters, *geometry.kernel)


def _matrices(xp: Any, geometry: Geometry, weight: Array) -> Array:
    """The filters of each tap as (group, 1, 1, filter, length)."""
    parted = weight.reshape(_parted_shape(geometry)).transpose(3, 4, 0, 1, 5, 2, 6)
    count, groups, filters = len(geometry.taps), geometry.groups, geometry.group_filters
    return xp.ascontiguousarray(parted).reshape(count, groups, 1, 1, filters, geometry.length)


def _as_weight(geometry: Geometry, matrices: Array) -> Array:
    """The inverse of `_matrices`."""
    shape = _parted_shape(geometry)
    parted = matrices.reshape(*(shape[axis] for axis in (3, 4, 0, 1, 5, 2, 6)))
    flat = parted.transpose(2, 3, 5, 0, 1, 4, 6)
    return flat.reshape(geometry.filters, geometry.group_channels, *geometry.kernel)


def _parted_shape(geometry: Geometry) -> tuple[int, ...]:
    """(group, filter, channel, depth, taps along height, rows together, width)."""
    depth, height, width = geometry.kernel
    together = geometry.rows_together
    return (
        geometry.groups,
        geometry.group_filters,
        geometry.group_channels,
        depth,
        height // together,
        together,
        width,
    )


def _as_images(geometry: Geometry, product: Array, images: int) -> Array:
    """A view of the products, of so many images, in the order of `_grouped`."""
    shape = (*product.shape[:4], images, geometry.out[2])
    return product.reshape(shape).transpose(4, 0, 3, 1, 2, 5)


def _grouped(geometry: Geometry, out: Array) -> Array:
    """A view of output images as (image, group, filter, depth, height, width)."""
    return out.reshape(out.shape[0], geometry.groups, geometry.group_filters, *out.shape[2:])

"""The row buffer: images unrolled along their last axis only.

The textbook's im2col writes every element once for each of the kernel's positions, and for small
filters that costs more than the multiplication. Here only the positions along the last axis are
unrolled::

    buffer[group, depth, height, channel, tap, image, column]
        = padded[image, channel, depth, height, column + tap]

Since height is a slower axis than channel and tap, the rows of the kernel's whole window at one
output row lie one after the other: `kernel height * channels * kernel width` rows of `images *
columns` elements, at a distance that BLAS takes as a leading dimension. So each output row is one
matrix product with a view of the buffer, at the stride's distance from the next. The buffer is
smaller than im2col's by the kernel's height, and it is filled by one copy for each kernel column, of
the interior; the border is cleared apart.

Source: Cho and Brand, MEC: memory-efficient convolution for deep neural network (2017), section 3.
Differs: images are columns too, so that products are large; groups, depth and dilation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from operad_convolution.geometry import Geometry, Tap
from operad_sdk import Array

Span = tuple[int, int]


def fill(geometry: Geometry, images: Array, buffer: Array) -> None:
    """Unroll `images`, (n, C, D, H, W), into `buffer`."""
    source = _by_position(geometry, images)
    (depth, top), (height, bottom) = (_interior(geometry, axis, buffer.shape[1 + axis]) for axis in (0, 1))
    for border in (
        buffer[:, :depth],
        buffer[:, top:],
        buffer[:, depth:top, :height],
        buffer[:, depth:top, bottom:],
    ):
        border[...] = 0
    for tap, (first, last), columns in _column_taps(geometry):
        target = buffer[:, depth:top, height:bottom, :, tap]
        target[..., :first] = 0
        target[..., last:] = 0
        target[..., first:last] = _window(geometry, source, (depth, top), (height, bottom))[..., columns]


def add_back(geometry: Geometry, buffer: Array, images: Array) -> None:
    """Write the adjoint of `fill`: each element of `images` is the sum of its places in `buffer`."""
    images[...] = 0
    target = _by_position(geometry, images)
    depth, height = (_interior(geometry, axis, buffer.shape[1 + axis]) for axis in (0, 1))
    for tap, (first, last), columns in _column_taps(geometry):
        part = _window(geometry, target, depth, height)[..., columns]
        part += buffer[:, slice(*depth), slice(*height), :, tap, :, first:last]


def windows(xp: Any, geometry: Geometry, buffer: Array, tap: Tap) -> Array:
    """Factor of `tap`: a view (group, depth, height, length, image and column) for every output row."""
    start = buffer[:, tap.depth * geometry.dilate[0] :, tap.height * geometry.dilate[1] :]
    columns = buffer.shape[5] * buffer.shape[6]
    group, depth, height = buffer.strides[:3]
    shape = (geometry.groups, *geometry.out[:2], geometry.length, columns)
    strides = (group, depth * geometry.stride[0], height * geometry.stride[1], columns * buffer.itemsize)
    return xp.lib.stride_tricks.as_strided(start, shape, (*strides, buffer.itemsize))


def _by_position(geometry: Geometry, images: Array) -> Array:
    """A view of `images` in the buffer's order: (group, depth, height, channel, image, width)."""
    shape = images.shape
    grouped = images.reshape(shape[0], geometry.groups, geometry.group_channels, *shape[2:])
    return grouped.transpose(1, 3, 4, 2, 0, 5)


def _interior(geometry: Geometry, axis: int, reach: int) -> Span:
    """The padded positions that lie inside the image."""
    start = min(geometry.pad[axis], reach)
    return start, max(start, min(reach, geometry.pad[axis] + geometry.size[axis]))


def _window(geometry: Geometry, source: Array, depth: Span, height: Span) -> Array:
    pads = geometry.pad
    return source[:, depth[0] - pads[0] : depth[1] - pads[0], height[0] - pads[1] : height[1] - pads[1]]


def _column_taps(geometry: Geometry) -> Iterator[tuple[int, Span, slice]]:
    """Each kernel column, the output columns where it lies inside the image, and its columns there."""
    width, stride, out = geometry.size[2], geometry.stride[2], geometry.out[2]
    for tap in range(geometry.kernel[2]):
        offset = tap * geometry.dilate[2] - geometry.pad[2]
        first = min(out, max(0, -(offset // stride)))
        last = max(first, min(out, (width - 1 - offset) // stride + 1))
        start = first * stride + offset
        yield tap, (first, last), slice(start, start + (last - first) * stride, stride)

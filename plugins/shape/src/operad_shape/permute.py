"""Operators that put all elements in another order: axes permuted or reversed, blocks folded.

Each output is a view of the data, copied into memory of its own. The gradient is the same view of the
data's gradient, or the view that undoes it, of the output's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    Cost,
    OperatorProperty,
    Shape,
    ShapeError,
    moved_bytes,
    operator,
    param,
)
from operad_shape.linked import Link, LinkedAxes
from operad_shape.rearrange import normal_axis
from operad_shape.references import channels_from_pixels, pixels_from_channels

_LINES: Final = 6
"""Factor on bytes read across rows: of the 16 elements of a cache line some are used in time."""


def _permuted(shape: Shape, axes: Shape) -> Shape:
    order = [normal_axis(axis, len(shape)) for axis in axes] if axes else range(len(shape))[::-1]
    if sorted(order) != list(range(len(shape))):
        raise ShapeError(f"axes={axes} is not an order of the {len(shape)} axes of data")
    return tuple(shape[axis] for axis in order)


@operator("transpose")
class transpose(LinkedAxes):
    """The data with its axes in another order.

    Shapes:
        data: Any.
        output: `output.shape[i] == data.shape[axes[i]]`.

    Example:
        >>> import operad as od
        >>> od.nd.transpose(od.nd.array([[1, 2, 3], [4, 5, 6]])).asnumpy()
        array([[1., 4.],
               [2., 5.],
               [3., 6.]], dtype=float32)

    Source: transpose, src/operator/tensor/matrix_op.cc.
    """

    axes = param("shape", (), doc="The order; reversed if empty.")
    spec = "data:(*S) -> output:(*permuted(S, axes))"
    functions: ClassVar = {"permuted": _permuted}
    contract = Contract(reference=lambda data, axes: np.transpose(data, axes or None))

    def links(self, rank: int) -> Sequence[Link]:
        """The data's axes in their new order."""
        return [(axis, 1) for axis in _permuted(tuple(range(rank)), self.axes)]

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Bytes alone: of the data, whole cache lines are read for single elements."""
        return Cost(size_bytes=moved_bytes([*out_shapes, *_LINES * list(in_shapes)]), beside_us=1)

    def forward(data: Array, axes: Shape, output: Array) -> None:
        """Copy the transposed view."""
        output[...] = data.transpose(axes or None)

    def data_grad(output_grad: Array, axes: Shape, data_grad: Array) -> None:
        """`transpose(data_grad) = output_grad`, written through the transposed view."""
        data_grad.transpose(axes or None)[...] = output_grad


def _exchanged(shape: Shape, dim1: int, dim2: int) -> Shape:
    first, second = normal_axis(dim1, len(shape)), normal_axis(dim2, len(shape))
    lengths = list(shape)
    lengths[first], lengths[second] = shape[second], shape[first]
    return tuple(lengths)


def _moved(data: Array, dim1: int, dim2: int) -> Array:
    if dim1 % data.ndim == dim2 % data.ndim:
        return data
    return np.moveaxis(data, (dim1, dim2), (dim2, dim1))


@operator("SwapAxis")
class SwapAxis(LinkedAxes):
    """The data with two axes exchanged.

    Shapes:
        data: Any.
        output: As data, with two lengths exchanged.

    Example:
        >>> import operad as od
        >>> od.nd.swapaxes(od.nd.array([[1, 2, 3]]), dim1=0, dim2=1).shape
        (3, 1)

    Source: SwapAxisParam, src/operator/swapaxis-inl.h.
    """

    dim1 = param(int, 0, doc="One axis.")
    dim2 = param(int, 0, doc="The other axis.")
    spec = "data:(*S) -> output:(*exchanged(S, dim1, dim2))"
    functions: ClassVar = {"exchanged": _exchanged}
    contract = Contract(reference=_moved)

    def links(self, rank: int) -> Sequence[Link]:
        """The data's axes, two of them exchanged."""
        return [(axis, 1) for axis in _exchanged(tuple(range(rank)), self.dim1, self.dim2)]

    def forward(data: Array, dim1: int, dim2: int) -> Array:
        """The view with the axes exchanged."""
        return data.swapaxes(dim1, dim2)

    def data_grad(output_grad: Array, dim1: int, dim2: int) -> Array:
        """`d/d data = swapaxes(output_grad)`."""
        return output_grad.swapaxes(dim1, dim2)


def _checked(shape: Shape, axis: Shape) -> Shape:
    for one in axis:
        normal_axis(one, len(shape))
    return shape


def _reversed(array: Array, axis: Shape) -> Array:
    return np.flip(array, tuple({one % array.ndim for one in axis}))


@operator("reverse")
class reverse(LinkedAxes):
    """The data with the order of elements reversed along axes.

    Shapes:
        data: Any.
        output: As data.

    Example:
        >>> import operad as od
        >>> od.nd.flip(od.nd.array([[1, 2], [3, 4]]), axis=1).asnumpy()
        array([[2., 1.],
               [4., 3.]], dtype=float32)

    Source: reverse, src/operator/tensor/matrix_op.cc.
    """

    axis = param("shape", doc="The axes.")
    spec = "data:(*S) -> output:(*checked(S, axis))"
    functions: ClassVar = {"checked": _checked}
    contract = Contract(reference=lambda data, axis: np.flip(data, tuple({one % data.ndim for one in axis})))

    def links(self, rank: int) -> Sequence[Link]:
        """The data's axes."""
        return [(axis, 1) for axis in _checked(tuple(range(rank)), self.axis)]

    def forward(data: Array, axis: Shape) -> Array:
        """The view with negative strides."""
        return _reversed(data, axis)

    def data_grad(output_grad: Array, axis: Shape) -> Array:
        """`d/d data = reverse(output_grad)`."""
        return _reversed(output_grad, axis)


def _blocks(pixels: Array, b: int) -> Array:
    """Images by blocks of pixels, (N, C, H, b, W, b), as a view."""
    n, c, h, w = pixels.shape
    return pixels.reshape(n, c, h // b, b, w // b, b)


def _unfolded(channels: Array, b: int) -> Array:
    """The same view of images whose blocks lie in their channels."""
    n, c, h, w = channels.shape
    return channels.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)


@operator("depth_to_space")
class depth_to_space(OperatorProperty):
    """Channels unfolded into blocks of pixels.

    Shapes:
        data: (N, C * b * b, H, W).
        output: (N, C, H * b, W * b).

    Example:
        >>> import operad as od
        >>> od.nd.depth_to_space(od.nd.array([[[[1]], [[2]], [[3]], [[4]]]]), block_size=2).asnumpy()
        array([[[[1., 2.],
                 [3., 4.]]]], dtype=float32)

    Source: depth_to_space, src/operator/tensor/matrix_op.cc.
    """

    block_size = param(int, ge=1, doc="Side of the square block of pixels that one pixel's channels hold.")
    spec = "data:(N, block_size*block_size*C, H, W) -> output:(N, C, block_size*H, block_size*W)"
    contract = Contract(reference=pixels_from_channels, params={"block_size": (2, 1, 3)})

    def forward(data: Array, block_size: int, output: Array) -> None:
        """Copy the view of six axes."""
        _blocks(output, block_size)[...] = _unfolded(data, block_size)

    def data_grad(output_grad: Array, block_size: int, data_grad: Array) -> None:
        """`d/d data = space_to_depth(output_grad)`, written through the view of six axes."""
        _unfolded(data_grad, block_size)[...] = _blocks(output_grad, block_size)


@operator("space_to_depth")
class space_to_depth(OperatorProperty):
    """Blocks of pixels folded into channels.

    Shapes:
        data: (N, C, H * b, W * b).
        output: (N, C * b * b, H, W).

    Example:
        >>> import operad as od
        >>> od.nd.space_to_depth(od.nd.array([[[[1, 2], [3, 4]]]]), block_size=2).shape
        (1, 4, 1, 1)

    Source: space_to_depth, src/operator/tensor/matrix_op.cc.
    """

    block_size = depth_to_space.params["block_size"]
    spec = "data:(N, C, block_size*H, block_size*W) -> output:(N, block_size*block_size*C, H, W)"
    contract = Contract(reference=channels_from_pixels, params={"block_size": (2, 1, 3)})

    def forward(data: Array, block_size: int, output: Array) -> None:
        """Write through the view of six axes."""
        _unfolded(output, block_size)[...] = _blocks(data, block_size)

    def data_grad(output_grad: Array, block_size: int, data_grad: Array) -> None:
        """`d/d data = depth_to_space(output_grad)`, a copy of the view of six axes."""
        _blocks(data_grad, block_size)[...] = _unfolded(output_grad, block_size)

"""Operators that put all elements in another order: axes permuted or reversed, blocks folded."""

from __future__ import annotations

import numpy as np

from operad.errors import ShapeError
from operad_sdk import Array, Contract, Output, Shape, gradient, operator, param
from operad_shape.rearrange import Rearranged, normal_axis
from operad_shape.references import channels_from_pixels, pixels_from_channels


@operator("transpose")
class transpose(Rearranged):
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
    contract = Contract(reference=lambda data, axes: np.transpose(data, axes or None))

    def _order(self, ndim: int) -> tuple[int, ...]:
        if not self.axes:
            return tuple(range(ndim))[::-1]
        order = tuple(normal_axis("transpose", axis, ndim) for axis in self.axes)
        if sorted(order) != list(range(ndim)):
            raise ShapeError(f"transpose: axes={self.axes} is not an order of the {ndim} axes of data")
        return order

    def out_shape(self, shape: Shape) -> Shape:
        """The lengths in that order."""
        return tuple(shape[axis] for axis in self._order(len(shape)))

    def view(self, array: Array) -> Array:
        """The transposed view."""
        return array.transpose(self._order(array.ndim))


def _exchanged(data: Array, dim1: int, dim2: int) -> Array:
    if dim1 % data.ndim == dim2 % data.ndim:
        return data
    return np.moveaxis(data, (dim1, dim2), (dim2, dim1))


@operator("SwapAxis")
class SwapAxis(Rearranged):
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
    contract = Contract(reference=_exchanged)

    def out_shape(self, shape: Shape) -> Shape:
        """Two lengths exchanged."""
        first, second = (normal_axis("SwapAxis", axis, len(shape)) for axis in (self.dim1, self.dim2))
        lengths = list(shape)
        lengths[first], lengths[second] = lengths[second], lengths[first]
        return tuple(lengths)

    def view(self, array: Array) -> Array:
        """The view with the axes exchanged."""
        return array.swapaxes(self.dim1, self.dim2)


@operator("reverse")
class reverse(Rearranged):
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
    contract = Contract(reference=lambda data, axis: np.flip(data, tuple({one % data.ndim for one in axis})))

    def out_shape(self, shape: Shape) -> Shape:
        """The same."""
        for axis in self.axis:
            normal_axis("reverse", axis, len(shape))
        return shape

    def view(self, array: Array) -> Array:
        """The view with negative strides."""
        reversed_axes = {axis % array.ndim for axis in self.axis}
        return array[
            tuple(slice(None, None, -1 if axis in reversed_axes else 1) for axis in range(array.ndim))
        ]


class Folded(Rearranged):
    """Blocks of pixels against channels: a view of six axes is a copy's worth of either."""

    block_size = param(int, ge=1, doc="Side of the square block of pixels that one pixel's channels hold.")

    def _divisible(self, shape: Shape, divisors: Shape) -> Shape:
        if len(shape) != 4 or any(length % by for length, by in zip(shape[1:], divisors, strict=True)):
            raise ShapeError(
                f"{self.name}: data has shape {shape}, expected (N, C, H, W) "
                f"with C, H, W divisible by {divisors}"
            )
        return shape

    def forward(self, data: Array, output: Output) -> None:
        """Copy the view of six axes in its own shape."""
        with output.writing() as out:
            folded = self.view(data)
            out.reshape(folded.shape)[...] = folded

    @gradient
    def data_gradient(self, output_grad: Array, data_grad: Output) -> None:
        """Write through the view of six axes."""
        with data_grad.writing() as grad:
            folded = self.view(grad)
            folded[...] = output_grad.reshape(folded.shape)


@operator("depth_to_space")
class depth_to_space(Folded):
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

    contract = Contract(
        reference=pixels_from_channels,
        params={"block_size": (2, 1, 3)},
        shapes=lambda prop, choose: [
            (choose((2, 1, 0)), choose((1, 2)) * prop.block_size**2, choose((2, 1, 3)), choose((2, 1)))
        ],
    )

    def out_shape(self, shape: Shape) -> Shape:
        """Fewer channels, more pixels."""
        b = self.block_size
        n, c, h, w = self._divisible(shape, (b * b, 1, 1))
        return (n, c // (b * b), h * b, w * b)

    def view(self, array: Array) -> Array:
        """(N, C, H, b, W, b)."""
        n, c, h, w = array.shape
        b = self.block_size
        return array.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)


@operator("space_to_depth")
class space_to_depth(Folded):
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

    contract = Contract(
        reference=channels_from_pixels,
        params={"block_size": (2, 1, 3)},
        shapes=lambda prop, choose: [
            (
                choose((2, 1, 0)),
                choose((1, 2)),
                choose((1, 2)) * prop.block_size,
                choose((2, 1)) * prop.block_size,
            )
        ],
    )

    def out_shape(self, shape: Shape) -> Shape:
        """More channels, fewer pixels."""
        b = self.block_size
        n, c, h, w = self._divisible(shape, (1, b, b))
        return (n, c * b * b, h // b, w // b)

    def view(self, array: Array) -> Array:
        """(N, b, b, C, H, W)."""
        n, c, h, w = array.shape
        b = self.block_size
        return array.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4)

"""`Pooling`: one value for each window of an image.

The gradient of the maximum is found by comparing, from the data and the output, so that no array of
positions is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from operad.dtypes import DType
from operad.errors import DTypeError, ParamError, ShapeError
from operad.operator import InferredShapes, InferredTypes, PartialShape
from operad_pooling.window import Window
from operad_pooling.windows import combine, spread, spread_to_maximum
from operad_sdk import Array, OperatorProperty, Output, Shape, gradient, operator, param

_LAYOUTS = ("NCW", "NCHW", "NCDHW")


def _is_linear(prop: Any) -> bool:
    return prop.pool_type in ("avg", "sum") or (prop.pool_type == "lp" and prop.p_value == 1)


@operator("Pooling")
class Pooling(OperatorProperty):
    """The largest element, the mean, the sum or the Lp norm of every window.

    The number of windows along an axis is, by `pooling_convention`, with `pad` on both sides:

    * valid: as many as fit, (size + 2 pad - kernel) // stride + 1
    * full: the same, rounded up, the last window reaching beyond the end
    * same: size / stride rounded up, centred, without pad

    Among equal largest elements the first gets the gradient. The Lp norm is
    `sum(x ** p) ** (1 / p)`, without absolute values.

    Shapes:
        data: (N, C, ...) with one to three spatial axes.
        output: (N, C, ...); with global_pool every spatial axis is 1.

    Example:
        >>> import operad as od
        >>> od.nd.Pooling(od.nd.array([[[1, 4, 2, 3]]]), kernel=(2,), stride=(2,), pool_type="max").asnumpy()
        array([[[4., 3.]]], dtype=float32)

    Source: PoolingParam, src/operator/nn/pooling-inl.h. Differs: channels come first; a window without
    elements has maximum -inf; "same" works, and in any number of dimensions.
    """

    kernel = param("shape", (), ge=1, doc="Size of the windows; not needed with global_pool.")
    pool_type = param(str, "max", choices=("max", "avg", "sum", "lp"), doc="What is computed of a window.")
    global_pool = param(bool, False, doc="One window of the whole image; kernel, stride and pad are ignored.")
    cudnn_off = param(bool, False, doc="Unused.")
    pooling_convention = param(
        str, "valid", choices=("valid", "full", "same"), doc="How many windows there are."
    )
    stride = param("shape", (), ge=1, doc="Distance of neighbouring windows; left out: 1.")
    pad = param("shape", (), ge=0, doc="How far windows reach beyond the image; less than kernel.")
    p_value = param(int, None, choices=(1, 2, 3), doc="The p of lp.")
    count_include_pad = param(bool, True, doc="Whether the mean counts padding.")
    layout = param(str, None, choices=_LAYOUTS, doc="Order of the axes.")

    spec = "data:(N, C, *S) -> output:(...)"

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if self.pool_type == "lp" and self.p_value is None:
            raise ParamError(f"{self.name}: pool_type 'lp' needs p_value, expected 1, 2 or 3")
        axes = len(self.kernel)
        if self.global_pool or axes == 0:
            return
        self.stride = self.stride or (1,) * axes
        self.pad = self.pad or (0,) * axes
        for name in ("stride", "pad"):
            if len(getattr(self, name)) != axes:
                raise ParamError(
                    f"{self.name}: {name} is {getattr(self, name)}, expected {axes} elements as in kernel"
                )
        if any(pad >= size for pad, size in zip(self.pad, self.kernel, strict=True)):
            raise ParamError(f"{self.name}: pad is {self.pad}, expected less than kernel {self.kernel}")
        if self.pooling_convention == "same" and any(self.pad):
            raise ParamError(f"{self.name}: pad is {self.pad}, expected none with pooling_convention 'same'")

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """One output for each window."""
        data = in_shapes[0]
        if data is None:
            return [None], [None], []
        axes = len(data) - 2
        if not self.global_pool and not 1 <= len(self.kernel) <= 3:
            raise ParamError(
                f"{self.name}: kernel is {self.kernel}, expected one to three sizes, or global_pool"
            )
        if (axes not in (1, 2, 3)) if self.global_pool else (axes != len(self.kernel)):
            wanted = "one to three axes" if self.global_pool else f"one axis each of kernel {self.kernel}"
            raise ShapeError(f"{self.name}: data has shape {data}, expected (N, C) and {wanted}")
        out = [None if size is None else self._window(axis, size).out for axis, size in enumerate(data[2:])]
        return [data], [(*data[:2], *out)], []

    def infer_shape_backward(
        self, in_shapes: Sequence[PartialShape], out_shapes: Sequence[PartialShape]
    ) -> list[PartialShape]:
        """Images and channels are the output's."""
        data, out = in_shapes[0], out_shapes[0]
        if data is None or out is None or len(data) != len(out):
            return list(in_shapes)
        return [(*(a if a is not None else b for a, b in zip(data[:2], out[:2], strict=True)), *data[2:])]

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """A floating type."""
        if in_types[0] is not None and in_types[0].kind != "f":
            raise DTypeError(
                f"{self.name}: data is {in_types[0]}, expected a floating type; cast with astype"
            )
        return super().infer_type(in_types)

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> float:
        """Every window's elements."""
        return float(prod(out_shapes[0]) * (sum(self.kernel) or 1) + 2 * prod(in_shapes[0]))

    def forward(self, data: Array, output: Output) -> None:
        """Combine along each axis."""
        windows = self._windows(data.shape)
        if self.pool_type == "max":
            with output.writing() as out:
                combine(np.maximum, -np.inf, data, windows, out)
            return
        data = _widened(data)
        if self.pool_type == "lp" and self.p_value != 1:
            data = data**self.p_value
        if data.dtype != output.dtype:
            wide = np.empty_like(data, shape=output.shape)
            self._write_sum(data, windows, wide)
            output.assign(wide)
            return
        with output.writing() as out:
            self._write_sum(data, windows, out)

    @gradient(when=_is_linear)
    def linear_gradient(self, output_grad: Array, data_grad: Output) -> None:
        """Every element gets its share of each window."""
        windows = self._windows(data_grad.shape)
        ograd = _widened(output_grad)
        if self.pool_type == "avg":
            ograd = ograd * self._shares(windows, ograd)
        _write_spread(ograd, windows, data_grad)

    @gradient(when=lambda prop: prop.pool_type == "max")
    def max_gradient(self, output_grad: Array, data: Array, output: Array, data_grad: Output) -> None:
        """The first largest element of each window gets its gradient."""
        with data_grad.writing() as out:
            spread_to_maximum(output_grad, data, output, self._windows(data.shape), out)

    @gradient(when=lambda prop: prop.pool_type == "lp" and not _is_linear(prop))
    def lp_gradient(self, output_grad: Array, data: Array, output: Array, data_grad: Output) -> None:
        """`(x / y) ** (p - 1)` for each element x of a window with norm y; 0 where y is 0."""
        power = self.p_value - 1
        norm = _widened(output) ** power
        share = np.divide(output_grad, norm, out=np.zeros_like(norm), where=norm != 0)
        spreaded = np.empty_like(norm, shape=data.shape)
        spread(share, self._windows(data.shape), spreaded)
        spreaded *= _widened(data) ** power
        data_grad.assign(spreaded)

    def _windows(self, shape: Shape) -> list[Window]:
        return [self._window(axis, size) for axis, size in enumerate(shape[2:])]

    def _window(self, axis: int, size: int) -> Window:
        if self.global_pool:
            return Window(size, 1, size, 1, 0, 0)
        kernel, stride, pad = self.kernel[axis], self.stride[axis], self.pad[axis]
        if self.pooling_convention == "same":
            out = -(-size // stride)
            total = max(0, (out - 1) * stride + kernel - size)
            return Window(size, out, kernel, stride, total // 2, total - total // 2)
        room = size + 2 * pad - kernel
        if room < 0:
            raise ShapeError(
                f"{self.name}: kernel {self.kernel} exceeds axis {axis + 2} of data, which has size {size} "
                f"and pad {pad}; expected a smaller kernel"
            )
        out = (-(-room // stride) if self.pooling_convention == "full" else room // stride) + 1
        return Window(size, out, kernel, stride, pad, pad)

    def _write_sum(self, data: Array, windows: Sequence[Window], out: Array) -> None:
        combine(np.add, 0, data, windows, out)
        if self.pool_type == "avg":
            out *= self._shares(windows, out)
        elif self.p_value == 2:
            np.sqrt(out, out=out)
        elif self.p_value == 3:
            np.cbrt(out, out=out)

    def _shares(self, windows: Sequence[Window], like: Array) -> Any:
        """One over the number of elements of each window."""
        counts = [window.counts(self.count_include_pad) for window in windows]
        if all(len(count) == 0 or (count == count[0]).all() for count in counts):
            return 1 / max(1, prod(int(count[0]) for count in counts if len(count)))
        total = counts[0]
        for count in counts[1:]:
            total = total[..., None] * count
        return np.asarray(1 / total, dtype=like.dtype, like=like)


def _write_spread(ograd: Array, windows: Sequence[Window], data_grad: Output) -> None:
    if ograd.dtype != data_grad.dtype:
        wide = np.empty_like(ograd, shape=data_grad.shape)
        spread(ograd, windows, wide)
        data_grad.assign(wide)
        return
    with data_grad.writing() as out:
        spread(ograd, windows, out)


def _widened(array: Array) -> Array:
    """`array`, in single precision if it is half, in which sums lose digits."""
    return array.astype(np.float32) if array.dtype == np.float16 else array
